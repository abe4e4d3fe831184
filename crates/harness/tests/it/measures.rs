//! What a record says beside fates, computed by hand: points, turns, retries, random contexts,
//! chance.

use std::sync::Arc;

use compactometer_engine::event::Outcome;
use compactometer_engine::message::{MessageId, Role, Usage};
use compactometer_engine::model::{ChatError, ChatModel};
use compactometer_engine::tokens::Encoding;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::{Held, Needed, ObservationKind, RANDOM_DRAWS, Record};
use compactometer_formats::scenario::Scenario;
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Plan, PlanOptions, Prospects};
use compactometer_harness::plan::{Shares, choose, points, smallest_feasible};
use compactometer_harness::prepare::PreparedScenario;
use compactometer_harness::run::run_case;
use compactometer_testing::model::{says, writes};
use compactometer_testing::scenario::{Builder, probe, suite};

fn plan(scenarios: Vec<Scenario>, strategy: &str, window: u32) -> Plan {
    let entrants = select([strategy], []).unwrap();
    let options = PlanOptions {
        entrants,
        window: Some(window),
        summarizer: "scripted".into(),
        seed: 1,
        ..PlanOptions::default()
    };
    Plan::new(suite(scenarios), options, &Encoding::O200k).unwrap()
}

fn record(scenario: Scenario, strategy: &str, model: &dyn ChatModel) -> Record {
    let plan = plan(vec![scenario], strategy, 2_000);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime
        .block_on(run_case(&plan.cases[0], model, &Encoding::O200k))
        .record
}

/// Ten messages: the system prompt states `sys-1`, message 1 `aa-11`, message 3 `bb-22` and again
/// message 5; message 7 calls with `aa-11` and `bb-22`.
fn small() -> Scenario {
    let mut builder = Builder::new("s", "g");
    let system = builder.say(Role::System, "You are an agent at sys-1.");
    let first = builder.say(Role::User, "Start with aa-11.");
    builder.say(Role::Assistant, "Yes.");
    let second = builder.say(Role::User, "Then bb-22.");
    builder.say(Role::Assistant, "Yes.");
    let again = builder.say(Role::Assistant, "That was bb-22.");
    let last = builder.say(Role::User, "Now go on with cc-33.");
    let call = builder.call("{\"a\":\"aa-11\",\"b\":\"bb-22\"}", "done");
    builder.say(Role::Assistant, "Done.");
    builder.fact("sys-1", &[system]);
    builder.fact("aa-11", &[first, call]).used_at = vec![call];
    builder.fact("bb-22", &[second, again, call]).used_at = vec![call];
    builder.fact("cc-33", &[last]);
    builder.build()
}

/// Length, facts used and needed, and echoes of the points of uses.
fn uses(prepared: &PreparedScenario, distance: u32) -> Vec<(usize, Vec<u32>, Vec<u32>, u32)> {
    let points = points(prepared, distance).into_iter();
    points
        .filter(|point| point.length == 7)
        .map(|point| (point.length, point.used, point.needed, point.echoed))
        .collect()
}

#[test]
fn points_are_where_old_facts_are_used() {
    let prepared = PreparedScenario::new(small(), &[], &Encoding::O200k);
    // The distance from the end of message 1 to the turn at message 7, exactly: `>=` includes it.
    let distance = prepared.tokens_between(2, 7) as u32;
    // At that distance `aa-11` is far; `bb-22` was repeated by the agent, but its own statement is
    // near too.
    assert_eq!(uses(&prepared, distance), [(7, vec![1], vec![1], 0)]);
    // One token more and nothing is far, so that there is nothing to see.
    assert_eq!(uses(&prepared, distance + 1), []);
    // Between the agent's repetition and the statement before it, `bb-22` is an echo.
    let statement = prepared.tokens_between(4, 7) as u32;
    assert_eq!(uses(&prepared, statement), [(7, vec![1], vec![1], 1)]);
    // With no distance all is far but the system prompt and the last user message.
    assert_eq!(uses(&prepared, 1), [(7, vec![1, 2], vec![1, 2], 0)]);
}

