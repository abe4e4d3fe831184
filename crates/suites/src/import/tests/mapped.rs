//! Files whose fields a map names.

use super::*;

const ROWS: &str = r#"{"speaker":"human","body":{"text":"Read pay.toml."},"ts":"2026-01-02T03:04:05Z"}
{"speaker":"bot","body":{"text":"I look."},"tool":{"name":"read","input":{"path":"pay.toml"}}}
{"speaker":"function","body":{"text":"port = 8443"}}
{"speaker":"bot","body":{"text":"It is 8443."}}
{"kind":"compacted","gist":"The port is 8443."}
{"speaker":"human","body":{"text":"Use it."}}
{"speaker":"ghost","body":{"text":"Boo."}}
"#;

fn mapped(map: &str, text: &str) -> Result<Suite, String> {
    let map = map.parse::<Map>()?;
    let file = Temporary::new(text.as_bytes());
    let out = file.0.with_extension("suite.jsonl");
    let read = import_to(
        &out,
        (&MAPPED, Some(&map)),
        std::slice::from_ref(&file.0),
        &FACTS,
        &mut || (),
    );
    let read = read.map_err(|error| error.to_string());
    let suite = read.map(|_| Suite::read(&out).expect("a valid suite"));
    let _ = std::fs::remove_file(&out);
    suite
}

#[test]
fn a_map_names_the_fields_of_any_rows() {
    let map =
        "role=speaker,text=body.text,call=tool.name,arguments=/tool/input,time=ts,summary=gist";
    let suite = mapped(map, ROWS).expect("imports");
    let found = &suite.scenarios[0];
    assert_eq!(
        outline(found),
        "1 user: text(Read pay.toml.)\n2 assistant: text(I look.) | call_1=read{\"path\":\"pay.toml\"}\n\
         3 tool: call_1->port = 8443\n4 assistant: text(It is 8443.)\n5 user: text(Use it.)"
    );
    assert_eq!(found.compactions[0].after, MessageId(4));
    assert_eq!(found.messages[0].at_ms, Some(1_767_323_045_000));
}

#[test]
fn a_field_that_only_other_files_have_is_reported() {
    let rows = ROWS.lines().filter(|line| !line.contains("gist"));
    let rows = rows.collect::<Vec<_>>().join("\n");
    let map = "role=speaker,text=body.text,call=tool.name,summary=gist";
    let suite = mapped(map, &rows).expect("imports");
    assert_eq!(suite.scenarios[0].messages.len(), 5);
    // The absent field, and a speaker that is not known.
    let note = "2 repairs made by the importer".to_owned();
    assert!(
        suite.header.notes.contains(&note),
        "{:?}",
        suite.header.notes
    );
}

#[test]
fn a_map_that_names_absent_or_unknown_fields_is_refused() {
    for (map, why) in [
        (
            "role=speaker,text=body.words",
            "no row has the field `body.words` that `--map` names for `text`; rows have `body`, `gist`, `kind`",
        ),
        ("role=speaker", "a map needs `role` and `text`"),
        (
            "role=speaker,text=body.text,colour=red",
            "`colour=red` names nothing that is read",
        ),
        ("role=speaker,text", "`text` needs a field"),
        (
            "role=speaker,role=who,text=body.text",
            "`role` is named twice",
        ),
    ] {
        let refused = mapped(map, ROWS).expect_err(map);
        assert!(refused.contains(why), "{map}: {refused}");
    }
}
