//! The properties that a measurement relies on, checked on the smoke suite and on suites of other
//! seeds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use crate::common::{find_all, sizes, spec_text, spec_with, tokens_of};
use compactometer_engine::message::part_text;
use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_formats::scenario::{
    Category, Fact, Polarity, Probe, SaidSentence, Scenario, SentenceKind, Split, ValueKind,
};
use compactometer_formats::suite::Suite;
use compactometer_suites::embedded::{self, smoke};
use compactometer_suites::generate::{Spec, generate};
use compactometer_text::matcher::Matcher;
use proptest::prelude::*;

fn smoke_suite() -> &'static Suite {
    static SUITE: LazyLock<Suite> = LazyLock::new(|| smoke().expect("the embedded spec is right"));
    &SUITE
}

/// Changing the suite is a deliberate decision, because it invalidates every baseline made with it.
#[test]
fn smoke_is_pinned() {
    insta::assert_snapshot!(&smoke_suite().hash()[..16], @"215ee5427ef42a0c");
}

/// Changing it invalidates every recording of a real model.
#[test]
fn real_is_pinned() {
    let spec = Spec::parse(
        include_str!("../../../../datasets/real.toml"),
        Path::new("real.toml"),
    );
    insta::assert_snapshot!(&generate(&spec.expect("the spec is right")).hash()[..16], @"49390870557f93a7");
}

#[test]
fn smoke_has_the_sizes_that_its_spec_asks_for() {
    let suite = smoke_suite();
    let totals: Vec<usize> = suite
        .scenarios
        .iter()
        .map(|scenario| sizes(scenario).iter().sum())
        .collect();
    println!("tokens {totals:?}, sum {}", totals.iter().sum::<usize>());
    assert_eq!(suite.header.window, Some(12_000));
    assert_eq!(totals.len(), 16);
    assert!(
        totals
            .iter()
            .all(|total| (23_000..=100_000).contains(total)),
        "{totals:?}"
    );
    assert!(
        totals.iter().filter(|total| **total <= 50_000).count() > 10,
        "{totals:?}"
    );
    assert!(
        totals.iter().any(|total| (92_000..=98_000).contains(total)),
        "{totals:?}"
    );
    assert!(totals.iter().sum::<usize>() < 700_000, "{totals:?}");
    for scenario in &suite.scenarios {
        let sizes = sizes(scenario);
        assert!(
            (200..=500).contains(&sizes[0]),
            "{}: system prompt of {}",
            scenario.id,
            sizes[0]
        );
        let longest = sizes.iter().max().copied().unwrap_or(0);
        assert!(longest <= 3_000, "{}: a message of {longest}", scenario.id);
        let tools: usize = by_role(scenario, &sizes, Role::Tool);
        let share = 100 * tools / sizes.iter().sum::<usize>();
        assert!(
            (55..=90).contains(&share),
            "{}: {share} % from tools",
            scenario.id
        );
    }
}

fn by_role(scenario: &Scenario, sizes: &[usize], role: Role) -> usize {
    scenario
        .messages
        .iter()
        .zip(sizes)
        .filter(|(message, _)| message.role == role)
        .map(|(_, size)| size)
        .sum()
}

#[test]
fn a_suite_survives_its_file() {
    let suite = smoke_suite();
    let mut file = Vec::new();
    suite.write(&mut file).expect("memory takes it");
    let read =
        Suite::from_reader(file.as_slice(), Path::new("smoke.jsonl")).expect("the suite is valid");
    assert_eq!(&read, suite);
}

#[test]
fn conversations_open_with_the_user_and_end_with_the_agent() {
    for scenario in &smoke_suite().scenarios {
        let roles: Vec<Role> = scenario
            .messages
            .iter()
            .map(|message| message.role)
            .collect();
        assert_eq!(roles[..2], [Role::System, Role::User]);
        assert_eq!(roles.last(), Some(&Role::Assistant));
        let batches = scenario
            .messages
            .iter()
            .map(|message| message.call_ids().count())
            .collect::<Vec<_>>();
        assert!(
            batches.iter().filter(|calls| **calls > 1).count() >= 3,
            "{}: few parallel calls",
            scenario.id
        );
        assert!(!scenario.tools.is_empty());
    }
}

