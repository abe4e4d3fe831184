//! Reads a call of a tool: what its arguments say in plain lines, and the files that it creates,
//! changes or reads.
//!
//! Tools of any agent count, by general words in their names and by the names of their arguments.

use compactometer_text::arguments::{ArgumentPurpose, arguments};
use serde_json::Value;

use crate::reading::terms::{ReadTerm, terms};

/// What a call says.
#[derive(Debug, Default)]
pub(crate) struct CallText {
    /// Its arguments, line by line.
    pub(crate) lines: Vec<ArgumentLine>,
    /// The files that it touches.
    pub(crate) files: Vec<TouchedFile>,
}

/// A line of an argument.
#[derive(Debug)]
pub(crate) struct ArgumentLine {
    pub(crate) text: String,
    /// Whether it says what the call acts on.
    pub(crate) is_address: bool,
    /// Whether it is one of several that the agent writes, as those of a file.
    pub(crate) is_content: bool,
}

/// A file that a call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TouchedFile {
    /// Its path, as the call names it.
    pub(crate) path: String,
    /// What the call does with it.
    pub(crate) touch: Touch,
}

/// What a call does with a file. A later one counts more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Touch {
    Read,
    Created,
    Modified,
}

/// Reads a call from the tool's name and its arguments.
pub(crate) fn read(tool: &str, value: &Value) -> CallText {
    let mut call = CallText::default();
    for argument in arguments(value) {
        let is_address = argument.purpose == ArgumentPurpose::Address;
        if is_count(argument.name, &argument.text) {
            continue;
        }
        let lines = argument
            .text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        let is_content = !is_address && lines.clone().nth(1).is_some();
        call.lines.extend(lines.map(|line| {
            // A number means something only together with its name.
            let is_number = line.bytes().all(|byte| byte.is_ascii_digit());
            let text = match is_number {
                true => format!("{} {line}", argument.name),
                false => line.to_owned(),
            };
            ArgumentLine {
                text,
                is_address,
                is_content,
            }
        }));
        call.files.extend(patched(&argument.text));
        if is_address && is_command(argument.name) {
            call.files.extend(by_command(&argument.text));
        }
    }
    if let Some(touch) = touch(tool, value) {
        call.files.extend(
            paths(value)
                .into_iter()
                .map(|path| TouchedFile { path, touch }),
        );
    }
    call.files.dedup();
    call
}

/// Whether an argument says how much of something is wanted.
fn is_count(name: &str, text: &str) -> bool {
    let name = plain(name);
    let words = [
        "limit", "offset", "timeout", "count", "max", "depth", "line", "context", "head", "tail",
        "size",
    ];
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number && (name.len() < 2 || words.iter().any(|word| name.contains(word)))
}

/// Arguments that hold the path of the file that a call acts on, in small letters and without
/// separators.
const PATHS: &[&str] = &[
    "filepath",
    "path",
    "absolutepath",
    "file",
    "filename",
    "targetfile",
    "notebookpath",
    "relativepath",
    "paths",
    "files",
    "filepaths",
];

fn paths(value: &Value) -> Vec<String> {
    let is_named = |name: &str| PATHS.contains(&plain(name).as_str());
    let named = arguments(value).into_iter();
    named
        .filter(|argument| is_named(argument.name))
        .map(|argument| {
            argument
                .text
                .trim()
                .trim_start_matches("file://")
                .to_owned()
        })
        .filter(|path| names_file(path))
        .collect()
}

/// Whether a text is the name of one file: a single term with a slash or an extension.
fn names_file(path: &str) -> bool {
    let terms = terms(path);
    let is_folder = path.ends_with('/') || path == "/dev/null" || path.starts_with("s/");
    terms.len() == 1 && terms[0].is_path() && !is_folder && !path.contains(char::is_whitespace)
}

fn plain(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.collect::<String>().to_ascii_lowercase()
}

/// What a call does with the files that its arguments name, by the arguments that it has and by the
/// words in its name. Editors with several commands say which one in an argument.
fn touch(tool: &str, value: &Value) -> Option<Touch> {
    let fields = value.as_object()?;
    let has = |names: &[&str]| {
        fields
            .keys()
            .any(|key| names.contains(&plain(key).as_str()))
    };
    let command = fields.get("command").and_then(Value::as_str);
    let name = plain(command.filter(|word| !word.contains(' ')).unwrap_or(tool));
    let says = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match () {
        () if says(&["delete", "remove", "list", "search", "grep", "glob", "find"]) => None,
        () if has(&[
            "oldstring",
            "oldstr",
            "oldtext",
            "edits",
            "diff",
            "newsource",
        ]) =>
        {
            Some(Touch::Modified)
        }
        () if says(&[
            "edit", "replace", "patch", "insert", "modify", "update", "append",
        ]) =>
        {
            Some(Touch::Modified)
        }
        () if has(&["content", "contents", "filetext"]) => Some(Touch::Created),
        () if says(&["write", "create", "save"]) => Some(Touch::Created),
        () if says(&["read", "view", "open", "cat", "show", "getfile"]) => Some(Touch::Read),
        () => None,
    }
}

