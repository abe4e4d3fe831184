//! A scenario goes in, a record comes out: what became of each fact, and why.

use compactometer_engine::event::Outcome;
use compactometer_engine::message::{MessageId, Role};
use compactometer_engine::model::{ChatError, ChatModel};
use compactometer_engine::strategies::ALL;
use compactometer_engine::tokens::Encoding;
use compactometer_formats::fate::Fate;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::{Family, ObservationKind};
use compactometer_formats::scenario::Scenario;
use compactometer_harness::entrants::{all, select};
use compactometer_harness::plan::{Plan, PlanOptions};
use compactometer_harness::run::run_case;
use compactometer_harness::trace::CaseResult;
use compactometer_testing::model::writes;
use compactometer_testing::scenario::{Builder, suite};

const WINDOW: u32 = 2_000;

fn run(scenario: Scenario, strategy: &str, model: &dyn ChatModel) -> CaseResult {
    let options = PlanOptions {
        entrants: select([strategy], []).unwrap(),
        window: Some(WINDOW),
        summarizer: "scripted".into(),
        seed: 1,
        ..PlanOptions::default()
    };
    let plan = Plan::new(suite(vec![scenario]), options, &Encoding::O200k).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(run_case(&plan.cases[0], model, &Encoding::O200k))
}

fn silent() -> impl ChatModel {
    writes(|_, _| Ok("Nothing much happened.".to_owned()))
}

/// A goal first, then talk; more rounds with more talk.
fn one_fact(value: &str, talk: usize) -> Scenario {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::System, "You are an agent.");
    let stated = builder.say(
        Role::User,
        &format!("The ticket is {value}, please look into it."),
    );
    builder.say(Role::Assistant, "I will.");
    builder.chatter(talk);
    builder.fact(value, &[stated]);
    builder.build()
}

fn last_fates(result: &CaseResult) -> Vec<Fate> {
    result.record.observations.last().unwrap().fates.0.clone()
}

#[test]
fn kept_whole_in_the_full_context() {
    let result = run(one_fact("kx-4711", 5_000), "full", &silent());
    assert_eq!(last_fates(&result), [Fate::Verbatim]);
    assert!(result.record.compactions.is_empty());
    assert!(result.record.turns.last().unwrap().over_window);
}

#[test]
fn dropped_unseen_where_nothing_reads_it() {
    for control in ["null", "head-tail"] {
        let mut builder = Builder::new("s", "g");
        builder.say(Role::User, "Hello.");
        builder.say(Role::Assistant, "Hello.");
        builder.chatter(900);
        let stated = builder.say(Role::User, "The ticket is kx-4711.");
        builder.say(Role::Assistant, "I see.");
        builder.chatter(4_000);
        builder.fact("kx-4711", &[stated]);
        assert_eq!(
            last_fates(&run(builder.build(), control, &silent())),
            [Fate::DroppedUnseen],
            "{control}"
        );
    }
}

/// A chat opens with a user's turn, also where the first one is too long to be kept.
#[test]
fn the_first_and_the_last_messages_open_with_a_users_turn() {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::User, &"Read all of this. ".repeat(150));
    builder.say(Role::Assistant, "I did.");
    builder.chatter(6_000);
    let result = run(builder.build(), "head-tail", &silent());
    let compactions = &result.record.compactions;
    assert!(compactions.len() > 3, "{} compactions", compactions.len());
    for row in compactions {
        assert_eq!(
            row.event.outcome,
            Outcome::Applied,
            "after {:?}",
            row.event.after
        );
    }
}

/// The chain is what hands a value from one summary to the next.
#[test]
fn a_chain_carries_what_its_last_summary_held() {
    let repeats = writes(|call, text| {
        let knows = call == 0 || text.contains("kx-4711");
        Ok(if knows {
            "The ticket is kx-4711."
        } else {
            "Nothing."
        }
        .to_owned())
    });
    for (row, fate) in [
        ("chained", Fate::Carried),
        ("loose=chained:chain=off", Fate::Eroded),
    ] {
        // Every prompt quotes the first thing that the user asked for, so that is another one.
        let mut builder = Builder::new("s", "g");
        builder.say(Role::User, "Hello.");
        builder.say(Role::Assistant, "Hello.");
        let stated = builder.say(Role::User, "The ticket is kx-4711.");
        builder.say(Role::Assistant, "I see.");
        builder.chatter(6_000);
        builder.fact("kx-4711", &[stated]);
        let result = run(builder.build(), row, &repeats);
        assert_eq!(last_fates(&result), [fate], "{row}");
    }
}