#[test]
fn points_of_recall_are_spread_to_the_end() {
    let prepared = PreparedScenario::new(returning(), &[], &Encoding::O200k);
    let of_recall = |distance: u32| {
        let points = points(&prepared, distance).into_iter();
        let points = points.filter(|point| point.kind == ObservationKind::Point);
        points
            .map(|point| prepared.tokens_before[point.length])
            .collect::<Vec<_>>()
    };
    let (found, whole) = (
        of_recall(1_000),
        prepared.tokens_before[prepared.messages.len()],
    );
    let first = 1_000.min(whole);
    assert_eq!((found.len(), found.last()), (6, Some(&whole)));
    for (place, pair) in found.windows(2).enumerate() {
        let gap = (whole - first) / 6;
        assert!(
            (pair[1] - pair[0]).abs_diff(gap) < gap / 2,
            "{place}: {found:?}"
        );
    }
    // Where nothing becomes old, there is only the end.
    assert_eq!(of_recall(1_000_000), [whole]);
}

/// The eligible facts at each point of recall.
fn of_recall(scenario: Scenario) -> Vec<(usize, Vec<u32>)> {
    let prepared = PreparedScenario::new(scenario, &[], &Encoding::O200k);
    let points = points(&prepared, 1).into_iter();
    let points = points.filter(|point| point.kind == ObservationKind::Point);
    points.map(|point| (point.length, point.eligible)).collect()
}

#[test]
fn a_question_adds_a_point_and_changes_none_of_recall() {
    let mut scenario = returning();
    let without = of_recall(scenario.clone());
    scenario.probes = vec![probe("p", &["fact-1"], "Which?", MessageId(4))];
    assert_eq!(of_recall(scenario.clone()), without);
    let prepared = PreparedScenario::new(scenario, &[], &Encoding::O200k);
    let asked = points(&prepared, 1).into_iter();
    let asked = asked.filter(|point| point.kind == ObservationKind::Question);
    assert_eq!(asked.count(), 1);
}

/// What a question is about does not move the recall of a row: adding one leaves its number.
#[test]
fn a_question_changes_no_recall_of_a_row() {
    let model = writes(|_, _| Ok("The user began with bb-22.".to_owned()));
    let of = |asks: bool| {
        let mut scenario = returning();
        scenario.probes = vec![probe("p", &["fact-1"], "Which?", MessageId(4))];
        scenario.probes.retain(|_| asks);
        let record = record(scenario, "summarize", &model);
        let points = record.observations.into_iter();
        let points = points.filter(|seen| seen.kind == ObservationKind::Point);
        points
            .map(|seen| (seen.after, seen.eligible, seen.fates))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(true), of(false));
}

/// A long talk in which the agent goes back to what the user named at the start.
fn returning() -> Scenario {
    let mut builder = Builder::new("s", "g");
    let early = builder.say(Role::User, "Start with aa-11 and bb-22.");
    builder.chatter(2_500);
    let first = builder.call("{\"a\":\"aa-11\"}", "done");
    builder.chatter(2_500);
    let second = builder.call("{\"a\":\"aa-11\",\"b\":\"bb-22\"}", "done");
    builder.say(Role::Assistant, "Done.");
    builder.fact("aa-11", &[early, first, second]).used_at = vec![first, second];
    builder.fact("bb-22", &[early, second]).used_at = vec![second];
    builder.build()
}

/// Whatever a row keeps, its old uses are those of values that were last said before the latest
/// compaction of a row that keeps nothing.
#[test]
fn all_rows_have_the_same_old_uses() {
    let model = writes(|_, _| Ok("The user began with bb-22.".to_owned()));
    let of = |name: &str| record(returning(), name, &model);
    let needed = |record: &Record| {
        let seen = record
            .observations
            .iter()
            .map(|seen| (seen.after, &seen.needed));
        let facts = seen
            .map(|(after, needed)| (after, needed.iter().map(|one| one.fact).collect::<Vec<_>>()));
        facts
            .filter(|(_, facts)| !facts.is_empty())
            .collect::<Vec<_>>()
    };
    let rows = ["null", "summarize", "recent-talk", "full"].map(of);
    let [null, ..] = &rows;
    let expected = needed(null);
    assert_eq!(
        expected
            .iter()
            .map(|(_, facts)| facts.len())
            .collect::<Vec<_>>(),
        [1, 2]
    );
    for row in &rows {
        assert_eq!(needed(row), expected, "{}", row.case.strategy);
    }
    // Where they compact is what the plan worked out without a replay.
    let case = &plan(vec![returning()], "null", 2_000).cases[0];
    let compacted = null
        .compactions
        .iter()
        .filter(|row| row.event.outcome == Outcome::Applied);
    let compacted = compacted.map(|row| {
        let messages = &case.prepared.messages;
        messages.partition_point(|counted| counted.message.id <= row.event.after)
    });
    assert_eq!(compacted.collect::<Vec<_>>(), case.common.to_vec());
}