#[test]
fn every_category_is_stated_in_every_conversation() {
    let suite = smoke_suite();
    let absent = [Category::Abstention, Category::Incidental];
    for scenario in &suite.scenarios {
        let counts = count(facts(scenario).map(|fact| fact.category));
        let number = facts(scenario).count();
        assert!(
            (30..=45).contains(&number),
            "{}: {number} facts",
            scenario.id
        );
        assert_eq!(counts.len(), 16, "{}: {counts:?}", scenario.id);
        assert!(absent.iter().all(|category| !counts.contains_key(category)));
    }
    let all = || suite.scenarios.iter().flat_map(facts);
    let kinds = count(all().map(|fact| fact.value_kind));
    let common = kinds.get(&ValueKind::Enum).copied().unwrap_or(0);
    println!("facts {}, kinds {kinds:?}", all().count());
    assert!(
        (10..=16).contains(&(all().count() / common.max(1))),
        "one in {}",
        all().count() / common.max(1)
    );
    let exact = || all().filter(|fact| matches!(fact.value_kind, ValueKind::Id | ValueKind::Path));
    let used = exact().filter(|fact| !fact.used_at.is_empty()).count();
    println!("used {used} of {} with an id or path", exact().count());
    assert!((15..=35).contains(&(100 * used / exact().count())));
    let repeated = all()
        .filter(|fact| fact.evidence_message_ids.len() - fact.used_at.len() > 1)
        .count();
    assert!(
        (35..=55).contains(&(100 * repeated / all().count())),
        "{repeated} repeated"
    );
}

/// The central property: each fact's value occurs exactly where the fact says it does.
pub(crate) fn check_evidence(suite: &Suite) {
    for (number, scenario) in suite.scenarios.iter().enumerate() {
        let mut values = BTreeSet::new();
        for fact in &scenario.facts {
            assert!(
                values.insert(fact.value.to_lowercase()),
                "{}: `{}` twice",
                scenario.id,
                fact.value
            );
            check_uses(scenario, fact);
        }
        let of = |form: fn(&Fact) -> &str| {
            let values: Vec<&str> = scenario.facts.iter().map(form).collect();
            let found = find_all(suite, &values);
            let own = |places: Vec<(usize, MessageId)>| {
                places.into_iter().filter(|place| place.0 == number)
            };
            let stated = |(fact, places)| {
                own(places)
                    .map(|place| place.1)
                    .filter(|id| states(scenario, fact, *id))
                    .collect()
            };
            scenario
                .facts
                .iter()
                .zip(found)
                .map(stated)
                .collect::<Vec<Vec<_>>>()
        };
        let claimed: Vec<Vec<MessageId>> = scenario
            .facts
            .iter()
            .map(|fact| fact.evidence_message_ids.clone())
            .collect();
        assert_eq!(of(|fact| &fact.value), claimed, "{}", scenario.id);
        assert_eq!(
            of(bare_number),
            claimed,
            "{}: by the number without its unit",
            scenario.id
        );
        let variants: Vec<&str> = scenario
            .facts
            .iter()
            .flat_map(|fact| fact.variants.iter().map(String::as_str))
            .collect();
        assert!(
            find_all(suite, &variants).iter().all(Vec::is_empty),
            "{}: a variant",
            scenario.id
        );
    }
}

/// Whether a message states the fact. A call can use a value, but cannot state a prohibition.
fn states(scenario: &Scenario, fact: &Fact, id: MessageId) -> bool {
    let message = scenario
        .messages
        .iter()
        .find(|message| message.id == id)
        .expect("is there");
    let said = message
        .parts
        .iter()
        .filter(|part| !matches!(part, Part::ToolCall { .. }))
        .filter_map(part_text);
    fact.polarity == Polarity::Affirmed || said.into_iter().any(|text| text.contains(&fact.value))
}

/// The matcher reads every statement with the polarity of its fact.
#[test]
fn the_matcher_reads_facts_as_they_are_stated() {
    for suite in [smoke_suite(), &standard()] {
        for scenario in &suite.scenarios {
            for fact in &scenario.facts {
                let matcher = Matcher::new([(fact.sought(), fact.forms())]);
                for message in scenario
                    .messages
                    .iter()
                    .filter(|message| fact.evidence_message_ids.contains(&message.id))
                {
                    let texts: Vec<&str> = message.parts.iter().filter_map(part_text).collect();
                    assert!(
                        texts.iter().any(|text| matcher.find(text).next().is_some()),
                        "`{}` in {texts:?}",
                        fact.value
                    );
                }
            }
        }
    }
}