#[test]
fn unwritten_where_the_summarizer_leaves_it_out() {
    for strategy in ["summarize", "chained", "prompt-checkpoint"] {
        let result = run(one_fact("kx-4711", 5_000), strategy, &silent());
        assert_eq!(last_fates(&result), [Fate::Unwritten], "{strategy}");
        let stages = result.record.compactions[0].stages;
        assert_eq!(
            (stages.left, stages.reached, stages.written, stages.kept),
            (1, 1, 0, 0)
        );
    }
}

#[test]
fn carried_by_a_summary_and_eroded_by_the_next() {
    let writes_once = writes(|call, _| {
        Ok(if call == 0 {
            "Ticket kx-4711."
        } else {
            "A ticket."
        }
        .to_owned())
    });
    let result = run(one_fact("kx-4711", 5_000), "summarize", &writes_once);
    let rounds = result
        .record
        .observations
        .iter()
        .filter(|observation| observation.kind == ObservationKind::Compaction);
    let fates = rounds
        .map(|observation| observation.fates.0[0])
        .collect::<Vec<_>>();
    assert_eq!(fates[..2], [Fate::Carried, Fate::Eroded]);
}

#[test]
fn written_and_lost_in_one_compaction_is_eroded() {
    // The summary is read, the reply holds the value, and the checkpoint that holds it cannot be
    // parsed.
    let broken = writes(|_, _| {
        Ok("[SUMMARY]\nA ticket.\n[CHECKPOINT]\n{\"active_goals\": [\"kx-4711\"".to_owned())
    });
    assert_eq!(
        last_fates(&run(
            one_fact("kx-4711", 1_800),
            "prompt-checkpoint",
            &broken
        )),
        [Fate::Eroded]
    );
}

#[test]
fn carried_by_a_checkpoint_in_the_system_prompt() {
    let answer = "[SUMMARY]\nA ticket.\n[CHECKPOINT]\n```json\n{\"context_references\": {\"threads\": [\"kx-4711\"]}}\n```";
    let result = run(
        one_fact("kx-4711", 5_000),
        "prompt-checkpoint",
        &writes(move |_, _| Ok(answer.to_owned())),
    );
    assert_eq!(last_fates(&result), [Fate::Carried]);
    assert!(result.record.compactions.len() >= 2);
}

#[test]
fn carried_by_what_is_pinned_although_no_later_answer_holds_it() {
    let pins_once = writes(|call, _| {
        let rest = if call == 0 {
            "Constraints:\n- ticket kx-4711 stays open\n\n"
        } else {
            ""
        };
        Ok(format!("{rest}Summary: part {call} went on."))
    });
    let result = run(one_fact("kx-4711", 9_000), "progressive", &pins_once);
    assert!(result.record.compactions.len() >= 3);
    assert_eq!(last_fates(&result), [Fate::Carried]);
}

#[test]
fn a_guess_that_matches_by_chance_is_no_presence() {
    // `chained` cuts a message at 2,000 characters, so the value never reaches the summarizer,
    // which names it all the same.
    let mut builder = Builder::new("s", "g");
    builder.say(Role::User, "Hello.");
    builder.say(Role::Assistant, "Hello.");
    let stated = builder.say(
        Role::User,
        &format!("{} The ticket is kx-4711.", "Some words. ".repeat(200)),
    );
    builder.say(Role::Assistant, "I see.");
    builder.chatter(1_500);
    builder.fact("kx-4711", &[stated]);
    let guesses = writes(|_, request| {
        assert!(!request.contains("kx-4711"));
        Ok("Ticket kx-4711.".to_owned())
    });
    let result = run(builder.build(), "chained", &guesses);
    assert_eq!(last_fates(&result), [Fate::DroppedUnseen]);
}

