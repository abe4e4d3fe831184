//! Strategies that want to look better than they are, through the engine's public seam. None calls
//! a model.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::event::SkipReason;
use compactometer_engine::message::part_text;
use compactometer_engine::message::{MessageId, Part, Role};
use compactometer_engine::record::{NewRecord, RecordKind};
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};
use compactometer_engine::tokens::MESSAGE_OVERHEAD;
use compactometer_engine::view::{Edit, Entry, Origin, WrittenPart};

use crate::honesty::stage::limits;

/// Writes the same common words into every conversation.
pub static DUMPER: StrategySpec = spec("dumper", |_| {
    Arc::new(Writer {
        choose: common_words,
        answers: false,
    })
});
/// Keeps what is after a label of the answer key, with the label, so that it finds it again.
pub static LABEL_READER: StrategySpec = spec("label-reader", |_| {
    Arc::new(Writer {
        choose: after_labels,
        answers: false,
    })
});
/// Keeps whatever looks like an identifier, number or path, newest first.
pub static HOARDER: StrategySpec = spec("hoarder", |_| {
    Arc::new(Writer {
        choose: identifiers,
        answers: false,
    })
});
/// The same, and gives each question back as what it found.
pub static QUESTION_READER: StrategySpec = spec("question-reader", |_| {
    Arc::new(Writer {
        choose: common_words,
        answers: true,
    })
});

pub type Build = fn(&compactometer_engine::params::Settings) -> Arc<dyn Strategy>;

pub const fn spec(name: &'static str, build: Build) -> StrategySpec {
    StrategySpec {
        name,
        about: "a test",
        source: "a test",
        approach: None,
        prompt: "",
        placeholders: &[],
        params: &[],
        limits,
        build,
        published: None,
    }
}

/// Words of which every second conversation of `keyword_luck` holds one.
pub const COMMON: [&str; 8] = [
    "walnut", "falcon", "juniper", "badger", "cedar", "heron", "maple", "otter",
];

fn common_words(_: &[&str]) -> Vec<String> {
    COMMON.iter().map(|word| (*word).to_owned()).collect()
}

/// What the answer key might call a statement.
pub const LABELS: [&str; 6] = [
    "FACT:",
    "GOAL:",
    "DECISION:",
    "CONSTRAINT:",
    "PROHIBITION:",
    "REFERENCE:",
];

fn after_labels(texts: &[&str]) -> Vec<String> {
    let labelled = |text: &&str| -> Vec<String> {
        let places = LABELS.iter().flat_map(|label| text.match_indices(label));
        places
            .map(|(at, _)| text[at..].chars().take(40).collect())
            .collect()
    };
    texts.iter().flat_map(labelled).collect()
}

fn identifiers(texts: &[&str]) -> Vec<String> {
    let is_exact = |word: &&str| {
        word.len() > 4 && word.contains(|letter: char| letter.is_ascii_digit() || letter == '/')
    };
    let edges = |letter: char| !letter.is_alphanumeric();
    let words = texts
        .iter()
        .rev()
        .flat_map(|text| text.split(char::is_whitespace))
        .map(|word| word.trim_matches(edges));
    let mut seen = BTreeSet::new();
    words
        .filter(is_exact)
        .filter(|word| seen.insert(*word))
        .map(str::to_owned)
        .collect()
}

struct Writer {
    choose: fn(&[&str]) -> Vec<String>,
    answers: bool,
}

#[async_trait]
impl Strategy for Writer {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let pending = pending(cx);
        let leaves = |entry: &&Entry| {
            entry.role() != Role::System
                && entry.message_id().is_none_or(|id| !pending.contains(&id))
        };
        let parts = cx
            .view
            .entries()
            .iter()
            .filter(leaves)
            .flat_map(Entry::parts);
        let texts: Vec<&str> = parts.filter_map(|(part, _)| part_text(part)).collect();
        if texts.is_empty() {
            return Err(SkipReason::NothingToCompact.into());
        }
        let body = self.body(cx, &texts);
        let part = WrittenPart {
            part: Part::Text { text: body.clone() },
            origin: Origin::Summary(cx.number_of_new(0)),
        };
        let system = cx.log.system().map(|system| Edit::Keep(system.message.id));
        let edits = system
            .into_iter()
            .chain([Edit::Insert(Role::User, vec![part])]);
        let edits = edits
            .chain(pending.iter().copied().map(Edit::Keep))
            .collect();
        let saved = vec![NewRecord::new(RecordKind::Summary, None, body)];
        Ok(Compacted {
            saved,
            ..Compacted::without_reading(cx, edits)
        })
    }

    async fn retrieve(&self, _: &Context<'_>, questions: &[&str], _: u32) -> Vec<Vec<WrittenPart>> {
        let echo = |question: &&str| {
            vec![WrittenPart {
                part: Part::Text {
                    text: (*question).to_owned(),
                },
                origin: Origin::Summary(0),
            }]
        };
        if self.answers {
            questions.iter().map(echo).collect()
        } else {
            Vec::new()
        }
    }
}

impl Writer {
    /// What it chooses, as far as it fits.
    fn body(&self, cx: &Context<'_>, texts: &[&str]) -> String {
        let room = cx
            .budget
            .retained
            .unwrap_or_default()
            .saturating_sub(2 * MESSAGE_OVERHEAD);
        let mut body = "Notes:".to_owned();
        for piece in (self.choose)(texts) {
            let longer = format!("{body}\n{piece}");
            if cx.counter.count_text(&longer) > room {
                break;
            }
            body = longer;
        }
        body
    }
}

fn pending(cx: &Context<'_>) -> Vec<MessageId> {
    let pending = cx.log.pending();
    let messages = cx.log.messages().iter().enumerate();
    let is_pending = |(index, _): &(usize, _)| pending.contains(*index);
    let ids = messages
        .filter(is_pending)
        .filter(|(_, counted)| counted.message.role != Role::System);
    ids.map(|(_, counted)| counted.message.id).collect()
}
