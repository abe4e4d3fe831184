//! Other names of the same file: relative to a directory that the program worked in, relative to
//! the user's home, or absolute. A line that lists the names in a folder names each file too, and a
//! path below a folder the folder. Of a hash, its other lengths.

use compactometer_engine::message::{MessageId, part_text};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::view::{Origin, View};
use compactometer_formats::scenario::{Fact, ValueKind};
use compactometer_text::folders::spelled_out;
use compactometer_text::matcher::Matcher;
use std::sync::Arc;

use super::hashes::{Hashes, is_hash};
use crate::prepare::Lists;

/// Names relative to more directories than this are not looked for: each of them is one more name
/// of every path.
const MOST_DIRECTORIES: usize = 20;

/// Where other names of paths that calls use occur.
pub(crate) struct OtherNames {
    matcher: Matcher,
    /// Finds the paths in the lines of a folder, each by all its names.
    spelled: Matcher,
    hashes: Hashes,
    /// The paths and hashes that calls use, ascending.
    facts: Vec<u32>,
    /// For each message, the places in `facts` of those that it names otherwise.
    named_in: Lists,
}

impl OtherNames {
    /// The other names of the paths that calls use; none if they use none.
    pub(crate) fn new(
        facts: &[Fact],
        directories: &[String],
        messages: &[Arc<CountedMessage>],
    ) -> Option<Self> {
        let directories = &directories[..directories.len().min(MOST_DIRECTORIES)];
        let used = facts
            .iter()
            .enumerate()
            .filter(|(_, fact)| !fact.used_at.is_empty());
        let is_path = |fact: &Fact| fact.value_kind == ValueKind::Path;
        let can_be_named = |fact: &Fact| match is_path(fact) {
            true => !fact.value.contains("://"),
            false => is_hash(&fact.value),
        };
        let named = used
            .filter(|(_, fact)| can_be_named(fact))
            .map(|(index, fact)| {
                let names = match is_path(fact) {
                    true => other_names(&fact.value, directories),
                    false => Vec::new(),
                };
                (index as u32, &fact.value, names)
            });
        let named = named.collect::<Vec<_>>();
        if named.is_empty() {
            return None;
        }
        let matcher = Matcher::new(
            named
                .iter()
                .map(|(_, _, names)| (ValueKind::Path, names.iter().map(String::as_str))),
        );
        let spelled = named.iter().map(|(_, path, names)| {
            (
                ValueKind::Path,
                [path.as_str()]
                    .into_iter()
                    .chain(names.iter().map(String::as_str)),
            )
        });
        let spelled = Matcher::new(spelled);
        let hashes = Hashes::new(
            (0..)
                .zip(&named)
                .map(|(item, (_, value, _))| (value.as_str(), item)),
        );
        let mut named_in = Lists::with_capacity(messages.len());
        for counted in messages {
            let texts = counted.message.parts.iter().filter_map(part_text);
            let mut found = texts
                .flat_map(|text| matcher.find(text).chain(hashes.found_in(text)))
                .map(|item| item as u32)
                .collect::<Vec<_>>();
            found.sort_unstable();
            found.dedup();
            named_in.push(found);
        }
        Some(OtherNames {
            matcher,
            spelled,
            hashes,
            facts: named.iter().map(|(index, ..)| *index).collect(),
            named_in,
        })
    }

    /// Whether a view names a fact's file otherwise, in what it wrote with an origin that counts, or
    /// kept of the messages before that index.
    pub(crate) fn holds(
        &self,
        fact: u32,
        view: &View,
        index: impl Fn(MessageId) -> usize,
        before: usize,
        counts: impl Fn(Origin) -> bool,
    ) -> bool {
        let Ok(item) = self.facts.binary_search(&fact) else {
            return false;
        };
        let is_in = |text: &str| self.items_in(text).any(|found| found == item);
        view.entries()
            .iter()
            .any(|entry| match entry.kept().map(|kept| index(kept.id)) {
                Some(message) => {
                    message < before && self.named_in.get(message).contains(&(item as u32))
                }
                None => entry
                    .parts()
                    .filter(|(_, origin)| counts(*origin))
                    .filter_map(|(part, _)| part_text(part))
                    .any(is_in),
            })
    }

