//! Two requests around a compaction become one conversation, and suites get facts after they were
//! imported.

use std::collections::HashSet;

use super::*;

const BEFORE: &str = r#"[{"role":"system","content":"You are an agent."},
{"role":"user","content":"Look at src/one-11.rs and src/two-22.rs."},
{"role":"assistant","content":"I will.","tool_calls":[{"id":"a","function":{"name":"read","arguments":"{\"path\":\"src/one-11.rs\"}"}}]},
{"role":"tool","tool_call_id":"a","content":"fn one"},
{"role":"assistant","content":"The first is done."}]"#;

const AFTER: &str = r#"[{"role":"system","content":"You are an agent."},
{"role":"user","content":"Summary: src/one-11.rs was read."},
{"role":"assistant","content":"The first is done."}]"#;

fn pair(before: &str, after: &str, options: &Options) -> Result<Imported, String> {
    let files = [
        Temporary::new(before.as_bytes()),
        Temporary::new(after.as_bytes()),
    ];
    import_pair(&files[0].0, &files[1].0, "pair", options).map_err(|error| error.to_string())
}

#[test]
fn what_the_second_request_has_of_the_first_was_kept() {
    let found = pair(BEFORE, AFTER, &FACTS).expect("a pair");
    assert_valid(&found);
    let [compaction] = &found.suite.scenarios[0].compactions[..] else {
        panic!("one compaction")
    };
    let written = Retained::Written {
        role: Role::User,
        text: "Summary: src/one-11.rs was read.".to_owned(),
    };
    assert_eq!(
        (compaction.after, &compaction.context[..]),
        (MessageId(5), &[written, Retained::Kept(MessageId(5))][..])
    );
    assert_eq!(
        fact(&found.suite.scenarios[0], "src/one-11.rs")
            .evidence_message_ids
            .len(),
        2
    );
    assert_eq!((found.report.files, found.report.compactions), (2, 1));
}

#[test]
fn requests_in_the_wrong_order_are_refused() {
    let error = pair(BEFORE, BEFORE, &FACTS).expect_err("nothing is left out");
    assert!(error.contains("leaves out nothing of"), "{error}");
    let two = format!("{{\"messages\":{BEFORE}}}").replace('\n', "");
    let error = pair(&format!("{two}\n{two}"), AFTER, &FACTS).expect_err("two conversations");
    assert!(error.contains("holds several conversations"), "{error}");
}

/// Each file numbers its secrets anew, so a kept message with a secret may be masked differently in
/// the two.
#[test]
fn a_kept_message_with_a_secret_is_kept() {
    let (first, second) = (
        "ghp_Zq8Xw3Lk9Vb2Nm7Rt5Yp1Sd6Fg4Hj0Kc2aQe",
        "ghp_Aw3Lk9Vb2Nm7Rt5Yp1Sd6Fg4Hj0Kc2aQeZq8X",
    );
    let before = BEFORE
        .replace("fn one", first)
        .replace("The first is done.", second);
    let found = pair(
        &before,
        &AFTER.replace("The first is done.", second),
        &FACTS,
    )
    .expect("a pair");
    assert_eq!(
        found.suite.scenarios[0].compactions[0].context[1],
        Retained::Kept(MessageId(5))
    );
    let text = serde_json::to_string(&found.suite.scenarios).expect("serialises");
    assert!(!text.contains(first) && !text.contains(second), "{text}");
}

#[test]
fn a_suite_gets_the_facts_that_its_import_would_have_found_and_keeps_its_own() {
    let options = Options {
        auto_facts: false,
        ..FACTS
    };
    let mut later = imported("tau-bench", TAU, &options).suite;
    let at_once = imported("tau-bench", TAU, &FACTS).suite;
    let labelled = Fact {
        id: "v2".to_owned(),
        subject: "a label".to_owned(),
        ..at_once.scenarios[0].facts[0].clone()
    };
    later.scenarios[0].facts = vec![labelled.clone()];
    auto_facts(&mut later).expect("there are values");
    let facts = |suite: &Suite, at: usize| suite.scenarios[at].facts.clone();
    let values = |suite: &Suite| {
        facts(suite, 0)
            .into_iter()
            .map(|fact| fact.value)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (&facts(&later, 0)[0], values(&later)),
        (&labelled, values(&at_once))
    );
    let ids = facts(&later, 0)
        .into_iter()
        .map(|fact| fact.id)
        .collect::<HashSet<_>>();
    assert_eq!(ids.len(), values(&later).len(), "ids stay unique");
    assert!((1..later.scenarios.len()).all(|at| facts(&later, at) == facts(&at_once, at)));
    let refused = auto_facts(&mut later)
        .expect_err("all are facts")
        .to_string();
    assert!(
        refused.contains("no exact value that is not a fact already"),
        "{refused}"
    );
}
