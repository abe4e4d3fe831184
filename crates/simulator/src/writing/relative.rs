//! Names absolute paths relative to the folder that the work is in, as summaries of coding sessions
//! do.

use std::collections::{HashMap, HashSet};

use crate::draw::{keyed, uniform};
use crate::reading::read_calls::is_base_name;
use crate::reading::terms::terms;

/// Without names that are relative already, the folder is the deepest one with at least this share
/// of the material's absolute paths.
const SHARE: f64 = 0.75;
/// Shorter paths, such as `/tmp/out`, say nothing about the folder.
const FEWEST_NAMES: usize = 3;
/// Fewer files with both names say nothing about the folder.
const FEWEST_VOTES: usize = 2;

/// The folder that the work is in, with a slash at its end: the one below which most files have the
/// names that the material gives them elsewhere, or else the deepest one in which most absolute paths
/// lie, not directly.
pub(crate) fn folder<'t>(texts: impl Iterator<Item = &'t str>) -> Option<String> {
    let (mut absolute, mut relative) = (HashSet::new(), HashSet::new());
    for (_, path) in texts.flat_map(paths) {
        match path.strip_prefix('/') {
            Some(_) => absolute.insert(path),
            None => relative.insert(path.trim_start_matches("./")),
        };
    }
    let mut votes: HashMap<&str, usize> = HashMap::new();
    let mut inside: HashMap<&str, usize> = HashMap::new();
    for path in &absolute {
        let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
        // The root is left out, and so is the folder of the path itself, below which only a bare
        // name would be left.
        for end in &slashes[1..slashes.len() - 1] {
            let (folder, below) = path.split_at(end + 1);
            *inside.entry(folder).or_default() += 1;
            if relative.contains(below) {
                *votes.entry(folder).or_default() += 1;
            }
        }
    }
    let is_common = |count: &usize| *count as f64 >= SHARE * absolute.len() as f64;
    let voted = votes
        .into_iter()
        .filter(|(_, votes)| *votes >= FEWEST_VOTES)
        .max_by_key(|(folder, votes)| (*votes, folder.len(), *folder));
    let deepest = || {
        let common = inside.into_iter().filter(|(_, count)| is_common(count));
        common.max_by_key(|(folder, _)| folder.len())
    };
    voted.or_else(deepest).map(|(folder, _)| folder.to_owned())
}

/// How a reply names files.
pub(crate) struct FileNames<'n> {
    /// The folder of most absolute paths.
    pub(crate) folder: Option<String>,
    /// The path of each file by its name without a folder, or nothing if several have the name.
    pub(crate) by_base_name: HashMap<&'n str, Option<&'n str>>,
    /// The share of the files that are named relative to the folder.
    pub(crate) share: f64,
    pub(crate) seed: u64,
}

impl FileNames<'_> {
    /// The text with some of its files named relative to the folder: each file by a draw of its own,
    /// so that a reply has one name for it. A name without a folder becomes the path if one file has
    /// it.
    pub(crate) fn with_relative_paths(&self, text: String) -> String {
        let (mut named, mut copied) = (String::new(), 0);
        for (at, path) in paths(&text).filter(|(_, path)| path.starts_with('/')) {
            if let Some(below) = self.below(path).filter(|_| self.is_relative(path)) {
                named.push_str(&text[copied..at]);
                named.push_str(below);
                copied = at + path.len();
            }
        }
        named.push_str(&text[copied..]);
        self.with_folders(named)
    }

    fn with_folders(&self, text: String) -> String {
        if self.by_base_name.is_empty() {
            return text;
        }
        let (mut named, mut copied) = (String::new(), 0);
        for term in terms(&text).iter().filter(|term| is_base_name(term)) {
            let path = self.by_base_name.get(term.text).copied().flatten();
            if let Some(path) = path.filter(|path| self.is_relative(path)) {
                named.push_str(&text[copied..term.start]);
                named.push_str(self.below(path).unwrap_or(path));
                copied = term.start + term.text.len();
            }
        }
        named + &text[copied..]
    }

    fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        let below = path.strip_prefix(self.folder.as_deref()?)?;
        (!below.is_empty()).then_some(below)
    }

    fn is_relative(&self, path: &str) -> bool {
        uniform(&mut keyed("relative", self.seed, [path.as_bytes()])) < self.share
    }
}