fn standard() -> Suite {
    let standard = embedded::by_name("standard").expect("is embedded");
    let spec = standard.spec().expect("the spec is right");
    spec.suite().expect("is generated")
}

/// A number without its unit. Other values are unchanged.
fn bare_number(fact: &Fact) -> &str {
    match fact.value_kind {
        ValueKind::Number => fact.value.split([' ', '%']).next().unwrap_or_default(),
        _ => &fact.value,
    }
}

fn check_uses(scenario: &Scenario, fact: &Fact) {
    for id in &fact.used_at {
        let message = scenario
            .messages
            .iter()
            .find(|message| message.id == *id)
            .expect("is there");
        let quoted = format!("\"{}\"", fact.value);
        let mut arguments = message.parts.iter().filter_map(|part| match part {
            Part::ToolCall { arguments, .. } => Some(arguments),
            _ => None,
        });
        assert!(
            arguments.any(|text| text.contains(&quoted)),
            "{}: {quoted} is not an argument at {id:?}",
            scenario.id
        );
    }
}

#[test]
fn evidence_is_exactly_where_values_occur() {
    check_evidence(smoke_suite());
}

#[test]
fn foils_occur_nowhere_in_the_suite() {
    let suite = smoke_suite();
    let all = || suite.scenarios.iter().flat_map(|scenario| &scenario.facts);
    assert!(all().all(|fact| fact.foil_values.len() >= 5));
    let foils: Vec<&str> = all()
        .flat_map(|fact| &fact.foil_values)
        .map(String::as_str)
        .collect();
    let found = find_all(suite, &foils);
    let hit = foils
        .iter()
        .zip(found)
        .find(|(_, places)| !places.is_empty());
    assert_eq!(hit, None);
}

#[test]
fn values_of_other_conversations_match_only_where_they_are_common_words() {
    let suite = smoke_suite();
    let facts: Vec<&Fact> = suite
        .scenarios
        .iter()
        .flat_map(|scenario| &scenario.facts)
        .collect();
    let values: Vec<&str> = facts.iter().map(|fact| fact.value.as_str()).collect();
    let mut chance_matches = 0;
    for (fact, places) in facts.iter().zip(find_all(suite, &values)) {
        let conversations: BTreeSet<usize> = places.iter().map(|place| place.0).collect();
        if fact.value_kind == ValueKind::Enum {
            chance_matches += conversations.len() - 1;
        } else {
            assert_eq!(conversations.len(), 1, "`{}`", fact.value);
        }
    }
    assert!(chance_matches > 0, "no common word occurs twice");
}

#[test]
fn every_fact_has_a_decoy_that_only_chance_distinguishes() {
    let suite = smoke_suite();
    let mut first = 0;
    let mut apart = Vec::new();
    let mut mentions = [0, 0];
    for scenario in &suite.scenarios {
        let ends = ends(scenario);
        for fact in facts(scenario) {
            let decoys: Vec<&Fact> = scenario
                .facts
                .iter()
                .filter(|decoy| decoy.decoy_of.as_deref() == Some(&fact.id))
                .collect();
            let [decoy] = decoys[..] else {
                panic!("{} has {} decoys", fact.id, decoys.len())
            };
            let form = |fact: &Fact| {
                (
                    fact.category,
                    fact.stated_by,
                    fact.value_kind,
                    fact.polarity,
                    fact.used_at.len(),
                )
            };
            assert_eq!(form(fact), form(decoy), "{} {}", scenario.id, fact.id);
            assert_eq!(fact.valid_to.is_some(), decoy.valid_to.is_some());
            first += usize::from(order(scenario, fact) < order(scenario, decoy));
            let at = |fact: &Fact| ends[&fact.evidence_message_ids[0]];
            apart.push(at(fact).abs_diff(at(decoy)));
            mentions[0] += fact.evidence_message_ids.len();
            mentions[1] += decoy.evidence_message_ids.len();
        }
    }
    apart.sort_unstable();
    let (median, p90) = (apart[apart.len() / 2], apart[apart.len() * 9 / 10]);
    println!(
        "pairs {}, fact first in {first}, tokens apart: median {median}, p90 {p90}, mentions {mentions:?}",
        apart.len()
    );
    assert!(median <= 300 && p90 <= 3_000, "median {median}, p90 {p90}");
    // Two standard deviations of a fair coin.
    let expected = apart.len() / 2;
    assert!(
        first.abs_diff(expected).pow(2) <= apart.len(),
        "{first} of {}",
        apart.len()
    );
    assert!(
        mentions[0].abs_diff(mentions[1]) * 100 <= mentions[0] * 2,
        "{mentions:?}"
    );
}