/// The files of a patch, by the lines that head each of them.
fn patched(text: &str) -> impl Iterator<Item = TouchedFile> {
    const HEADS: [(&str, Touch); 3] = [
        ("*** Update File: ", Touch::Modified),
        ("*** Move to: ", Touch::Modified),
        ("*** Add File: ", Touch::Created),
    ];
    let head = |line: &str| {
        HEADS.iter().find_map(|(head, touch)| {
            let path = line.trim().strip_prefix(head)?.trim().to_owned();
            Some(TouchedFile {
                path,
                touch: *touch,
            })
        })
    };
    text.lines().filter_map(head)
}

fn is_command(name: &str) -> bool {
    ["command", "commands", "cmd", "script", ""].contains(&plain(name).as_str())
}

/// The files that the plainest shell commands read or write. Commands that a program runs are not
/// known.
fn by_command(text: &str) -> Vec<TouchedFile> {
    let mut files = Vec::new();
    let commands = text
        .split(['\n', ';', '|'])
        .flat_map(|part| part.split("&&"));
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let Some((program, arguments)) = words.split_first() else {
            continue;
        };
        let in_place = || arguments.iter().any(|word| word.starts_with("-i"));
        let touch = match *program {
            "sed" | "perl" if in_place() => Some(Touch::Modified),
            "cat" | "head" | "tail" | "less" | "nl" | "bat" | "sed" => Some(Touch::Read),
            "tee" => Some(Touch::Created),
            _ => None,
        };
        let redirected = words
            .iter()
            .position(|word| word.starts_with('>') || word.starts_with("1>"));
        let (named, target) = arguments.split_at(redirected.map_or(arguments.len(), |at| {
            at.saturating_sub(1).min(arguments.len())
        }));
        let add = |word: &&str, touch| {
            let path = word
                .trim_matches(|letter| "'\"<>".contains(letter))
                .to_owned();
            names_file(&path).then_some(TouchedFile { path, touch })
        };
        if let Some(touch) = touch {
            files.extend(named.iter().filter_map(|word| add(word, touch)));
        }
        files.extend(target.iter().filter_map(|word| add(word, Touch::Created)));
    }
    files
}

/// The file that an item of a list in an earlier summary names, as in `- src/cart.rs (modified)`.
pub(crate) fn listed(line: &str) -> Option<TouchedFile> {
    let (path, rest) = line.trim().strip_prefix("- ")?.split_once(" (")?;
    let path = path.trim_matches(['`', '*']).to_owned();
    let says = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
    let touch = match () {
        () if says(&["modified", "changed", "edited", "fixed", "updated"]) => Touch::Modified,
        () if says(&["created", "added", "new"]) => Touch::Created,
        () if says(&["read", "viewed"]) => Touch::Read,
        () => return None,
    };
    names_file(&path).then_some(TouchedFile { path, touch })
}

/// Whether a term is the name of a file without a folder.
pub(crate) fn is_base_name(term: &ReadTerm<'_>) -> bool {
    term.is_path() && !term.text.contains(['/', '\\'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn touched(tool: &str, arguments: Value, expected: &[(&str, Touch)]) {
        let files = read(tool, &arguments).files;
        let found = files
            .iter()
            .map(|file| (file.path.as_str(), file.touch))
            .collect::<Vec<_>>();
        assert_eq!(found, expected, "{tool} {arguments}");
    }

    #[test]
    fn tools_of_several_agents_touch_files() {
        use Touch::{Created, Modified, Read};
        let path = "/srv/shop/src/cart.rs";
        touched(
            "Read",
            json!({"file_path": path, "offset": 40}),
            &[(path, Read)],
        );
        touched("read_file", json!({"absolute_path": path}), &[(path, Read)]);
        touched(
            "read_many_files",
            json!({"paths": ["a/b.rs", "c.md"]}),
            &[("a/b.rs", Read), ("c.md", Read)],
        );
        touched(
            "Edit",
            json!({"file_path": path, "old_string": "a", "new_string": "b"}),
            &[(path, Modified)],
        );
        touched(
            "str_replace_editor",
            json!({"command": "view", "path": path}),
            &[(path, Read)],
        );
        touched(
            "str_replace_editor",
            json!({"command": "create", "path": path, "file_text": "x"}),
            &[(path, Created)],
        );
        touched(
            "do_it",
            json!({"path": path, "contents": "x"}),
            &[(path, Created)],
        );
        touched("do_it", json!({"path": path}), &[]);
        touched("Grep", json!({"pattern": "cart", "path": path}), &[]);
        touched(
            "exec_command",
            json!({"cmd": "cat src/cart.rs | head -40 && sed -i s/a/b/ src/pay.rs > out/log.txt"}),
            &[
                ("src/cart.rs", Read),
                ("src/pay.rs", Modified),
                ("out/log.txt", Created),
            ],
        );
        touched(
            "apply_patch",
            json!("*** Begin Patch\n*** Update File: src/pay.rs\n-a\n+b\n*** Add File: c.rs\n+x"),
            &[("src/pay.rs", Modified), ("c.rs", Created)],
        );
    }

    #[test]
    fn arguments_are_plain_lines() {
        let call = read(
            "Edit",
            &json!({"file_path": "/a/b.rs", "new_string": "let port = 1;\n\n\"x\"", "port": 7}),
        );
        let lines = call
            .lines
            .iter()
            .map(|line| (line.text.as_str(), line.is_address));
        assert_eq!(
            lines.collect::<Vec<_>>(),
            [
                ("/a/b.rs", true),
                ("let port = 1;", false),
                ("\"x\"", false),
                ("port 7", true)
            ]
        );
    }
}
