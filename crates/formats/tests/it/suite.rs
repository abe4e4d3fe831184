//! Suites that no replay could trust are refused, and the error names the line and the fault.

use std::path::Path;

use compactometer_formats::suite::Suite;

const HEADER: &str = r#"{"format":"compactometer-suite","version":1,"name":"s"}"#;
const SCENARIO: &str = r#"{"id":"a","group_id":"g","source":"test","messages":[{"id":1,"role":"user","parts":[{"type":"text","text":"The ticket is kx-4711."}]}],"facts":[{"id":"f","category":"number_or_id","subject":"ticket","value":"kx-4711","value_kind":"id","evidence_message_ids":[1],"stated_by":"user"}]}"#;

fn read(text: &str) -> Result<Suite, String> {
    Suite::from_reader(text.as_bytes(), Path::new("suite.jsonl")).map_err(|error| error.to_string())
}

#[test]
fn hashes_are_those_of_the_written_lines() {
    let other = SCENARIO.replace(r#""id":"a""#, r#""id":"b""#);
    let suite = read(&format!("{HEADER}\n{SCENARIO}\n{other}\n")).expect("it is valid");
    let mut written = Vec::new();
    suite.write(&mut written).expect("memory takes it");
    let hash = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
    let lines = written.split(|byte| *byte == b'\n').collect::<Vec<_>>();
    assert_eq!(
        suite.hashes(),
        (hash(&written), vec![hash(lines[1]), hash(lines[2])])
    );
    assert_eq!(suite.hash(), hash(&written));
}

#[test]
fn what_cannot_be_trusted_is_refused() {
    assert!(
        read(&format!("\u{feff}{HEADER}\n{SCENARIO}\n")).is_ok(),
        "a byte order mark does no harm"
    );
    for (from, to, expected) in [
        (
            r#""stated_by":"user""#,
            r#""stated_by":"user","weight":-0.9"#,
            "weight -0.9",
        ),
        (
            r#""stated_by":"user""#,
            r#""stated_by":"user","weight":1e308"#,
            "weight",
        ),
        (
            r#""group_id":"g""#,
            r#""group_id":"g","said":[{"kind":"rule","wordings":[{"said_in":1,"text":"Never push to the shared branch."}]}]"#,
            "is not what the user says in message `1`",
        ),
        (
            r#""group_id":"g""#,
            r#""group_id":"g","said":[{"kind":"rule","wordings":[{"said_in":1,"text":"ticket is kx-4711"}]}]"#,
            "too few or too many words",
        ),
        (
            r#""group_id":"g""#,
            r#""group_id":"g","said":[{"kind":"rule","wordings":[]}]"#,
            "has no wording",
        ),
        (
            r#""group_id":"g""#,
            r#""group_id":"g","said":[{"kind":"rule","valid_to":1,"wordings":[{"said_in":1,"text":"The ticket is kx-4711."}]}]"#,
            "taken back in no later message",
        ),
        ("is kx-4711.", "is kx-4712.", "does not hold `kx-4711`"),
        (
            r#""evidence_message_ids":[1]"#,
            r#""evidence_message_ids":[7]"#,
            "message `7`",
        ),
        (
            r#""stated_by":"user""#,
            r#""stated_by":"user","decoy_of":"x""#,
            "fact `x`",
        ),
        (r#""id":"a""#, r#""id":"a\u001b[2J""#, "control characters"),
        (
            r#"{"type":"text","text":"The ticket is kx-4711."}"#,
            r#"{"type":"text","text":"The ticket is kx-4711."},{"type":"media","media_type":"image/png","digest":"d","tokens":4294967265}"#,
            "4294967265 tokens",
        ),
        (
            r#""role":"user""#,
            r#""role":"user","usage":{"input":134217000,"cache_read":729,"output":1}"#,
            "134217729 tokens",
        ),
        (
            r#""role":"user""#,
            r#""role":"assistant""#,
            "opens with a turn of role `assistant`",
        ),
        (r#""role":"user""#, r#""role":"wizard""#, "wizard"),
    ] {
        let broken = SCENARIO.replacen(from, to, 1);
        assert_ne!(broken, SCENARIO, "{from}");
        let error = read(&format!("{HEADER}\n{broken}\n")).expect_err(expected);
        assert!(
            error.contains("line 2") && error.contains(expected),
            "{expected}: {error}"
        );
    }
    check_probes();
    for (text, expected) in [("", "empty"), (HEADER, "no scenario"), (SCENARIO, "import")] {
        let error = read(text).expect_err(expected);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// An order needs two facts or more, with labels that tell them apart; any other question something
/// to grade answers by.
fn check_probes() {
    let with = |fields: &str| {
        let second = r#"},{"id":"g","category":"number_or_id","subject":"it","value":"is kx-4711","value_kind":"free","evidence_message_ids":[1],"stated_by":"user"}],"probes":[{"id":"p","question":"?","asked_after":1,"#;
        let opened = SCENARIO.strip_suffix("}]}").expect("facts come last");
        read(&format!("{HEADER}\n{opened}{second}{fields}}}]}}\n"))
    };
    let labels = |order: &str| with(&format!(r#""fact_ids":["f","g"],"order":{order}"#));
    assert_eq!(
        labels(r#"["Q","P"]"#).map(|suite| suite.scenarios[0].probes[0].order.clone()),
        Ok(vec!["Q".into(), "P".into()])
    );
    for (found, expected) in [
        (labels(r#"["Q"]"#), "1 labels for 2 facts"),
        (labels(r#"["Q","Q"]"#), "the label `Q` twice"),
        (labels(r#"["Q","P (2)"]"#), "letters and digits"),
        (
            with(r#""fact_ids":["f"],"order":["P"]"#),
            "two facts or more",
        ),
        (
            with(r#""fact_ids":["f","g"],"order":["P","Q"],"gold":"P, Q""#),
            "no `gold`",
        ),
        (with(r#""fact_ids":[]"#), "nothing to be graded by"),
        (with(r#""fact_ids":[],"gold":" ""#), "an empty `gold`"),
        (
            with(r#""fact_ids":["f"],"gold":"a","memory":"notes""#),
            "no `fact_ids`",
        ),
        (
            with(r#""fact_ids":[],"abstain_expected":true,"memory":"notes""#),
            "needs `gold`",
        ),
    ] {
        let error = found.expect_err(expected);
        assert!(
            error.contains("probe `p`") && error.contains(expected),
            "{expected}: {error}"
        );
    }
}

/// Otherwise what the conversation says would be taken for memory.
#[test]
fn what_memory_is_asked_for_is_in_that_part_of_memory_and_nowhere_else() {
    let with = |system: &str, notes: &str, gold: &str, part: &str| {
        let probe = format!(
            r#"{{"id":"p","question":"?","asked_after":1,"fact_ids":[],"gold":"{gold}","memory":"{part}"}}"#
        );
        let system = format!(
            r#""messages":[{{"id":0,"role":"system","parts":[{{"type":"text","text":"{system}"}}]}},"#
        );
        let scenario = SCENARIO.replacen(r#""messages":["#, &system, 1);
        let opened = scenario.strip_suffix('}').expect("an object");
        read(&format!(
            "{HEADER}\n{opened},\"memory_notes\":{notes},\"probes\":[{probe}]}}\n"
        ))
    };
    let noted = r#"["The gate is red."]"#;
    assert!(with("Be brief.", noted, "red", "notes").is_ok());
    assert!(with("The gate is red.", "[]", "red", "document").is_ok());
    for (system, notes, gold, part, expected) in [
        (
            "Be brief.",
            "[]",
            "red",
            "notes",
            "state it in `memory_notes` and nowhere else",
        ),
        (
            "Be brief.",
            noted,
            "red",
            "document",
            "state it in the system prompt and nowhere else",
        ),
        ("It is red.", noted, "red", "notes", "nowhere else"),
        ("It is red.", noted, "red", "document", "nowhere else"),
        (
            "Be brief.",
            r#"["kx-4711"]"#,
            "kx-4711",
            "notes",
            "nowhere else",
        ),
        ("Be brief.", r#"[" "]"#, "red", "notes", "an empty note"),
    ] {
        let error = with(system, notes, gold, part).expect_err(expected);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn all_errors_are_reported_at_once_up_to_twenty() {
    let broken = |id: usize| {
        let scenario = SCENARIO.replacen(r#""id":"a""#, &format!(r#""id":"s{id}""#), 1);
        let scenario = scenario.replace(
            r#""stated_by":"user""#,
            r#""stated_by":"user","weight":0.0,"used_at":[8,9]"#,
        );
        scenario.replace(
            r#""facts":["#,
            r#""probes":[{"id":"p","question":"?","asked_after":7,"fact_ids":["x"]}],"facts":["#,
        )
    };
    let error = read(&format!(
        "{HEADER}\n{}\n{{\n{SCENARIO}\n{SCENARIO}\n",
        broken(1)
    ))
    .expect_err("seven errors");
    let lines = error.lines().collect::<Vec<_>>();
    assert_eq!(lines[0], "`suite.jsonl` has 7 errors:");
    for (line, place, fix) in [
        (
            lines[1],
            "  line 2: scenario `s1`: fact `f` has the weight 0;",
            "must be over 0",
        ),
        (
            lines[2],
            "  line 2: scenario `s1`: fact `f` names message `8`,",
            "name one of the scenario",
        ),
        (
            lines[3],
            "  line 2: scenario `s1`: fact `f` names message `9`,",
            "name one of the scenario",
        ),
        (
            lines[4],
            "  line 2: scenario `s1`: probe `p` names message `7`,",
            "ask after a message",
        ),
        (
            lines[5],
            "  line 2: scenario `s1`: probe `p` names fact `x`,",
            "name one of the scenario",
        ),
        (
            lines[6],
            "  line 3: expected a scenario: EOF while parsing an object at column 1;",
            "schema suite",
        ),
        (
            lines[7],
            "  line 5: scenario id `a` repeats;",
            "an id of its own",
        ),
    ] {
        assert!(line.starts_with(place) && line.contains(fix), "{line}");
    }
    let many = (0..5).map(broken).collect::<Vec<_>>().join("\n");
    let error = read(&format!("{HEADER}\n{many}\n")).expect_err("25 errors");
    assert_eq!(
        (error.lines().count(), error.lines().last()),
        (22, Some("  and 5 more")),
        "{error}"
    );
    assert!(
        error.starts_with("`suite.jsonl` has 25 errors:\n"),
        "{error}"
    );
}
