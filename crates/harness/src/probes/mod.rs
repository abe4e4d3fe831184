//! Questions about a conversation, their answers, and what these are worth.

mod answers;
mod grade;
mod invented;
mod judge;
mod prompted;
mod read_order;

pub(crate) use answers::{IDENTITY as ANSWERS_IDENTITY, Questioner, due};
pub(crate) use judge::IDENTITY as JUDGE_IDENTITY;
pub(crate) use judge::judge_answers;
pub(crate) use prompted::{PromptedQuestions, Retrieved, asked};