#[test]
fn superseded_wins_over_every_other_fate() {
    let mut scenario = one_fact("kx-4711", 5_000);
    scenario.facts[0].valid_to = Some(MessageId(6));
    assert_eq!(
        last_fates(&run(scenario, "full", &silent())),
        [Fate::Superseded]
    );
}

#[test]
fn a_new_mention_opens_a_new_episode() {
    let mut builder = Builder::new("s", "g");
    let first = builder.say(Role::User, "The ticket is kx-4711.");
    builder.say(Role::Assistant, "I see.");
    builder.chatter(2_000);
    let second = builder.say(Role::User, "Again: kx-4711.");
    builder.say(Role::Assistant, "I see.");
    builder.fact("kx-4711", &[first, second]);
    let result = run(builder.build(), "null", &silent());
    let fates = result
        .record
        .observations
        .iter()
        .map(|observation| observation.fates.0[0]);
    let mut fates = fates.collect::<Vec<_>>();
    fates.dedup();
    assert_eq!(fates, [Fate::DroppedUnseen, Fate::Verbatim]);
}

#[test]
fn a_failed_call_changes_nothing_and_is_recorded() {
    let fails = writes(|_, _| Err(ChatError::Server { status: 500 }));
    let result = run(one_fact("kx-4711", 2_500), "summarize", &fails);
    assert_eq!(last_fates(&result), [Fate::Verbatim]);
    let row = &result.record.compactions[0];
    assert_eq!(row.calls[0].error.as_deref(), Some("server answered 500"));
    assert!(
        matches!(row.event.outcome, Outcome::Failed(_))
            && row.event.tokens_before == row.event.tokens_after
    );
    // Bounded: a failing summarizer is not called at every turn.
    assert!(result.record.compactions.len() < result.record.turns.len() / 4);
}

#[test]
fn the_oracle_holds_every_fact_and_the_budget() {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::System, "You are an agent.");
    for number in 0..12 {
        let stated = builder.say(
            Role::User,
            &format!("Item {number} has the code qz-{number}{number}73."),
        );
        builder.say(Role::Assistant, "Noted.");
        builder.fact(&format!("qz-{number}{number}73"), &[stated]);
    }
    builder.chatter(5_000);
    let result = run(builder.build(), "oracle", &silent());
    assert!(last_fates(&result).iter().all(|fate| fate.is_present()));
    assert!(
        result
            .record
            .compactions
            .iter()
            .all(|row| !row.event.over_budget && row.event.tokens_retained <= WINDOW * 3 / 10)
    );
}

#[test]
fn every_entrant_keeps_requests_valid_and_explains_every_fact() {
    for entrant in all().filter(|entrant| entrant.family != Family::Recorded) {
        let mut builder = Builder::new("s", "g");
        builder.say(Role::System, "You are an agent.");
        for number in 0..30 {
            let stated = builder.say(Role::User, &format!("Look at qz-{number}-71 please."));
            builder.fact(&format!("qz-{number}-71"), &[stated]);
            builder.call(
                &format!("{{\"n\":{number}}}"),
                &"a line of output\n".repeat(20),
            );
            builder.say(Role::Assistant, "Done with it.");
        }
        let echo = writes(|_, request| Ok(request.chars().skip(200).take(400).collect()));
        let result = run(builder.build(), &entrant.name, &echo);
        let row = ALL
            .iter()
            .find(|spec| spec.published_name() == entrant.name)
            .and_then(|spec| spec.published.as_ref());
        let is_declared =
            row.is_some_and(|row| row.breaks.contains(&1) || row.breaks.contains(&12));
        let is_valid = result.record.turns.iter().all(|turn| turn.violations == 0);
        assert!(is_valid || is_declared, "{}", entrant.name);
        assert!(
            !last_fates(&result).contains(&Fate::Unexplained),
            "{}",
            entrant.name
        );
        let applied = result
            .record
            .compactions
            .iter()
            .any(|row| row.event.outcome == Outcome::Applied);
        assert_eq!(entrant.compacts(), applied, "{}", entrant.name);
    }
}

