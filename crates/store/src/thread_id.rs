//! Names of threads: what an id may be, and the folder name that it gets.

use std::fmt::{self, Write as _};

use percent_encoding::percent_decode_str;

use crate::error::Error;

/// The id of one conversation, such as `telegram:123456`. Parsed once, so that no later step can
/// leave the store's folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadId(String);

/// Longest folder name, in bytes: file systems take 255.
const LONGEST_NAME: usize = 240;

/// Names that Windows keeps for devices.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];

impl ThreadId {
    /// Checks an id.
    ///
    /// # Errors
    /// [`Error::ThreadId`] for what is empty, too long, holds control characters or walks up
    /// folders.
    pub(crate) fn parse(id: &str) -> Result<Self, Error> {
        let refuse = |why: &str| {
            Err(Error::ThreadId {
                id: visible(id),
                why: why.to_owned(),
            })
        };
        if id.is_empty() {
            return refuse("is empty: name the conversation, such as `telegram:123456`");
        }
        if id.chars().any(char::is_control) {
            return refuse("holds a control character: leave it out");
        }
        if id
            .split(['/', '\\'])
            .any(|step| step == "." || step == "..")
        {
            return refuse("walks through folders: leave out `.` and `..`");
        }
        let bytes = encode(id).len();
        if bytes > LONGEST_NAME {
            let why = format!(
                "takes {bytes} bytes as a file name, of at most {LONGEST_NAME}: use a hash of it"
            );
            return refuse(&why);
        }
        Ok(ThreadId(id.to_owned()))
    }

    /// The thread whose folder has this name; none where it is not the name that
    /// [`ThreadId::folder`] gives.
    pub(crate) fn of_folder(name: &str) -> Option<Self> {
        let id = ThreadId::parse(&percent_decode_str(name).decode_utf8().ok()?).ok()?;
        (id.folder() == name).then_some(id)
    }

    /// Its folder's name: percent-encoded but for lower-case letters, digits, `_` and `-`. So ids
    /// that differ only in case stay apart where file systems do not tell case, and no script
    /// depends on a file system's normalization.
    pub(crate) fn folder(&self) -> String {
        encode(&self.0)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Quoted, with nothing in it that a terminal would act on.
fn visible(id: &str) -> String {
    let count = id.chars().count();
    if count > 60 {
        let start = id.chars().take(20).collect::<String>();
        return format!("`{}...` ({count} characters)", start.escape_debug());
    }
    format!("`{}`", id.escape_debug())
}

fn encode(id: &str) -> String {
    let mut name = String::new();
    let device = is_device(id);
    for (index, byte) in id.bytes().enumerate() {
        if matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-') && !(device && index == 0) {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02x}");
        }
    }
    name
}

fn is_device(id: &str) -> bool {
    let port = id.strip_prefix("com").or_else(|| id.strip_prefix("lpt"));
    DEVICES.contains(&id) || port.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_get_one_plain_folder_each() {
        for (id, folder) in [
            ("telegram:123456", "telegram%3a123456"),
            ("Team", "%54eam"),
            ("team", "team"),
            ("a/b.c", "a%2fb%2ec"),
            ("会議", "%e4%bc%9a%e8%ad%b0"),
            ("con", "%63on"),
            ("com1", "%63om1"),
            ("console", "console"),
            ("...", "%2e%2e%2e"),
            ("~removed", "%7eremoved"),
        ] {
            let thread = ThreadId::parse(id).unwrap();
            assert_eq!(thread.folder(), folder);
            assert_eq!(ThreadId::of_folder(folder), Some(thread));
        }
    }

    #[test]
    fn refused_ids_are_named_with_the_fix() {
        let long = "x".repeat(10_000);
        for (id, text) in [
            (
                "",
                "thread id `` is empty: name the conversation, such as `telegram:123456`",
            ),
            (
                ".",
                "thread id `.` walks through folders: leave out `.` and `..`",
            ),
            (
                "..",
                "thread id `..` walks through folders: leave out `.` and `..`",
            ),
            (
                "../../x",
                "thread id `../../x` walks through folders: leave out `.` and `..`",
            ),
            (
                "a\\..\\b",
                "thread id `a\\\\..\\\\b` walks through folders: leave out `.` and `..`",
            ),
            (
                "a\0b",
                "thread id `a\\0b` holds a control character: leave it out",
            ),
            (
                "\u{1b}[2J",
                "thread id `\\u{1b}[2J` holds a control character: leave it out",
            ),
            (
                &long,
                "thread id `xxxxxxxxxxxxxxxxxxxx...` (10000 characters) takes 10000 bytes as a file name, of at most 240: \
                 use a hash of it",
            ),
        ] {
            assert_eq!(ThreadId::parse(id).unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn foreign_folder_names_are_no_threads() {
        for name in [
            "Team",
            "%41%4",
            "%zz",
            "con",
            "%61",
            "%2e%2e",
            "~removed-x",
            ".locks",
            "%+1",
            "",
        ] {
            assert_eq!(ThreadId::of_folder(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn names_are_reversible_and_safe(id in "\\PC{1,26}") {
            prop_assume!(ThreadId::parse(&id).is_ok());
            let thread = ThreadId::parse(&id).unwrap();
            let folder = thread.folder();
            prop_assert!(folder.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-%".contains(&byte)));
            prop_assert_eq!(ThreadId::of_folder(&folder), Some(thread));
        }
    }
}