    /// The facts whose files a text names otherwise.
    pub(crate) fn found_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = u32> + 't {
        self.items_in(text).map(|item| self.facts[item])
    }

    /// The places in `facts` of what a text names otherwise.
    fn items_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        let spelled =
            spelled_out(text).flat_map(|path| self.spelled.find(&path).collect::<Vec<_>>());
        let hashes = self.hashes.found_in(text);
        self.matcher.find(text).chain(spelled).chain(hashes)
    }
}

/// The other names of a path. In the directory where the session began, a file, which has an ending,
/// is named without a folder too, and a folder by what follows its separator: any other word would
/// be found by chance, or be that of another file.
fn other_names(path: &str, directories: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    let roots = directories
        .iter()
        .map(|directory| (directory.trim_end_matches(['/', '\\']), ""));
    let homes = directories
        .iter()
        .filter_map(|directory| home(directory))
        .map(|home| (home, "~/"));
    for (number, (root, prefix)) in roots
        .chain(homes)
        .enumerate()
        .filter(|(_, (root, _))| !root.is_empty())
    {
        if let Some(rest) = path
            .strip_prefix(root)
            .and_then(|rest| rest.strip_prefix(['/', '\\']))
        {
            let is_file = rest.trim_start_matches('.').contains('.') || rest.starts_with('.');
            let is_name = rest.contains(['/', '\\']) || (is_file && number == 0);
            if !rest.is_empty() && (is_name || !prefix.is_empty()) {
                names.push(format!("{prefix}{rest}"));
            } else if !rest.is_empty() && number == 0 {
                names.push(format!("{rest}/"));
            }
        } else if is_relative(path) && path.contains('/') {
            let plain = path.trim_start_matches("./").trim_start_matches("~/");
            if path.starts_with("~/") != prefix.is_empty() {
                names.push(format!("{root}/{plain}"));
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

fn is_relative(path: &str) -> bool {
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    !path.starts_with(['/', '\\']) && !is_drive
}

/// The user's home that a directory lies in.
fn home(directory: &str) -> Option<&str> {
    let is_root = directory == "/root" || directory.starts_with("/root/");
    if is_root {
        return Some("/root");
    }
    let (folder, rest) = ["/home/", "/Users/", "C:\\Users\\"]
        .iter()
        .find_map(|folder| Some((*folder, directory.strip_prefix(folder)?)))?;
    let user = rest
        .split(['/', '\\'])
        .next()
        .filter(|user| !user.is_empty())?;
    Some(&directory[..folder.len() + user.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_names_that_its_directories_give() {
        let directories = ["/home/ann/shop".to_owned(), "/home/ann/shop/web".to_owned()];
        let names = |path: &str| other_names(path, &directories);
        assert_eq!(
            names("/home/ann/shop/web/app.js"),
            ["web/app.js", "~/shop/web/app.js"]
        );
        assert_eq!(
            names("/home/ann/shop/mix.exs"),
            ["mix.exs", "~/shop/mix.exs"]
        );
        assert_eq!(
            names("/home/ann/shop/config"),
            ["config/", "~/shop/config"],
            "a bare word is not a name of a file"
        );
        assert_eq!(names("/home/ann/shop/.env"), [".env", "~/shop/.env"]);
        assert_eq!(
            names("src/pay.rs"),
            ["/home/ann/shop/src/pay.rs", "/home/ann/shop/web/src/pay.rs"]
        );
        assert_eq!(names("~/notes/a.md"), ["/home/ann/notes/a.md"]);
        assert!(
            names("/etc/hosts").is_empty()
                && names("pay.rs").is_empty()
                && names("/home/annette/x/y.rs").is_empty()
        );
    }

    #[test]
    fn directories_of_windows_have_their_separators() {
        let directories = [r"C:\Users\ann\shop".to_owned()];
        assert_eq!(
            other_names(r"C:\Users\ann\shop\web\app.js", &directories),
            [r"web\app.js", r"~/shop\web\app.js"]
        );
    }
}