/// The first occurrence of a value: the message, and the position in its text.
fn order(scenario: &Scenario, fact: &Fact) -> (MessageId, usize) {
    let id = fact.evidence_message_ids[0];
    let message = scenario
        .messages
        .iter()
        .find(|message| message.id == id)
        .expect("is there");
    (
        id,
        crate::common::text_of(message)
            .find(&fact.value)
            .expect("states it"),
    )
}

pub(crate) fn check_probes(suite: &Suite) {
    for scenario in &suite.scenarios {
        let by_id: BTreeMap<&str, &Fact> = scenario
            .facts
            .iter()
            .map(|fact| (fact.id.as_str(), fact))
            .collect();
        let mut asked = BTreeSet::new();
        for probe in answerable(scenario) {
            let [id] = &probe.fact_ids[..] else {
                panic!("{} asks for {:?}", probe.id, probe.fact_ids)
            };
            let fact = by_id[id.as_str()];
            asked.insert(id.as_str());
            assert!(fact.decoy_of.is_none(), "{} asks for a decoy", probe.id);
            assert_eq!(probe.gold.as_ref(), Some(&fact.value));
            assert!(
                probe.asked_after > fact.evidence_message_ids[0],
                "{} is too early",
                probe.id
            );
            assert!(
                fact.valid_to.is_none_or(|end| probe.asked_after < end),
                "{} asks for what is replaced",
                probe.id
            );
            assert!(
                probe.question.contains(&fact.subject) && probe.question.ends_with('?'),
                "{}",
                probe.question
            );
            let shared = crate::common::shared_words(&probe.question, fact.forms());
            assert_eq!(
                shared, None,
                "`{}` gives `{}` away",
                probe.question, fact.value
            );
        }
        for fact in facts(scenario) {
            assert!(
                asked.contains(fact.id.as_str()),
                "{}: nobody asks for {}",
                scenario.id,
                fact.id
            );
        }
    }
}

#[test]
fn questions_ask_for_facts_and_give_nothing_away() {
    check_probes(smoke_suite());
}

#[test]
fn questions_are_unambiguous() {
    for scenario in &smoke_suite().scenarios {
        let mut golds: BTreeMap<(&str, MessageId), &Option<String>> = BTreeMap::new();
        for probe in &scenario.probes {
            let earlier = golds.insert((&probe.question, probe.asked_after), &probe.gold);
            assert_eq!(
                earlier, None,
                "{}: `{}` twice at one point",
                scenario.id, probe.question
            );
        }
    }
}

#[test]
fn observation_points_come_before_the_agents_turns_and_late_enough() {
    let (mut far, mut number) = (0, 0);
    for scenario in &smoke_suite().scenarios {
        let ends = ends(scenario);
        let total = *ends.values().last().expect("messages");
        let points: BTreeSet<MessageId> = scenario
            .probes
            .iter()
            .map(|probe| probe.asked_after)
            .collect();
        assert!(
            (4..=6).contains(&points.len()),
            "{}: {} points",
            scenario.id,
            points.len()
        );
        for point in &points {
            let at = scenario
                .messages
                .iter()
                .position(|message| message.id == *point)
                .expect("is there");
            assert_ne!(scenario.messages[at].role, Role::Assistant);
            assert_eq!(scenario.messages[at + 1].role, Role::Assistant);
            assert!(
                ends[point] * 10 >= total * 3,
                "{}: a point at {} of {total}",
                scenario.id,
                ends[point]
            );
        }
        let last = points.last().expect("points");
        assert!(
            total - ends[last] < 1_000,
            "{}: the last point is {} before the end",
            scenario.id,
            total - ends[last]
        );
        for probe in answerable(scenario) {
            let fact = scenario
                .facts
                .iter()
                .find(|fact| fact.id == probe.fact_ids[0])
                .expect("is there");
            let mention = fact
                .evidence_message_ids
                .iter()
                .rev()
                .find(|id| **id <= probe.asked_after)
                .expect("stated");
            far += usize::from(ends[&probe.asked_after] - ends[mention] >= 9_600);
            number += 1;
        }
    }
    println!("{far} of {number} probes ask for something at least 9,600 tokens back");
    assert!(far * 100 >= number * 75, "{far} of {number}");
}

