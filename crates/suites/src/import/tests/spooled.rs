//! An import to a file holds one conversation at a time, and gives what an import in memory gives.

use std::fs;

use super::*;
use crate::properties::measure;

/// Three conversations of two projects. Both have a path and a number; the first project has an id
/// of its own.
fn sessions(folder: &Path) -> Vec<PathBuf> {
    let texts = [
        ("one", "KX-4711 in lib/cart.ex, port 45871"),
        ("one", "KX-4711 is fixed"),
        ("two", "lib/cart.ex, port 45871"),
    ];
    let session = |(number, (directory, text)): (usize, (&str, &str))| {
        let row = |uuid: &str, parent: Option<&str>, message: serde_json::Value| {
            let kind = message["role"].clone();
            let (id, directory) = (format!("s-{number}"), format!("/w/{directory}"));
            serde_json::json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": directory, "message": message})
        };
        let call = serde_json::json!([{"type": "tool_use", "id": "t", "name": "open", "input": {"port": "45871"}}]);
        let said = row(
            "a",
            None,
            serde_json::json!({"role": "user", "content": text}),
        );
        let called = row(
            "b",
            Some("a"),
            serde_json::json!({"role": "assistant", "content": call}),
        );
        let path = folder.join(format!("s-{number}.jsonl"));
        fs::write(&path, format!("{said}\n{called}\n")).expect("writes a session");
        path
    };
    (1..).zip(texts).map(session).collect()
}

#[test]
fn an_import_to_a_file_is_the_import_in_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = sessions(folder.path());
    let out = folder.path().join("test.jsonl");
    for options in [
        FACTS,
        Options::default(),
        Options {
            concat: Some(2),
            ..FACTS
        },
    ] {
        let in_memory = import(importer("claude-code"), &files, "test", &options).expect("imports");
        let mut read = 0;
        let (report, properties) = import_to(
            &out,
            (importer("claude-code"), None),
            &files,
            &options,
            &mut || read += 1,
        )
        .expect("imports to a file");
        assert_eq!(Suite::read(&out).expect("a valid suite"), in_memory.suite);
        assert_eq!((report, read), (in_memory.report, files.len()));
        assert_eq!(properties, measure(&in_memory.suite));
    }
    let generic = import(importer("claude-code"), &files, "test", &FACTS)
        .expect("imports")
        .suite
        .scenarios;
    let generic = generic[0]
        .facts
        .iter()
        .filter(|fact| fact.generic)
        .map(|fact| fact.value.as_str());
    assert_eq!(generic.collect::<Vec<_>>(), ["45871", "lib/cart.ex"]);
}

#[test]
fn a_refused_import_leaves_the_folder_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = sessions(folder.path());
    fs::write(folder.path().join("broken.jsonl"), "no transcript").expect("writes a file");
    files.push(folder.path().join("broken.jsonl"));
    let out = folder.path().join("test.jsonl");
    fs::write(&out, "an earlier suite").expect("writes a file");
    let names = || fs::read_dir(folder.path()).expect("a folder").count();
    let before = names();
    let refused = import_to(
        &out,
        (importer("claude-code"), None),
        &files,
        &FACTS,
        &mut || (),
    )
    .expect_err("not a transcript");
    assert!(
        refused
            .to_string()
            .contains("broken.jsonl`, line 1: expected"),
        "{refused}"
    );
    assert_eq!(
        (fs::read_to_string(&out).expect("it is there"), names()),
        ("an earlier suite".to_owned(), before)
    );
    let nowhere = folder.path().join("no/folder.jsonl");
    let refused = import_to(
        &nowhere,
        (importer("claude-code"), None),
        &files[..3],
        &FACTS,
        &mut || (),
    )
    .expect_err("no folder");
    assert!(matches!(refused, ImportError::Write { .. }), "{refused}");
}
