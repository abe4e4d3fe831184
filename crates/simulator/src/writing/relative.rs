//! Names absolute paths relative to the folder that the work is in, as summaries of coding sessions
//! do.

use std::collections::HashMap;

use crate::draw::{keyed, uniform};

/// The folder is the deepest one with at least this share of the material's absolute paths.
const SHARE: f64 = 0.75;
/// Shorter paths, such as `/tmp/out`, say nothing about the folder.
const FEWEST_NAMES: usize = 3;

/// The deepest folder, with a slash at its end, in which most absolute paths of the material lie,
/// not directly.
pub(crate) fn folder<'t>(texts: impl Iterator<Item = &'t str>) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut all = 0;
    for (_, path) in texts.flat_map(paths) {
        all += 1;
        // The root is left out, and so is the folder of the path itself, below which only a bare
        // name would be left.
        let slashes = path
            .match_indices('/')
            .map(|(at, _)| at)
            .collect::<Vec<_>>();
        for end in &slashes[1..slashes.len() - 1] {
            *counts.entry(&path[..=*end]).or_default() += 1;
        }
    }
    let common = counts
        .into_iter()
        .filter(|(_, count)| *count as f64 >= SHARE * all as f64);
    common
        .map(|(folder, _)| folder)
        .max_by_key(|folder| folder.len())
        .map(str::to_owned)
}

/// The text with some of the paths in the folder relative to it: each path by a draw of its own, so
/// that a reply has one name for it.
pub(crate) fn named(text: String, folder: &str, share: f64, seed: u64) -> String {
    let (mut named, mut copied) = (String::new(), 0);
    for (at, path) in paths(&text) {
        let below = path.strip_prefix(folder).filter(|below| !below.is_empty());
        let is_relative = || uniform(&mut keyed("relative", seed, [path.as_bytes()])) < share;
        if let Some(below) = below.filter(|_| is_relative()) {
            named.push_str(&text[copied..at]);
            named.push_str(below);
            copied = at + path.len();
        }
    }
    if copied == 0 {
        text
    } else {
        named + &text[copied..]
    }
}

/// Absolute paths of at least three names, with their places.
fn paths(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end = 0;
    text.match_indices('/').filter_map(move |(at, _)| {
        let is_inside =
            |before: u8| before.is_ascii_alphanumeric() || b"/._-~:@\\".contains(&before);
        if at < end || text[..at].bytes().next_back().is_some_and(is_inside) {
            return None;
        }
        let length = text[at..]
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"/._-+@".contains(byte))
            .count();
        end = at + length;
        let path = text[at..end].trim_end_matches(['.', '/']);
        (path.split('/').filter(|name| !name.is_empty()).count() >= FEWEST_NAMES)
            .then_some((at, path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_of_three_names_are_found() {
        let text = "Read /home/u/shop/src/cart.rs, \"/etc/hosts\" and (/home/u/shop). See https://a.b/c/d/e or src/a/b/c.rs.";
        let found = paths(text).map(|(_, path)| path).collect::<Vec<_>>();
        assert_eq!(found, ["/home/u/shop/src/cart.rs", "/home/u/shop"]);
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
    }

    #[test]
    fn paths_in_the_folder_are_named_relative_to_it() {
        let text =
            || "See /home/u/shop/src/cart.rs, /home/u/shop and /home/u/bank/src/a.rs.".to_owned();
        let relative = "See src/cart.rs, /home/u/shop and /home/u/bank/src/a.rs.";
        assert_eq!(named(text(), "/home/u/shop/", 1.0, 0), relative);
        assert_eq!(named(text(), "/home/u/shop/", 0.0, 0), text());
        let draws = (0..400)
            .filter(|seed| named(text(), "/home/u/shop/", 0.7, *seed) == relative)
            .count();
        assert!((240..=320).contains(&draws), "{draws} of 400");
    }
}