#[test]
fn uses_from_the_first_recorded_summary_on_are_marked() {
    let shaped = |after: Option<MessageId>| {
        let mut scenario = returning();
        scenario.shaped_after = after;
        let seen = record(scenario, "null", &says("-")).observations;
        let needed = seen.into_iter().flat_map(|seen| seen.needed);
        needed.map(|seen| seen.shaped).collect::<Vec<_>>()
    };
    let used = returning().facts[0].used_at.clone();
    assert_eq!(shaped(None), [false; 3]);
    // A summary before the second call, and after none or before both.
    assert_eq!(shaped(Some(MessageId(used[1].0 - 1))), [false, true, true]);
    assert_eq!(shaped(Some(used[1])), [false; 3]);
    assert_eq!(shaped(Some(MessageId(0))), [true; 3]);
}

#[test]
fn sessions_without_sizes_of_their_own_leave_what_production_does() {
    let of = |window: u32, like_production: bool| {
        let options = PlanOptions {
            entrants: select(["null"], []).unwrap(),
            window: Some(window),
            like_production,
            ..PlanOptions::default()
        };
        let plan = Plan::new(suite(vec![returning()]), options, &Encoding::O200k).unwrap();
        plan.sizes.retained
    };
    assert_eq!([of(100_000, false), of(100_000, true)], [30_000, 3_000]);
    // A window in which that is much leaves its share.
    assert_eq!([of(2_000, false), of(2_000, true)], [600, 600]);
}

#[test]
fn a_context_holds_no_less_than_the_floor_and_no_more_than_the_ceiling() {
    let keeps = writes(|_, _| Ok("The user began with bb-22.".to_owned()));
    let loses = writes(|_, _| Ok("Nothing much happened.".to_owned()));
    let bounds = |name: &str, model: &dyn ChatModel| {
        let record = record(returning(), name, model);
        let needed = record
            .observations
            .iter()
            .flat_map(|seen| seen.needed.clone());
        needed.collect::<Vec<_>>()
    };
    for name in [
        "summarize",
        "chained",
        "progressive",
        "handoff",
        "ledger=summarize:ledger=200",
    ] {
        let (kept, lost) = (bounds(name, &keeps), bounds(name, &loses));
        assert_eq!(kept.len(), 3, "{name}");
        for (one, other) in kept.iter().zip(&lost) {
            for needed in [one, other] {
                let held = needed.held != Held::OutOfSight;
                assert!(
                    needed.floor <= held && Some(held) <= needed.ceiling,
                    "{name}: {needed:?}"
                );
            }
            // The model moves what is held, and neither bound. But a ledger lists what a summary
            // lacks.
            let is_ledger = name.starts_with("ledger");
            let bounds = [one, other].map(|needed| (needed.floor, needed.ceiling));
            assert!(is_ledger || bounds[0] == bounds[1], "{name}: {bounds:?}");
        }
        let held = |needed: &[Needed]| {
            needed
                .iter()
                .filter(|one| one.held != Held::OutOfSight)
                .count()
        };
        match name.starts_with("ledger") {
            true => assert!(lost.iter().all(|one| one.floor), "a ledger is no model's"),
            false => assert!(held(&kept) > held(&lost), "{name}: {kept:?} {lost:?}"),
        }
    }
    let unread = bounds("recent-talk", &keeps);
    assert!(
        unread.iter().all(|one| one.ceiling == Some(one.floor)),
        "{unread:?}"
    );
}

