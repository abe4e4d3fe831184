//! Incidental statements in the words of claims, so that no wording distinguishes a fact. They come
//! again as facts do.

use compactometer_formats::scenario::Speaker;

use crate::generate::domains::SubjectClaim;
use crate::generate::manner::Manner;
use crate::generate::plan::ConversationPlan;
use crate::generate::writer::{ConversationWriter, capitalized};

/// The number of earlier statements that may come again.
const RECENT: usize = 150;
/// Percentage of repetitions of a claim that can change which give a new value.
const CHANGED: usize = 25;

/// Ways in which the agent quotes a tool.
const QUOTES: [&str; 6] = [
    "The output says \"{line}\".",
    "As the tool reports: \"{line}\".",
    "I read in it: \"{line}\".",
    "According to the result, {line}.",
    "It returned \"{line}\", which I rely on.",
    "Noted from the output: \"{line}\".",
];

/// A statement in words.
pub(crate) struct AsideWording<'w> {
    pub(crate) claim: &'static SubjectClaim,
    /// Whether it replaces an earlier one.
    pub(crate) is_change: bool,
    pub(crate) subject: &'static str,
    pub(crate) value: &'w str,
    /// Who says it: the claim's own speaker, or an agent that quotes a tool.
    pub(crate) by: Speaker,
}

impl AsideWording<'_> {
    /// A sentence in a turn, or a bare line in a tool's result.
    pub(crate) fn write(&self, writer: &mut ConversationWriter) -> String {
        let phrase = writer.line(if self.is_change {
            &self.claim.changes
        } else {
            &self.claim.says
        });
        let phrase = match self.claim.speaker {
            // Tools refer to things without an article.
            Speaker::Tool => phrase.replace(
                "{s}",
                self.subject.strip_prefix("the ").unwrap_or(self.subject),
            ),
            _ => capitalized(&phrase.replace("{s}", self.subject)),
        };
        let line = phrase.replace("{v}", self.value);
        if self.by == self.claim.speaker {
            line
        } else {
            writer.pick(&QUOTES).replace("{line}", &line)
        }
    }
}

/// An incidental statement that may come again.
struct Aside {
    claim: &'static SubjectClaim,
    subject: &'static str,
    value: String,
    /// How often it is still to come.
    left: usize,
}

/// The incidental statements of a conversation.
#[derive(Default)]
pub(crate) struct Asides(Vec<Aside>);

impl Asides {
    /// What the speaker says beside the facts.
    pub(crate) fn next(
        &mut self,
        manner: Manner,
        plan: &ConversationPlan,
        writer: &mut ConversationWriter,
        by: Speaker,
    ) -> Option<String> {
        let session = manner.session;
        let quotes = manner
            .agent
            .map_or(session.quotes / 2, |agent| agent.quotes);
        let is_quoted = by == Speaker::Assistant && writer.dice.chance(quotes);
        let speaker = if is_quoted { Speaker::Tool } else { by };
        let earlier = (0..self.0.len())
            .filter(|at| self.0[*at].claim.speaker == speaker)
            .collect::<Vec<_>>();
        if !earlier.is_empty() && (is_quoted || writer.dice.chance(session.repeated())) {
            let at = writer.dice.pick(&earlier);
            return Some(self.again(at, writer, by));
        }
        let (claim, subject) = free(plan, writer, by)?;
        let value = writer.incidental(claim.form);
        let text = AsideWording {
            claim,
            is_change: false,
            subject,
            value: &value,
            by,
        }
        .write(writer);
        let left = session.again(&mut writer.dice);
        if left > 0 {
            self.0.push(Aside {
                claim,
                subject,
                value,
                left,
            });
        }
        if self.0.len() > RECENT {
            self.0.remove(0);
        }
        Some(text)
    }

    fn again(&mut self, at: usize, writer: &mut ConversationWriter, by: Speaker) -> String {
        let aside = &mut self.0[at];
        let is_change = by == aside.claim.speaker
            && !aside.claim.changes.is_empty()
            && writer.dice.chance(CHANGED);
        if is_change {
            aside.value = writer.incidental(aside.claim.form);
        }
        let Aside {
            claim,
            subject,
            ref value,
            ..
        } = *aside;
        let text = AsideWording {
            claim,
            is_change,
            subject,
            value,
            by,
        }
        .write(writer);
        aside.left -= 1;
        if aside.left == 0 {
            self.0.remove(at);
        }
        text
    }
}

/// Whether asides may make the claim about the conversation's subject of this number. The others
/// remain for questions that nothing answers, and a claim that is a fact or decoy is never made
/// otherwise.
pub(crate) fn is_for_asides(plan: &ConversationPlan, claim: &SubjectClaim, number: usize) -> bool {
    number.is_multiple_of(2) && !plan.states(claim, plan.subjects[number])
}

/// A claim of the speaker, and a subject about which it is not a fact.
fn free(
    plan: &ConversationPlan,
    writer: &mut ConversationWriter,
    speaker: Speaker,
) -> Option<(&'static SubjectClaim, &'static str)> {
    let claims = plan
        .claims
        .iter()
        .copied()
        .filter(|claim| claim.speaker == speaker)
        .collect::<Vec<_>>();
    // Few claims are made of most subjects, so some try finds one that is free.
    (0..20).find_map(|_| {
        let (claim, number) = (
            writer.dice.pick(&claims),
            writer.dice.below(plan.subjects.len()),
        );
        is_for_asides(plan, claim, number).then(|| (claim, plan.subjects[number]))
    })
}
