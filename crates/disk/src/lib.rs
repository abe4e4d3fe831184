//! Files that survive the end of their process and a power failure: files that are replaced as a
//! whole, and files of appended lines.
//!
//! When a function here returns, its change is on the disk under its name, unless the function's
//! name says otherwise. Absent on purpose: the content of the files, and the handling of errors,
//! which only the caller can decide.

mod appended_lines;
pub mod input;
mod place;
pub mod user;
mod whole;

pub use appended_lines::{LineFile, NotKept};
pub use place::{Identity, create_folder, sync_folder};
pub use whole::{
    copy_whole, create_whole, is_part, write_in_place, write_whole, write_whole_unsynced,
};