#[test]
fn replaced_values_have_an_end_and_a_successor() {
    let suite = smoke_suite();
    let mut updates = 0;
    for scenario in &suite.scenarios {
        for new in scenario
            .facts
            .iter()
            .filter(|fact| fact.supersedes.is_some())
        {
            let old = scenario
                .facts
                .iter()
                .find(|old| Some(&old.id) == new.supersedes.as_ref())
                .expect("is there");
            assert_eq!(
                (&old.subject, old.decoy_of.is_some()),
                (&new.subject, new.decoy_of.is_some())
            );
            assert_eq!(old.valid_to, Some(new.evidence_message_ids[0]));
            assert!(old.evidence_message_ids.last() < new.evidence_message_ids.first());
            assert_eq!(new.category, Category::Update);
            updates += 1;
        }
    }
    assert!(updates >= 16 * 2 * 3, "{updates}");
}

#[test]
fn equal_specs_give_equal_bytes_and_other_seeds_others() {
    let of = |seed| generate(&spec_with(seed)).hash();
    assert_eq!(of(5), of(5));
    assert_ne!(of(5), of(6));
}

/// The sentences of a user are added to messages and change nothing else. Those of the test split
/// occur in no other.
#[test]
fn users_say_sentences_of_their_split() {
    let text = spec_text(5).replace("[splits]", "said = 4\n[splits]");
    let suite = generate(&Spec::parse(&text, Path::new("tiny.toml")).expect("the spec is right"));
    let plain = generate(&spec_with(5));
    let mut of_splits = BTreeMap::<_, BTreeSet<_>>::new();
    for (scenario, plain) in suite.scenarios.iter().zip(&plain.scenarios) {
        assert_eq!(
            (&scenario.facts, &scenario.probes),
            (&plain.facts, &plain.probes)
        );
        let first = |said: &&SaidSentence| said.kind != SentenceKind::Correction;
        assert_eq!(scenario.said.iter().filter(first).count(), 4);
        let said = scenario.said.iter().flat_map(|said| &said.wordings);
        let said = said
            .map(|wording| wording.text.clone())
            .collect::<BTreeSet<_>>();
        for (message, plain) in scenario.messages.iter().zip(&plain.messages) {
            let mut words = message
                .parts
                .iter()
                .filter_map(part_text)
                .collect::<String>();
            for text in &said {
                words = words.replace(&format!("\n\n{text}"), "");
            }
            let unchanged = plain.parts.iter().filter_map(part_text).collect::<String>();
            assert_eq!(words, unchanged);
        }
        of_splits.entry(scenario.split).or_default().extend(said);
    }
    let (test, others) = (&of_splits[&Split::Test], &of_splits[&Split::Dev]);
    assert!(test.len() > 4 && others.len() > 4 && test.is_disjoint(others));
}

/// Unanswerable questions come after all other probes and change nothing else. No statement answers
/// any of them.
#[test]
fn unanswerable_questions_ask_for_what_is_never_said_of_their_subject() {
    let text = spec_text(5).replace("[splits]", "unanswerable = 3\n[splits]");
    let suite = generate(&Spec::parse(&text, Path::new("tiny.toml")).expect("the spec is right"));
    let plain = generate(&spec_with(5));
    for (scenario, plain) in suite.scenarios.iter().zip(&plain.scenarios) {
        let (others, added) = scenario.probes.split_at(plain.probes.len());
        assert_eq!(
            (others, &scenario.facts, &scenario.messages),
            (&plain.probes[..], &plain.facts, &plain.messages)
        );
        assert_eq!(added.len(), 3);
        for probe in added {
            assert!(probe.abstain_expected && probe.gold.is_none() && probe.fact_ids.is_empty());
            assert!(
                others.iter().all(|other| other.question != probe.question),
                "{}",
                probe.question
            );
            assert!(
                added
                    .iter()
                    .filter(|other| other.question == probe.question)
                    .count()
                    == 1
            );
        }
    }
}

