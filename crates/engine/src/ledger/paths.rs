//! Names of paths: relative to the directory where a conversation began, the lines that list a
//! folder's files, arguments that name one file, and lists of words that look like a path.

/// The directory that paths are named relative to.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots {
    /// Where the conversation began; empty if that is not known.
    pub(super) first: String,
}

impl Roots {
    pub(super) fn new(directories: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let first = directories
            .into_iter()
            .next()
            .map(|first| first.as_ref().trim_end_matches('/').to_owned());
        Roots {
            first: first.unwrap_or_default(),
        }
    }

    /// The name of a path: one for each file, however it was said.
    pub(super) fn name<'p>(&self, path: &'p str) -> &'p str {
        let path = path.trim_end_matches('/');
        let below = path
            .strip_prefix(self.first.as_str())
            .and_then(|rest| rest.strip_prefix('/'));
        let relative = below
            .filter(|rest| !rest.is_empty() && !self.first.is_empty())
            .unwrap_or(path);
        relative.strip_prefix("./").unwrap_or(relative)
    }
}

/// The folder of a path, with its slash, and the name in it. A path of one name has none.
pub(super) fn folder(path: &str) -> Option<(&str, &str)> {
    let (folder, name) = path.rsplit_once('/').filter(|(_, name)| !name.is_empty())?;
    Some((&path[..folder.len() + 1], name))
}

/// Arguments that name one file or folder.
const OF_ARGUMENTS: &[&str] = &[
    "cwd",
    "dir",
    "directory",
    "file",
    "filename",
    "path",
    "workdir",
];
/// The most bytes of a path.
const LONGEST: usize = 200;

/// The file or folder that an argument names, with the blanks and brackets in its name.
pub(super) fn of_argument<'t>(name: &str, text: &'t str) -> Option<&'t str> {
    let path = text.trim();
    let is_named =
        OF_ARGUMENTS.contains(&name) || name.ends_with("_path") || name.ends_with("Path");
    let is_one = path.len() <= LONGEST
        && path.contains(['/', '\\'])
        && path.contains(char::is_alphanumeric)
        && !path.contains(", ")
        && !path.contains(|letter: char| letter.is_control() || "*<>|\"`".contains(letter));
    (is_named && is_one).then_some(path)
}

/// Folders by which a path without a root and without an ending is known.
const FOLDERS: &[&str] = &[
    "apps",
    "assets",
    "cmd",
    "components",
    "crates",
    "dist",
    "docs",
    "examples",
    "fixtures",
    "include",
    "internal",
    "lib",
    "libs",
    "migrations",
    "modules",
    "node_modules",
    "packages",
    "pkg",
    "public",
    "scripts",
    "src",
    "templates",
    "tests",
    "utils",
    "vendor",
];

/// Whether a path is a list of words that slashes join, such as `read/write/run` or `P0/P1/P2`.
pub(super) fn is_list_of_words(path: &str) -> bool {
    let is_word = |text: &str| {
        let letters = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let is_plain = |letter: char| letter.is_alphabetic() || letter == '-';
        !letters.is_empty() && letters.chars().all(is_plain) && text.len() - letters.len() <= 2
    };
    path.split('/').all(is_word) && !path.split('/').any(|name| FOLDERS.contains(&name))
}