#[test]
fn the_first_reported_call_shows_how_much_preceded_the_log() {
    let mut scenario = small();
    assert_eq!(
        PreparedScenario::new(scenario.clone(), &[], &Encoding::O200k).fixed_prefix_tokens(),
        0
    );
    let reported = |input| {
        Some(Box::new(Usage {
            input,
            cache_read: 20_000,
            cache_write: 4_000,
            output: 7,
        }))
    };
    // The agent speaks at 2, 4 and 5; only the first that reports counts.
    (scenario.messages[4].usage, scenario.messages[5].usage) = (reported(1_000), reported(90_000));
    let prepared = PreparedScenario::new(scenario.clone(), &[], &Encoding::O200k);
    assert_eq!(
        u64::from(prepared.fixed_prefix_tokens()),
        25_000 - prepared.tokens_before[4]
    );
    let read = record(scenario.clone(), "full", &says("unused"));
    assert_eq!(
        read.case.fixed_prefix_tokens,
        prepared.fixed_prefix_tokens()
    );
    let recorded = read
        .turns
        .iter()
        .map(|turn| turn.recorded.map(|usage| usage.input))
        .collect::<Vec<_>>();
    assert_eq!(recorded, [None, Some(1_000), Some(90_000), None, None]);
    // A log that is longer than what was reported had nothing before it.
    scenario.messages[4].usage = Some(Box::new(Usage {
        input: 1,
        ..Usage::default()
    }));
    assert_eq!(
        PreparedScenario::new(scenario, &[], &Encoding::O200k).fixed_prefix_tokens(),
        0
    );
}

/// What a user says last is in no request, and no advice may lead to a window in which nothing is
/// compacted either.
#[test]
fn a_window_is_advised_where_requests_fill_it_and_a_summary_has_room() {
    let stated = |builder: &mut Builder| {
        let id = builder.say(Role::User, "Start with aa-11.");
        builder.fact("aa-11", &[id]);
        builder.say(Role::Assistant, "Yes.");
    };
    let mut ends_long = Builder::new("s", "g");
    stated(&mut ends_long);
    ends_long.say(
        Role::User,
        &"All of this is in the last message. ".repeat(1_000),
    );
    let found = Prospects::new(&plan(vec![ends_long.build()], "summarize", 2_000));
    assert!(
        found.longest < 20 && found.window.is_none() && found.idle.len() == 1,
        "{}",
        found.longest
    );
    assert!(
        found.remedy().contains("longer conversations"),
        "{}",
        found.remedy()
    );

    let mut long = Builder::new("s", "g");
    stated(&mut long);
    long.chatter(5_000);
    let long = long.build();
    let found = Prospects::new(&plan(vec![long.clone()], "summarize", 100_000));
    let window = found.window.unwrap();
    assert!(
        (found.longest / 2..found.longest).contains(&u64::from(window)),
        "{window} of {}",
        found.longest
    );
    assert_eq!(
        (found.idle.len(), found.facts, found.is_cramped),
        (1, 1, false)
    );
    let found = Prospects::new(&plan(vec![long.clone()], "summarize", window));
    assert_eq!((found.idle.len(), found.groups), (0, 1));
    assert!(Prospects::new(&plan(vec![long], "summarize", 200)).is_cramped);
}

#[test]
fn windows_are_chosen_by_the_number_of_events() {
    let mut small_suite = Vec::new();
    for number in 0..5 {
        let mut builder = Builder::new(&format!("s{number}"), &format!("g{number}"));
        let stated =
            (0..6).map(|fact| builder.say(Role::User, &format!("Value v{number}{fact}-77.")));
        let stated = stated.collect::<Vec<_>>();
        builder.say(Role::Assistant, "Noted.");
        builder.chatter(3_000);
        for (fact, id) in stated.iter().enumerate() {
            builder.fact(&format!("v{number}{fact}-77"), &[*id]);
        }
        small_suite.push(PreparedScenario::new(
            builder.build(),
            &[],
            &Encoding::O200k,
        ));
    }
    let tokens = small_suite
        .iter()
        .map(|prepared| prepared.tokens_between(0, prepared.messages.len()))
        .collect::<Vec<_>>();
    let (window, reason) = choose(&small_suite, 0.8);
    assert_eq!(u64::from(window), {
        let mut sorted = tokens;
        sorted.sort_unstable();
        sorted[2] / 2
    });
    assert!(reason.starts_with("a half"), "{reason}");
    // Four groups are too few for a rule: the largest feasible window, and that is said.
    assert!(
        choose(&small_suite[..4], 0.8)
            .1
            .starts_with("the largest feasible")
    );
    assert_eq!(smallest_feasible(&small_suite, Shares::default()), 4);
}