/// Otherwise a reader could recognise an unanswerable question by itself. Wording, subjects and
/// points are those of other questions.
#[test]
fn unanswerable_questions_have_the_form_of_answerable_ones() {
    let (mut words, mut late) = ([(0, 0); 2], [(0, 0); 2]);
    for scenario in &smoke_suite().scenarios {
        let subjects: BTreeSet<&str> = scenario
            .facts
            .iter()
            .map(|fact| fact.subject.as_str())
            .collect();
        let frame = |question: &str| {
            let of = subjects
                .iter()
                .filter(|subject| question.contains(**subject));
            let subject = of
                .max_by_key(|subject| subject.len())
                .unwrap_or_else(|| panic!("{question}: of what?"));
            question.replace(subject, "{s}")
        };
        let frames: BTreeSet<String> = answerable(scenario)
            .map(|probe| frame(&probe.question))
            .collect();
        let points: BTreeSet<MessageId> = answerable(scenario)
            .map(|probe| probe.asked_after)
            .collect();
        for probe in scenario
            .probes
            .iter()
            .filter(|probe| probe.order.is_empty())
        {
            let at = usize::from(probe.abstain_expected);
            assert!(
                frames.contains(&frame(&probe.question)),
                "{}",
                probe.question
            );
            assert!(
                points.contains(&probe.asked_after),
                "{}: a point of its own",
                scenario.id
            );
            words[at] = (
                words[at].0 + probe.question.split(' ').count(),
                words[at].1 + 1,
            );
            late[at] = (
                late[at].0 + usize::from(points.last() == Some(&probe.asked_after)),
                late[at].1 + 1,
            );
        }
    }
    let mean = |(sum, count): (usize, usize)| sum as f64 / count as f64;
    println!("words {words:?}, at the last point {late:?}");
    assert_eq!(words[1].1, 16 * 3);
    assert!((mean(words[0]) - mean(words[1])).abs() < 1.0, "{words:?}");
    // Three standard errors of a share of 48.
    assert!((mean(late[0]) - mean(late[1])).abs() < 0.22, "{late:?}");
}

/// Each lists four questions, contains no answer, and cannot be ordered without reading the
/// conversation.
#[test]
fn questions_for_an_order_have_one_right_answer_and_list_it_in_no_order() {
    let (mut number, mut as_listed) = (0, 0_i32);
    for scenario in &smoke_suite().scenarios {
        let ends = ends(scenario);
        for probe in scenario
            .probes
            .iter()
            .filter(|probe| !probe.order.is_empty())
        {
            let asked = |id: &String| {
                scenario
                    .facts
                    .iter()
                    .find(|fact| fact.id == *id)
                    .expect("is there")
            };
            let facts: Vec<&Fact> = probe.fact_ids.iter().map(asked).collect();
            let stated: Vec<MessageId> = facts
                .iter()
                .map(|fact| fact.evidence_message_ids[0])
                .collect();
            assert!(stated.windows(2).all(|two| two[0] < two[1]), "{stated:?}");
            assert_eq!(
                (probe.order.len(), &probe.gold, probe.abstain_expected),
                (4, &None, false)
            );
            assert!(probe.question.ends_with('?'), "{}", probe.question);
            for (fact, label) in facts.iter().zip(&probe.order) {
                assert!(
                    fact.decoy_of.is_none()
                        && fact.evidence_message_ids.len() == 1
                        && fact.valid_to.is_none()
                );
                assert!(ends[&probe.asked_after] - ends[&fact.evidence_message_ids[0]] >= 9_600);
                assert_eq!(
                    crate::common::shared_words(&probe.question, fact.forms()),
                    None,
                    "{}",
                    probe.question
                );
                let (_, listed) = probe
                    .question
                    .split_once(&format!("({label}) "))
                    .expect("is listed");
                let own = answerable(scenario)
                    .find(|other| other.fact_ids == [fact.id.clone()])
                    .expect("is asked for");
                assert!(listed.starts_with(&own.question), "{listed}");
            }
            number += 1;
            as_listed += (0..4)
                .flat_map(|at| (0..at).map(move |earlier| (earlier, at)))
                .map(|(one, other)| {
                    if probe.order[one] < probe.order[other] {
                        1
                    } else {
                        -1
                    }
                })
                .sum::<i32>();
        }
    }
    println!("{number} questions, pairs in listed order minus the others {as_listed}");
    assert_eq!(number, 16);
    // Of 96 pairs, two standard errors of tau over 16 lists of four.
    assert!(as_listed.abs() <= 24, "{as_listed}");
}