#[test]
fn what_is_inserted_whole_is_kept_whole() {
    // The value is said again before its summary is lost, so that originals and summaries of it
    // come and go together.
    let mut builder = Builder::new("s", "g");
    let mut stated = Vec::new();
    for _ in 0..12 {
        stated.push(builder.say(Role::User, "The ticket is kx-4711."));
        builder.say(Role::Assistant, "I see.");
        builder.chatter(1_100);
    }
    builder.fact("kx-4711", &stated);
    let every_second = writes(|call, _| {
        Ok(if call % 2 == 0 {
            "Ticket kx-4711."
        } else {
            "A ticket."
        }
        .to_owned())
    });
    let result = run(builder.build(), "summarize", &every_second);
    let stages = result
        .record
        .compactions
        .iter()
        .map(|row| row.stages)
        .collect::<Vec<_>>();
    assert!(
        stages.iter().any(|stages| stages.written > 0)
            && stages.iter().any(|stages| stages.reached > stages.written)
    );
    assert!(
        stages.iter().all(|stages| stages.kept == stages.written),
        "{stages:?}"
    );
}

#[test]
fn a_guess_that_is_summarized_again_stays_a_guess() {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::User, "Hello.");
    builder.say(Role::Assistant, "Hello.");
    let stated = builder.say(
        Role::User,
        &format!("{} The ticket is kx-4711.", "Some words. ".repeat(200)),
    );
    builder.say(Role::Assistant, "I see.");
    builder.chatter(4_000);
    builder.fact("kx-4711", &[stated]);
    let result = run(
        builder.build(),
        "chained",
        &writes(|_, _| Ok("Ticket kx-4711.".to_owned())),
    );
    assert!(result.record.compactions.len() >= 2);
    assert_eq!(last_fates(&result), [Fate::DroppedUnseen]);
}

#[test]
fn what_left_unread_is_in_the_record() {
    let scenario = one_fact("kx-4711", 3_000);
    let fails = writes(|_, _: &str| Err(ChatError::Timeout { after_ms: 1 }));
    let result = run(scenario.clone(), "threshold-summary", &fails);
    let row = &result.record.compactions[0];
    let (first, last) = row.left[0];
    let left = (first.0..=last.0).map(MessageId).collect::<Vec<_>>();
    assert_eq!(row.event.unread, left);
    assert_eq!(
        last_fates(&result),
        [Fate::DroppedUnseen],
        "a request that failed was read by nobody"
    );
    let read = run(scenario.clone(), "summarize", &silent());
    assert!(
        read.record
            .compactions
            .iter()
            .all(|row| row.event.unread.is_empty())
    );
}

#[test]
fn a_window_that_no_source_names_refuses_no_request() {
    let over = |strategy: &str| {
        let mut builder = Builder::new("s", "g");
        let stated = builder.say(Role::User, "The ticket is kx-4711, please look into it.");
        builder.say(Role::Assistant, "I will.");
        // A single message of more tokens than the window.
        builder.say(Role::User, &"and so it goes on ".repeat(200));
        builder.say(Role::Assistant, "I see.");
        builder.chatter(1_000);
        builder.fact("kx-4711", &[stated]);
        let scenario = builder.build();
        let options = PlanOptions {
            entrants: select([strategy], []).unwrap(),
            protocols: [Protocol::Published].into(),
            scale: 0.04,
            summarizer: "scripted".into(),
            seed: 1,
            ..PlanOptions::default()
        };
        let plan = Plan::new(suite(vec![scenario]), options, &Encoding::O200k).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let record = runtime
            .block_on(run_case(&plan.cases[0], &silent(), &Encoding::O200k))
            .record;
        assert!(
            record
                .compactions
                .iter()
                .any(|row| row.event.outcome == Outcome::Applied)
        );
        record.turns.iter().filter(|turn| turn.over_window).count()
    };
    assert_eq!(over("summarize"), 0);
    assert!(
        over("mine=summarize:window=12600") > 0,
        "a window that somebody set binds"
    );
}
