//! What goes wrong in this field, each as a test that this program passes. A tool that commits one
//! fails its own suite.
//!
//! | failure | test |
//! |---|---|
//! | a method that keeps nothing scores | `null_method` |
//! | a strategy wins by reading labels that the answer key planted | `labels` |
//! | keywords that match texts which never held the fact count as found | `keyword_luck` |
//! | answers that are not summaries count as summaries | `answers::not_a_summary` |
//! | values of the prompt's own example count as extracted | `answers::example_leakage` |
//! | what cannot be parsed drops out of the rate | `answers::unparsable` |
//! | calls that fail lower the rate of wrong answers | `answers::failed_calls` |
//! | an inverted fact counts as held, or a wrong value as merely missing | `inverted` |
//! | an answer that denies the right value or makes one up is merely missing | `inverted::answers_*` |
//! | cost with caching on one side alone | `numbers::caching` |
//! | numbers without intervals | `numbers::intervals` |
//! | a quarter of the characters passes for tokens | `numbers::characters` |
//! | a strategy that never triggered is reported as a tie | `cases::never_triggered` |
//! | strategies of different sizes are ranked | `cases::sizes` |
//! | answers over the budget are compared as if they were not | `cases::over_budget` |
//! | a budget that nothing fits is run all the same | `cases::infeasible` |
//! | short talks pass for long conversations | `cases::short_conversations` |
//! | a strategy hoards identifiers | `gaming::hoarder` |
//! | a strategy learns from the questions | `gaming::question_reader` |
//!
//! A reader too weak to tell contexts apart is made of records:
//! `crates/report/tests/it/answers.rs`.

mod answers;
mod cases;
mod gaming;
mod inverted;
mod keyword_luck;
mod labels;
mod null_method;
mod numbers;
pub(crate) mod plugins;
pub(crate) mod stage;