#[test]
fn conversations_differ() {
    let suite = smoke_suite();
    let openings: BTreeSet<String> = suite
        .scenarios
        .iter()
        .map(|scenario| crate::common::text_of(&scenario.messages[1]))
        .collect();
    assert_eq!(openings.len(), suite.scenarios.len());
    let groups: BTreeSet<&str> = suite
        .scenarios
        .iter()
        .map(|scenario| scenario.group_id.as_str())
        .collect();
    assert_eq!(groups.len(), suite.scenarios.len());
}

#[test]
fn a_limit_on_probes_leaves_one_at_each_point() {
    let probes = |limit: &str| {
        let spec = Spec::parse(&format!("{limit}{}", spec_text(1)), Path::new("my.toml"))
            .expect("the spec is right");
        let suite = generate(&spec);
        let points = |scenario: &Scenario| {
            scenario
                .probes
                .iter()
                .map(|probe| probe.asked_after)
                .collect::<BTreeSet<_>>()
        };
        suite
            .scenarios
            .iter()
            .map(|scenario| (scenario.probes.len(), points(scenario)))
            .collect::<Vec<_>>()
    };
    for (limited, all) in probes("probes = 5\n").into_iter().zip(probes("")) {
        assert!(all.0 > 5);
        assert_eq!(limited, (5, all.1));
    }
}

#[test]
fn specs_are_refused_with_key_value_and_range() {
    let refused = |(from, to): (&str, &str)| {
        let text = spec_text(1);
        assert!(text.contains(from), "the test's spec has no `{from}`");
        let error =
            Spec::parse(&text.replacen(from, to, 1), Path::new("my.toml")).expect_err("is refused");
        error.to_string()
    };
    let changes = [
        ("window = 4000", "window = 400"),
        ("lengths = [9000", "lengths = [7000"),
        ("lengths = [9000, 14000]", "lengths = []"),
        ("\"service\"", "\"cooking\""),
        ("facts = [24, 30]", "facts = [30, 24]"),
        ("points = [3, 4]", "points = [0, 4]"),
        ("points = [3, 4]", "points = [3, 4]\nunanswerable = 90"),
        ("points = [3, 4]", "points = [3, 4]\norders = 7"),
        ("points = [3, 4]", "points = [3, 4]\nsaid = 19"),
        ("seed = 1", "seed = 1\nprobes = 3"),
        ("[splits]", "[memory]\ndocument = 4\nnotes = 4\n\n[splits]"),
        ("[splits]", "[memory]\ndocument = 0\nnotes = 4\n\n[splits]"),
        ("[splits]", "[memory]\ndocument = 4\nnotes = 21\n\n[splits]"),
        ("[splits]", "[memory]\ndocuments = 4\nnotes = 2\n\n[splits]"),
        ("conversations = 4", "conversations = 900"),
        ("conversations = 4", "conversations = 5"),
        ("test = 2", "trial = 2"),
        ("name = \"tiny\"", "name = \"Tiny Suite\""),
        ("seed = 1", "seeds = 1"),
        (
            "conversations = 4\nlengths = [9000, 14000]\nfacts = [24, 30]",
            "conversations = 200\nlengths = [9000]\nfacts = [24, 60]",
        ),
    ];
    insta::assert_snapshot!(changes.map(refused).join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_seed_keeps_the_promises(seed in any::<u32>()) {
        let suite = generate(&spec_with(u64::from(seed)));
        check_evidence(&suite);
        check_probes(&suite);
        let mut file = Vec::new();
        suite.write(&mut file).expect("memory takes it");
        prop_assert_eq!(Suite::from_reader(file.as_slice(), Path::new("tiny.jsonl")).expect("valid"), suite);
    }
}

/// The probes that ask for a value.
fn answerable(scenario: &Scenario) -> impl Iterator<Item = &Probe> {
    scenario
        .probes
        .iter()
        .filter(|probe| !probe.abstain_expected && probe.order.is_empty())
}

fn facts(scenario: &Scenario) -> impl Iterator<Item = &Fact> {
    scenario.facts.iter().filter(|fact| fact.decoy_of.is_none())
}

fn count<K: Ord>(items: impl Iterator<Item = K>) -> BTreeMap<K, usize> {
    let mut counts = BTreeMap::new();
    items.for_each(|item| *counts.entry(item).or_default() += 1);
    counts
}

fn ends(scenario: &Scenario) -> BTreeMap<MessageId, usize> {
    let mut end = 0;
    let step = |message: &Message| {
        end += tokens_of(message);
        (message.id, end)
    };
    scenario.messages.iter().map(step).collect()
}