#[test]
fn turns_count_shared_prefixes_waits_and_windows() {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::System, "You are an agent.");
    builder.chatter(5_000);
    let record = record(
        builder.build(),
        "prompt-checkpoint",
        &says("[SUMMARY]\nWork.\n[CHECKPOINT]\n{\"active_goals\":[\"ship\"]}"),
    );
    assert_eq!(record.turns[0].shared_prefix, 0);
    let waits = record
        .turns
        .iter()
        .filter_map(|turn| turn.waited_ms)
        .filter(|ms| *ms > 0)
        .collect::<Vec<_>>();
    assert_eq!(waits, vec![1_000; record.compactions.len()]);
    let system = record
        .turns
        .windows(2)
        .filter(|pair| pair[1].waited_ms > Some(0))
        .map(|pair| pair[1].shared_prefix);
    for (round, shared) in system.enumerate() {
        // The system prompt stays a prefix although a checkpoint joins it; from round 2 on the
        // checkpoint does too.
        assert!(
            if round == 0 {
                (1..=8).contains(&shared)
            } else {
                shared > 8
            },
            "round {round}: {shared}"
        );
    }
    for pair in record
        .turns
        .windows(2)
        .filter(|pair| pair[1].waited_ms == Some(0))
    {
        assert_eq!(pair[1].shared_prefix, pair[0].input);
    }
    assert!(record.turns.iter().all(|turn| !turn.over_window));
}

#[test]
fn an_answer_over_budget_is_asked_for_once_more() {
    let mut builder = Builder::new("s", "g");
    builder.chatter(2_500);
    let long = "word ".repeat(700);
    let shorter = writes(move |call, _| {
        Ok(if call == 0 {
            long.clone()
        } else {
            "Short.".to_owned()
        })
    });
    let record = record(builder.build(), "summarize", &shorter);
    let event = &record.compactions[0].event;
    assert_eq!(
        (event.attempts, event.over_budget, &event.outcome),
        (2, false, &Outcome::Applied)
    );
    assert_eq!(record.compactions[0].calls.len(), 2);
}

#[test]
fn an_answer_over_budget_is_used_and_marked_where_the_second_fails() {
    let mut builder = Builder::new("s", "g");
    builder.chatter(2_500);
    let long = "word ".repeat(400);
    let fails = writes(move |call, _| {
        if call % 2 == 0 {
            Ok(long.clone())
        } else {
            Err(ChatError::Server { status: 500 })
        }
    });
    let event = record(builder.build(), "summarize", &fails).compactions[0]
        .event
        .clone();
    assert_eq!(
        (event.attempts, event.over_budget, event.outcome),
        (2, true, Outcome::Applied)
    );
    assert!(event.tokens_after < event.tokens_before);
}

#[test]
fn a_view_that_cannot_get_below_the_trigger_is_not_compacted_at_every_turn() {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::User, &"A very long task description. ".repeat(350));
    for number in 0..60 {
        builder.call(&format!("{{\"n\":{number}}}"), "ok");
    }
    let record = record(builder.build(), "null", &says(""));
    assert!(
        record.compactions.len() <= record.turns.len() / 4,
        "{} of {}",
        record.compactions.len(),
        record.turns.len()
    );
}

/// One early fact, then talk, with a probe at the end.
fn probed(id: &str, group: &str, value: &str) -> Scenario {
    let mut builder = Builder::new(id, group);
    let stated = builder.say(Role::User, &format!("The value is {value}."));
    builder.say(Role::Assistant, "Noted.");
    builder.chatter(4_000);
    builder.fact(value, &[stated]);
    builder.build()
}

#[test]
fn random_contexts_have_the_strategys_size() {
    let hits = |strategy: &str| {
        let record = record(probed("s", "g", "kx-4711"), strategy, &says("Nothing."));
        let last = record.observations.last().unwrap();
        assert_eq!(last.eligible, [0]);
        last.selection_hits[0]
    };
    assert_eq!(hits("full"), RANDOM_DRAWS, "no compaction, nothing dropped");
    assert_eq!(hits("null"), 0, "no room, nothing kept");
    let record = record(probed("s", "g", "kx-4711"), "summarize", &says("Nothing."));
    let after_compaction = record
        .observations
        .iter()
        .filter(|observation| observation.kind == ObservationKind::Compaction);
    assert!(
        after_compaction
            .into_iter()
            .any(|observation| !observation.eligible.is_empty())
    );
}

