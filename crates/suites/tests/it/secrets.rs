//! Masking at an import's boundary: a transcript goes in, a suite comes out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use compactometer_engine::message::Part;
use compactometer_suites::import::{Imported, Options, by_name, import, secrets};
use serde_json::{Value, json};

/// Imports one trajectory with these messages.
fn imported(messages: &[Value], options: &Options) -> Imported {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trajectory.json");
    let trajectory = json!([{"task_id": 1, "trial": 0, "reward": 1, "info": {}, "traj": messages}]);
    std::fs::write(&file, trajectory.to_string()).expect("written");
    import(
        by_name("tau-bench").expect("a known format"),
        &[file],
        "secrets",
        options,
    )
    .expect("imports")
}

fn message(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// A call with these arguments, and a result with this text.
fn called(id: usize, arguments: &str, result: &str) -> [Value; 2] {
    let call = json!({"id": format!("c{id}"), "type": "function", "function": {"name": "run", "arguments": arguments}});
    [
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": result}),
    ]
}

/// The texts of one table of the fixtures, by kind.
fn fixtures(group: &str) -> BTreeMap<String, Vec<String>> {
    let table: toml::Table = include_str!("../fixtures/secrets.toml")
        .parse()
        .expect("TOML");
    let texts: BTreeMap<String, Vec<String>> =
        table[group].clone().try_into().expect("kinds and texts");
    texts
        .into_iter()
        .map(|(kind, texts)| {
            (
                kind,
                texts.iter().map(|text| text.replace('·', "")).collect(),
            )
        })
        .collect()
}

#[test]
fn no_secret_reaches_the_suite_wherever_it_occurs() {
    let issued = fixtures("issued")
        .into_iter()
        .map(|(kind, keys)| (kind, keys.iter().map(|key| format!("«{key}»")).collect()));
    let texts = fixtures("text")
        .into_iter()
        .chain(issued)
        .collect::<Vec<(_, Vec<_>)>>();
    let mut messages = vec![message("Start.")];
    let mut hidden = BTreeSet::new();
    for (id, marked) in texts.iter().flat_map(|(_, texts)| texts).enumerate() {
        let secrets = marked
            .split('«')
            .skip(1)
            .filter_map(|rest| rest.split('»').next());
        // Dictionary words may also occur elsewhere.
        hidden.extend(
            secrets
                .filter(|secret| secret.bytes().any(|byte| byte.is_ascii_digit()))
                .map(str::to_owned),
        );
        let text = marked.replace(['«', '»'], "");
        messages.extend(called(
            id,
            &json!({"n": id, "text": text}).to_string(),
            &text,
        ));
        messages.push(message(&text));
    }
    let imported = imported(&messages, &Options::default());
    let mut bytes = Vec::new();
    imported.suite.write(&mut bytes).expect("writes to memory");
    let suite = String::from_utf8(bytes).expect("UTF-8");
    let left = hidden
        .iter()
        .filter(|secret| suite.contains(secret.as_str()))
        .collect::<Vec<_>>();
    assert!(
        left.is_empty() && hidden.len() > 60,
        "{} of {} left: {left:?}",
        left.len(),
        hidden.len()
    );
    let kinds = texts
        .iter()
        .map(|(kind, _)| kind.as_str())
        .collect::<BTreeSet<_>>();
    let masked = imported
        .report
        .secrets
        .keys()
        .copied()
        .collect::<BTreeSet<_>>();
    assert_eq!(masked, kinds);
    assert!(
        kinds
            .iter()
            .all(|kind| secrets::kinds().any(|(known, _)| known == *kind)),
        "{kinds:?}"
    );
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
    {
        if entry.is_dir() {
            rust_files(&entry, files);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
}

/// The workspace's sources contain no secrets, so every mask there is a false positive. The
/// masker's own sources are left out, because they contain examples.
#[test]
fn sources_are_masked_at_most_once_in_ten_thousand_lines() {
    let mut files = Vec::new();
    for entry in
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the crates")
    {
        rust_files(&entry.expect("a crate").path().join("src"), &mut files);
    }
    files.retain(|file| !file.to_string_lossy().contains("import/secrets"));
    files.sort();
    let texts = files
        .iter()
        .map(|file| std::fs::read_to_string(file).expect("UTF-8"))
        .collect::<Vec<_>>();
    let lines = texts.iter().map(|text| text.lines().count()).sum::<usize>();
    let imported = imported(
        &texts.iter().map(|text| message(text)).collect::<Vec<_>>(),
        &Options::default(),
    );
    let messages = imported
        .suite
        .scenarios
        .iter()
        .flat_map(|scenario| &scenario.messages);
    for (message, file) in messages.zip(&files) {
        let texts = message.parts.iter().filter_map(|part| {
            if let Part::Text { text } = part {
                Some(text.as_str())
            } else {
                None
            }
        });
        let masked = texts
            .flat_map(str::lines)
            .filter(|line| line.contains("[masked:"));
        masked.for_each(|line| println!("{}: {line}", file.display()));
    }
    let masked = imported.report.secrets.values().sum::<usize>();
    println!(
        "{masked} masked in {lines} lines of {} files: {:?}",
        files.len(),
        imported.report.secrets
    );
    assert!(
        lines > 10_000 && masked * 10_000 <= lines,
        "{masked} masked in {lines} lines"
    );
}
