//! Which values become facts, and which of them are generic.

use super::*;

/// A session of Claude Code that works in a directory, where the user states the text.
fn session(id: &str, directory: &str, text: &str) -> Temporary {
    let message = serde_json::json!({"role": "user", "content": text});
    let row = |uuid: &str, parent: Option<&str>, directory: &str| {
        let row = serde_json::json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": directory, "message": message});
        row.to_string()
    };
    let moved = format!("{directory}/src");
    Temporary::new(
        format!(
            "{}\n{}",
            row("a", None, directory),
            row("b", Some("a"), &moved)
        )
        .as_bytes(),
    )
}

fn import_all(files: &[Temporary], options: &Options) -> Imported {
    let paths = files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    let imported = import(importer("claude-code"), &paths, "test", options).expect("imports");
    assert_valid(&imported);
    imported
}

fn generic(imported: &Imported, scenario: usize) -> Vec<&str> {
    let facts = imported.suite.scenarios[scenario]
        .facts
        .iter()
        .filter(|fact| fact.generic);
    facts.map(|fact| fact.value.as_str()).collect()
}

#[test]
fn more_sessions_of_a_project_make_no_value_generic() {
    let one = || {
        session(
            "s-1",
            "/home/u/shop",
            "ticket KX-4711 in lib/cart.ex, port 45871",
        )
    };
    let alone = import_all(&[one()], &FACTS);
    let same = [
        "/home/u/shop",
        "/home/u/shop-worktrees/fix",
        "/home/u/shop/.claude/worktrees/fix",
    ];
    let mut files = vec![one()];
    files.extend((2..).zip(same).map(|(number, directory)| {
        session(&format!("s-{number}"), directory, "KX-4711 in lib/cart.ex")
    }));
    let with_others = import_all(&files, &FACTS);
    assert_eq!(with_others.report.groups, 4);
    assert_eq!(
        with_others.suite.scenarios[0].facts.len(),
        alone.suite.scenarios[0].facts.len()
    );
    assert_eq!(generic(&with_others, 0), Vec::<&str>::new());
    files.push(session("s-9", "/home/u/other/shop", "lib/cart.ex"));
    let with_foreign = import_all(&files, &FACTS);
    assert_eq!(generic(&with_foreign, 0), ["lib/cart.ex"]);
    let projects = with_foreign
        .suite
        .scenarios
        .iter()
        .map(|scenario| scenario.projects.join("+"))
        .collect::<Vec<_>>();
    assert_eq!(projects, ["shop", "shop", "shop", "shop", "shop/2"]);
    let said = |line: &str| {
        with_foreign
            .suite
            .header
            .notes
            .iter()
            .any(|note| note == line)
    };
    assert!(
        said("generic values are those in more than one of 2 projects"),
        "{:?}",
        with_foreign.suite.header.notes
    );
}

#[test]
fn joined_sessions_belong_to_the_projects_of_their_parts() {
    let directories = ["/w/one", "/w/two", "/w/one", "/w/three"];
    let texts = ["AB-1001 CD-2002", "EF-3003", "AB-1001", "CD-2002"];
    let files = (1..)
        .zip(directories)
        .zip(texts)
        .map(|((number, directory), text)| session(&format!("s-{number}"), directory, text));
    let imported = import_all(
        &files.collect::<Vec<_>>(),
        &Options {
            concat: Some(2),
            ..FACTS
        },
    );
    assert_eq!(imported.suite.scenarios[0].projects, ["one", "two"]);
    assert_eq!(imported.suite.scenarios[1].projects, ["one", "three"]);
    // Both conversations have a session of the first project, so neither value is known to be in
    // another one.
    assert_eq!(generic(&imported, 0), Vec::<&str>::new());
}

#[test]
fn keys_of_objects_become_no_facts_wherever_they_are_named() {
    let call = |arguments: &str| serde_json::json!({"id": "x", "function": {"name": "find", "arguments": arguments}});
    let result = r##"{"saved_passengers": [], "payment_methods":{"credit_card_4421486":{"card_source":"gift_voucher"}}}"##;
    let turns = serde_json::json!([
        {"role": "user", "content": "Show saved_passengers and card_source for user_ada_1011, in Next.js with mb-8 and text-4xl."},
        {"role": "assistant", "content": null, "tool_calls": [call(r#"{"user_id":"user_ada_1011","sort_by":"card_source"}"#)]},
        {"role": "tool", "tool_call_id": "x", "content": result},
        {"role": "assistant", "content": null, "tool_calls": [call(r#"{"payment_id":"credit_card_4421486"}"#)]},
        {"role": "tool", "tool_call_id": "x", "content": "done"},
    ]);
    let text = serde_json::json!([{"task_id": 1, "trial": 0, "traj": turns}]).to_string();
    let imported = imported("tau-bench", &text, &FACTS);
    let values = imported.suite.scenarios[0]
        .facts
        .iter()
        .map(|fact| fact.value.as_str())
        .collect::<Vec<_>>();
    assert_eq!(
        values,
        ["user_ada_1011", "credit_card_4421486", "gift_voucher"]
    );
}

#[test]
fn values_over_the_cap_are_counted() {
    let text = (0..230)
        .map(|number| format!("KX-{number:05}"))
        .collect::<Vec<_>>()
        .join(" ");
    let imported = import_all(&[session("s-1", "/w/one", &text)], &FACTS);
    assert_eq!(imported.suite.scenarios[0].facts.len(), 200);
    let line = "30 unused exact values left out: a conversation has at most 200 that no call uses";
    assert!(
        imported.report.lines().iter().any(|found| found == line),
        "{:?}",
        imported.report.lines()
    );
    assert!(
        imported
            .suite
            .header
            .notes
            .iter()
            .any(|found| found == line)
    );
}
