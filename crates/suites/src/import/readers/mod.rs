//! What several formats have in common: lines, linked rows, blocks and messages of the APIs, tables
//! of fields, requests in order of time.

pub(in crate::import) mod base64;
pub(in crate::import) mod blocks;
pub(in crate::import) mod chat;
pub(in crate::import) mod google_parts;
pub(in crate::import) mod json_lines;
pub(in crate::import) mod json_value;
pub(in crate::import) mod linked;
pub(in crate::import) mod message_files;
pub(in crate::import) mod python;
pub(in crate::import) mod requests;
pub(in crate::import) mod surrogates;
pub(in crate::import) mod tabled;
pub(in crate::import) mod unasked;
pub(in crate::import) mod wire;
