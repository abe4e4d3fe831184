//! Texts that spell out the paths of several files: a line that lists the names in a folder, such as
//! `src/pay/: refund.rs, card.rs`; names in braces, such as `src/pay/{refund,card}.rs`; a tree as
//! programs draw it; and a URL of a file.

/// Most names of one pair of braces that are spelled out.
const MOST_NAMES: usize = 100;

/// What begins the name of a file in a drawn tree.
const BRANCHES: [&str; 6] = ["├── ", "└── ", "├─ ", "└─ ", "|-- ", "`-- "];

/// The paths that a text spells out.
pub fn spelled_out(text: &str) -> impl Iterator<Item = String> {
    // Few texts have any of these, which is seen faster in the whole than in each line.
    let lines_if = |has_any: bool| if has_any { text } else { "" }.lines();
    let marks_list = |text: &str| text.contains("/:") || text.contains("/`:");
    let listed = lines_if(marks_list(text))
        .filter(move |line| marks_list(line))
        .flat_map(listed);
    let marks_braces = |text: &str| text.contains('{') && text.contains('}');
    let braced = lines_if(marks_braces(text))
        .filter(move |line| marks_braces(line))
        .flat_map(braced);
    let draws = BRANCHES.iter().any(|mark| text.contains(mark));
    let urls = text.split("file://").skip(1).map(path_of_url);
    let drawn = drawn(if draws { text } else { "" });
    listed.chain(braced).chain(drawn).chain(urls)
}

/// The path of a URL of a file, without what follows it. That of Windows begins with its drive.
fn path_of_url(rest: &str) -> String {
    let is_end = |letter: char| letter.is_whitespace() || "\"'`()<>,;".contains(letter);
    let path = rest.split(is_end).next().unwrap_or_default();
    let drive = path
        .strip_prefix('/')
        .filter(|rest| rest.get(1..2) == Some(":"));
    drive.unwrap_or(path).to_owned()
}

/// The paths of a line that lists the names in a folder.
fn listed(line: &str) -> impl Iterator<Item = String> {
    let (folder, names) = line.split_once(": ").unwrap_or_default();
    let folder =
        folder.trim_start_matches(|letter: char| letter.is_whitespace() || "-*•`".contains(letter));
    let folder = folder.trim_end_matches('`');
    let is_folder = folder.ends_with('/') && !folder.contains(char::is_whitespace);
    let names = names
        .split(',')
        .map(|name| name.trim().trim_matches('`'))
        .take_while(|name| is_name(name));
    names
        .filter(move |_| is_folder)
        .map(move |name| format!("{folder}{name}"))
}

/// The paths of names in braces.
fn braced(line: &str) -> Vec<String> {
    let is_end = |letter: char| letter.is_whitespace() || "\"'`(),;[]{}".contains(letter);
    let (mut paths, mut rest) = (Vec::new(), line);
    while let Some((before, after)) = rest.split_once('{') {
        rest = after;
        let folder = before.rsplit(is_end).next().unwrap_or_default();
        let Some((names, ending)) = after.split_once('}') else {
            break;
        };
        let ending = ending.split(is_end).next().unwrap_or_default();
        let ending = ending.trim_end_matches(['.', ':']);
        let names = names.split(',').map(str::trim).collect::<Vec<_>>();
        if folder.contains('/') && names.len() > 1 && names.iter().all(|name| is_name(name)) {
            let names = names.into_iter().take(MOST_NAMES);
            paths.extend(names.map(|name| format!("{folder}{name}{ending}")));
        }
    }
    paths
}

/// The paths of the files and folders of drawn trees. The line above a tree is its root, if it is
/// one word.
fn drawn(text: &str) -> Vec<String> {
    let (mut paths, mut folders): (_, Vec<(usize, String)>) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let Some((column, name)) = branch(line) else {
            folders = vec![(0, root(line))];
            continue;
        };
        while folders.len() > 1 && folders.last().is_some_and(|(at, _)| *at >= column) {
            folders.pop();
        }
        let folder = folders.last().map_or("", |(_, folder)| folder.as_str());
        let path = format!("{folder}{name}");
        folders.push((column, format!("{path}/")));
        paths.push(path);
    }
    paths
}

/// The column, from 1, and the name of a file in a drawn tree.
fn branch(line: &str) -> Option<(usize, &str)> {
    let (at, mark) = BRANCHES
        .iter()
        .filter_map(|mark| Some((line.find(mark)?, *mark)))
        .min()?;
    let before = &line[..at];
    let is_drawn = |letter: char| letter.is_whitespace() || "│|".contains(letter);
    let name = line[at + mark.len()..].split_whitespace().next()?;
    let name = name.trim_matches('`').trim_end_matches('/');
    (before.chars().all(is_drawn) && is_name(name)).then(|| (before.chars().count() + 1, name))
}

/// The folder that a line above a tree names, with its separator.
fn root(line: &str) -> String {
    let name = line.trim().trim_matches('`').trim_end_matches('/');
    let is_root = !name.contains(char::is_whitespace) && !name.ends_with(':');
    match name {
        "" | "." => String::new(),
        name if is_root => format!("{name}/"),
        _ => String::new(),
    }
}

/// Whether a text is a name that a folder may hold.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.contains(|letter: char| letter.is_whitespace() || "/{\"'=".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        spelled_out(text).collect()
    }

    #[test]
    fn a_line_of_a_folder_spells_out_the_paths_of_its_names() {
        assert_eq!(
            paths("Files:\nsrc/pay/: a.rs, b.rs\n- `web/`: `x.ts`"),
            ["src/pay/a.rs", "src/pay/b.rs", "web/x.ts"]
        );
    }

    #[test]
    fn braces_spell_out_the_paths_of_their_names() {
        assert_eq!(
            paths("I changed `src/pay/{refund, card}.rs`. See web/{a,b}/x.ts."),
            [
                "src/pay/refund.rs",
                "src/pay/card.rs",
                "web/a/x.ts",
                "web/b/x.ts"
            ]
        );
        assert_eq!(
            paths(r#"{"glob": "src/{a,b}.rs"}"#),
            ["src/a.rs", "src/b.rs"]
        );
    }

    #[test]
    fn a_url_spells_out_the_path_of_its_file() {
        assert_eq!(
            paths("See file:///home/ann/a.rs, `file:///C:/shop/b.rs`."),
            ["/home/ann/a.rs", "C:/shop/b.rs"]
        );
    }

    #[test]
    fn a_tree_spells_out_its_paths() {
        let drawn = "```\nsrc/\n├── pay/\n│   ├── refund.rs  # new\n│   └── card.rs\n└── main.rs\n```\n├── docs\n";
        assert_eq!(
            paths(drawn),
            [
                "src/pay",
                "src/pay/refund.rs",
                "src/pay/card.rs",
                "src/main.rs",
                "docs"
            ]
        );
        assert_eq!(
            paths("Files:\n.\n|-- web\n|   `-- x.ts\n`-- a.md"),
            ["web", "web/x.ts", "a.md"]
        );
    }

    #[test]
    fn other_lines_spell_out_nothing() {
        for text in [
            "src/pay: a.rs",
            "in src/pay/: a.rs",
            "src/pay/ a.rs",
            "src/: see the other file, a.rs",
            "a/: b/c.rs",
            ": a.rs",
            r#"use a/b; {"x": 1, "y": 2}"#,
            "import {a, b} from 'c/d'",
            "GET /users/{id}",
            "a/{b, c d}",
            "a/{b,",
            "left |-- right",
        ] {
            assert!(paths(text).is_empty(), "{text}");
        }
    }
}
