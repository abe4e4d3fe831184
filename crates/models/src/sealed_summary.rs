//! Summaries in the form that clients of OpenAI's compaction pass on unread.
//!
//! A provider encrypts them. This program does not: its seal hides nothing from whoever wants to
//! read it, so that what a summary holds can be measured.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Before a summary that this program sealed.
const OWN: &str = "compactometer.";

/// The summary, sealed.
pub fn seal(summary: &str) -> String {
    format!("{OWN}{}", STANDARD.encode(summary))
}

/// Whether this program sealed it.
pub fn is_own(sealed: &str) -> bool {
    sealed.starts_with(OWN)
}

/// The summary that this program sealed; nothing if another one did.
pub fn open(sealed: &str) -> Option<String> {
    let bytes = STANDARD.decode(sealed.strip_prefix(OWN)?).ok()?;
    String::from_utf8(bytes).ok()
}
