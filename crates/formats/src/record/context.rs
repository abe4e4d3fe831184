//! The contexts that a session sent, so that anybody can compute what they hold again from their bytes.

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
    /// What is sent from then on, in order, before the messages that follow; absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<Vec<ContextEntry>>,
    /// What was saved outside the context, oldest first. A summary is in the context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub saved: Vec<SavedRow>,
}

impl ContextRow {
    /// The hashes of the texts that it refers to.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let parts = self.view.iter().flatten().flat_map(|entry| match entry {
            ContextEntry::Kept(..) => &[][..],
            ContextEntry::Written { parts, .. } => parts,
        });
        parts.filter_map(|(_, text)| text.as_deref()).chain(self.saved.iter().map(|saved| saved.text.as_str()))
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
        /// Where each part comes from, and the hash of its text, a key into `texts.jsonl`. Media have no text.
        parts: Vec<(Origin, Option<String>)>,
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
    /// Hash of its text, a key into `texts.jsonl`, where `⟦12.0⟧` is the first part of message 12 and `⟦⟦` is `⟦`.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_written_in_few_bytes_and_reads_back() {
        let json = r#"{"after":9,"view":[[1,1],{"role":"user","parts":[[{"summary":0},"ab"],["filler",null]]},[7,9]],"saved":[{"kind":"note","covers":[2,3],"text":"cd"}]}"#;
        let row: ContextRow = serde_json::from_str(json).expect("it reads");
        assert_eq!(serde_json::to_string(&row).expect("it has a JSON form"), json);
        assert!(serde_json::from_str::<ContextRow>(r#"{"after":9,"view":[[1]]}"#).is_err());
    }
}
