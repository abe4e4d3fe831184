//! The contexts that a session sent, so that anybody can compute what they hold again from their
//! bytes.

use compactometer_engine::message::{MessageId, Role};
use compactometer_engine::record::RecordKind;
use compactometer_engine::view::Origin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a session changed before a turn of the agent, or tried to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextRow {
    /// The last message of the log at that time.
    pub after: MessageId,
    /// What is sent from then on, in order, before the messages that follow; absent if nothing
    /// changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<Vec<ContextEntry>>,
    /// What was saved outside the context, oldest first. A summary is in the context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub saved: Vec<SavedRow>,
}

impl ContextRow {
    /// The hashes of the texts that it refers to.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let written = self.view.iter().flatten().filter_map(|entry| match entry {
            ContextEntry::Kept(..) => None,
            ContextEntry::Written { text, .. } => Some(text.as_str()),
        });
        written.chain(self.saved.iter().map(|saved| saved.text.as_str()))
    }
}

/// One entry of a context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ContextEntry {
    /// The first and the last of a run of messages of the log, unchanged and without a gap.
    Kept(MessageId, MessageId),
    /// A message that the strategy wrote.
    Written {
        /// Who speaks.
        role: Role,
        /// The message that it replaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<MessageId>,
        /// Where each part comes from, and how many characters of the text it has. Media have none.
        parts: Vec<(Origin, u32)>,
        /// Hash of the parts' texts, joined: a key into `texts.jsonl`.
        text: String,
    },
}

/// Something that a session saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedRow {
    /// What it is.
    pub kind: RecordKind,
    /// The first and the last message that it covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covers: Option<(MessageId, MessageId)>,
    /// Hash of its text, a key into `texts.jsonl`, shortened as the request of a call is.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_written_in_few_bytes_and_reads_back() {
        let json = r#"{"after":9,"view":[[1,1],{"role":"user","parts":[[{"summary":0},120],["filler",0]],"text":"ab"},[7,9]],"saved":[{"kind":"note","covers":[2,3],"text":"cd"}]}"#;
        let row: ContextRow = serde_json::from_str(json).expect("it reads");
        assert_eq!(
            serde_json::to_string(&row).expect("it has a JSON form"),
            json
        );
        assert!(serde_json::from_str::<ContextRow>(r#"{"after":9,"view":[[1]]}"#).is_err());
    }
}