/// Paths of several names with their places: absolute ones of at least three, relative ones of two.
fn paths(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+@~".contains(byte);
    let mut end = 0;
    memchr::memchr_iter(b'/', text.as_bytes()).filter_map(move |slash| {
        if slash < end {
            return None;
        }
        let before = text.as_bytes()[end..slash]
            .iter()
            .rev()
            .take_while(|byte| is_part(byte))
            .count();
        let start = slash - before;
        let length = text.as_bytes()[start..]
            .iter()
            .take_while(|byte| is_part(byte))
            .count();
        end = start + length;
        let path = text[start..end].trim_end_matches(['.', '/']);
        let fewest = if path.starts_with('/') {
            FEWEST_NAMES
        } else {
            2
        };
        let is_address = text[..start].ends_with([':', '\\']);
        let names = path.split('/').filter(|name| !name.is_empty()).count();
        (names >= fewest && !is_address && !path.contains("//")).then_some((start, path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_of_three_names_and_relative_ones_are_found() {
        let text = "Read /home/u/shop/src/cart.rs, \"/etc/hosts\" and (/home/u/shop). See https://a.b/c/d/e or src/a/b/c.rs.";
        let found = paths(text).map(|(_, path)| path).collect::<Vec<_>>();
        assert_eq!(
            found,
            ["/home/u/shop/src/cart.rs", "/home/u/shop", "src/a/b/c.rs"]
        );
    }

    #[test]
    fn the_folder_is_the_deepest_one_with_most_paths_and_a_folder_below_it() {
        let of = |paths: &[&'static str]| folder(paths.iter().copied());
        let shop = [
            "/home/u/shop/src/cart.rs",
            "/home/u/shop/docs/cart.md",
            "in /home/u/shop/src/a/b.rs",
            "/usr/bin/env",
        ];
        assert_eq!(of(&shop).as_deref(), Some("/home/u/shop/"));
        assert_eq!(
            of(&shop[..1]).as_deref(),
            Some("/home/u/shop/"),
            "not a bare name"
        );
        assert_eq!(of(&["/home/u/shop/a.rs", "/srv/shop/src/a.rs"]), None);
        assert_eq!(of(&["src/cart.rs"]), None);
        let named = [
            "/home/u/shop/src/a/b.rs",
            "/home/u/shop/src/a/c.rs",
            "changed: src/a/b.rs and ./src/a/c.rs",
        ];
        assert_eq!(
            of(&named).as_deref(),
            Some("/home/u/shop/"),
            "not /home/u/shop/src/a/"
        );
    }

    fn names(share: f64, seed: u64) -> FileNames<'static> {
        let cart = ("cart.rs", Some("/home/u/shop/src/cart.rs"));
        FileNames {
            folder: Some("/home/u/shop/".to_owned()),
            by_base_name: HashMap::from([cart, ("mod.rs", None)]),
            share,
            seed,
        }
    }

    #[test]
    fn paths_in_the_folder_are_named_relative_to_it() {
        let text =
            || "See /home/u/shop/src/cart.rs, /home/u/shop and /home/u/bank/src/a.rs.".to_owned();
        let relative = "See src/cart.rs, /home/u/shop and /home/u/bank/src/a.rs.";
        assert_eq!(names(1.0, 0).with_relative_paths(text()), relative);
        assert_eq!(names(0.0, 0).with_relative_paths(text()), text());
        let draws = (0..400)
            .filter(|seed| names(0.7, *seed).with_relative_paths(text()) == relative)
            .count();
        assert!((240..=320).contains(&draws), "{draws} of 400");
    }

    #[test]
    fn a_name_of_one_file_becomes_its_path() {
        let text = "We split `cart.rs`; see mod.rs and src/cart.rs.".to_owned();
        let named = "We split `src/cart.rs`; see mod.rs and src/cart.rs.";
        assert_eq!(names(1.0, 0).with_relative_paths(text.clone()), named);
        assert_eq!(names(0.0, 0).with_relative_paths(text.clone()), text);
    }
}