#[test]
fn chance_looks_for_the_facts_of_five_scenarios_of_other_groups() {
    let groups = |groups: [&str; 7]| {
        let scenarios = groups.iter().enumerate().map(|(number, group)| {
            probed(&format!("s{number}"), group, &format!("kx-{number}711"))
        });
        plan(scenarios.collect(), "null", 2_000)
            .suite
            .iter()
            .map(|prepared: &Arc<PreparedScenario>| prepared.checks().foreign.len())
            .collect::<Vec<_>>()
    };
    assert_eq!(groups(["a", "b", "c", "d", "e", "f", "g"]), [5; 7]);
    assert_eq!(
        groups(["a", "a", "a", "a", "a", "a", "b"]),
        [0, 0, 0, 0, 0, 0, 5],
        "one other group has one scenario"
    );
}

#[test]
fn what_conversations_of_one_project_share_is_no_matter_of_chance() {
    let foreign = |project_of: fn(usize) -> String, value_of: fn(usize) -> String| {
        let scenarios = (0..7).map(|number| {
            let mut scenario = probed(
                &format!("s{number}"),
                &format!("g{number}"),
                &value_of(number),
            );
            scenario.projects = vec![project_of(number)];
            scenario
        });
        let plan = plan(scenarios.collect(), "null", 2_000);
        plan.suite
            .iter()
            .map(|prepared: &Arc<PreparedScenario>| prepared.checks().foreign.len())
            .collect::<Vec<_>>()
    };
    let (one, own) = (|_| "shop".to_owned(), |number| format!("shop-{number}"));
    let (same, different) = (|_| "kx-4711".to_owned(), |number| format!("kx-{number}711"));
    assert_eq!(
        foreign(one, same),
        [0; 7],
        "each conversation states the values of the others"
    );
    assert_eq!(foreign(one, different), [5; 7]);
    assert_eq!(
        foreign(own, same),
        [5; 7],
        "across projects a shared value shows chance"
    );
}

#[test]
fn keys_tell_cases_apart() {
    let keys = |strategy, window| {
        plan(vec![probed("s", "g", "kx-4711")], strategy, window).cases[0]
            .key
            .clone()
    };
    assert_eq!(keys("summarize", 2_000), keys("summarize", 2_000));
    assert_ne!(keys("summarize", 2_000), keys("chained", 2_000));
    assert_ne!(keys("summarize", 2_000), keys("summarize", 2_100));
    // Under published limits a strategy's budget does not say which uses are old.
    let published = |window| {
        let options = PlanOptions {
            entrants: select(["summarize"], []).unwrap(),
            window: Some(window),
            protocols: [Protocol::Published].into(),
            ..PlanOptions::default()
        };
        let suite = suite(vec![probed("s", "g", "kx-4711")]);
        let plan = Plan::new(suite, options, &Encoding::O200k).unwrap();
        plan.cases[0].key.clone()
    };
    assert_eq!(published(2_000), published(2_000));
    assert_ne!(published(2_000), published(2_100));
}

#[test]
fn contexts_with_the_same_tail_leave_to_chance_what_a_strategy_chose() {
    let scenario = || {
        let mut builder = Builder::new("s", "g");
        for number in 0..40 {
            let value = format!("kx-{number}4711");
            let stated = builder.say(Role::User, &format!("The next value is {value}."));
            builder.say(Role::Assistant, "Noted.");
            builder.fact(&value, &[stated]);
        }
        builder.chatter(4_000);
        builder.build()
    };
    let hits = |strategy: &str, model: &dyn ChatModel| {
        let record = record(scenario(), strategy, model);
        let first = record
            .observations
            .iter()
            .find(|seen| seen.round == 1 && !seen.eligible.is_empty())
            .unwrap();
        first.selection_hits.iter().sum::<u32>()
    };
    // A recent half that is kept leaves chance half the room.
    let without_tail = hits("random-drop", &says("Nothing."));
    let beside_tail = hits("summarize", &says(&"Nothing of it matters. ".repeat(40)));
    assert!(
        beside_tail > 0 && beside_tail < without_tail,
        "{beside_tail} of {without_tail}"
    );
}
