//! Tests of the standard suite: all its plans, and the text of a few conversations of each split. A
//! test in `tests/it/standard.rs` pins the whole suite.

use std::collections::BTreeSet;
use std::path::Path;

use compactometer_formats::scenario::{Fact, Scenario, Split};
use compactometer_text::matcher::Matcher;

use crate::generate::domains::{ALL, Domain, ResultStyle};
use crate::generate::forms::GeneratedForm;
use crate::generate::part::SplitPart;
use crate::generate::session::SessionTable;
use crate::generate::spec::Spec;
use crate::generate::writer::next_slot;
use crate::generate::{plans, scenario};

pub(super) fn spec() -> Spec {
    let text = include_str!("../../../../../datasets/standard.toml");
    Spec::parse(text, Path::new("standard.toml")).expect("the spec is right")
}

/// The given number of conversations of each domain in each split.
pub(super) fn sample(spec: &Spec) -> Vec<Scenario> {
    let (plans, reserved) = plans(spec);
    let numbers = [0, 1, 2, 3, 48, 49, 50, 51, 105, 108, 110, 115];
    numbers
        .map(|number| scenario(spec, number, &plans[number], &reserved).0)
        .to_vec()
}

fn texts_of(scenarios: &[Scenario], is_test: bool) -> String {
    let chosen = scenarios
        .iter()
        .filter(|scenario| (scenario.split == Split::Test) == is_test);
    let json = chosen
        .flat_map(|scenario| &scenario.messages[1..])
        .map(serde_json::to_string);
    json.collect::<Result<Vec<_>, _>>()
        .expect("messages have a JSON form")
        .join("\n")
        .to_lowercase()
}

#[test]
fn the_specs_sizes_are_those_that_it_is_made_for() {
    let spec = spec();
    let (plans, _) = plans(&spec);
    let pairs = |split: Split| {
        let of_split = (0..plans.len()).filter(|number| spec.split(*number) == split);
        of_split
            .map(|number| {
                (
                    plans[number].domain.name.as_str(),
                    plans[number].span.length,
                )
            })
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(plans.len(), 120);
    assert!(
        spec.lengths
            .iter()
            .all(|length| (20_000..=99_000).contains(length))
    );
    // Each length occurs once in each domain.
    assert_eq!(pairs(Split::Test).len(), 60);
    assert_eq!(
        (pairs(Split::Dev).len(), pairs(Split::Calibration).len()),
        (45, 15)
    );
}

#[test]
fn plans_of_the_test_split_share_no_subject_value_or_plain_word_with_others() {
    let spec = spec();
    let (plans, _) = plans(&spec);
    let words = |part: SplitPart| {
        let of_part = plans.iter().filter(move |plan| plan.part == part);
        let sides = of_part.flat_map(|plan| {
            plan.pairs
                .iter()
                .flat_map(|pair| pair.sides.iter().map(move |side| (pair.form, side)))
        });
        let words = sides.flat_map(|(form, side)| {
            let values = std::iter::once(&side.value).chain(&side.foils);
            let plain = matches!(form, GeneratedForm::Phrase | GeneratedForm::Common);
            let single =
                move |value: &String| value.split(' ').map(str::to_owned).collect::<Vec<_>>();
            let split = values.clone().filter(move |_| plain).flat_map(single);
            split
                .chain(values.cloned())
                .chain([side.subject.to_owned()])
                .collect::<Vec<_>>()
        });
        words.collect::<BTreeSet<String>>()
    };
    let (open, held_out) = (words(SplitPart::Open), words(SplitPart::HeldOut));
    assert!(
        open.len() > 10_000 && held_out.len() > 10_000,
        "{} and {}",
        open.len(),
        held_out.len()
    );
    assert_eq!(open.intersection(&held_out).next(), None);
}

/// Runs of text between slots that are long enough to be recognised. The two ways of stating a
/// claim may share some.
fn runs(part: SplitPart) -> BTreeSet<String> {
    let claims = |part: SplitPart| {
        let of_domain = move |domain: &'static Domain| domain.claims.iter();
        ALL.iter().flat_map(of_domain).flat_map(move |claim| {
            [part.members(&claim.says), part.members(&claim.changes)].concat()
        })
    };
    let other = if part == SplitPart::Open {
        SplitPart::HeldOut
    } else {
        SplitPart::Open
    };
    let mut runs = runs_of(templates(part).into_iter().chain(claims(part)));
    let shared = runs_of(claims(other));
    runs.retain(|run| !shared.iter().any(|other| other.contains(run)));
    runs
}

/// All templates except those of claims.
fn templates(part: SplitPart) -> Vec<&'static str> {
    let mut templates = Vec::new();
    for domain in &*ALL {
        for list in [
            &domain.subjects,
            &domain.requests,
            &domain.remarks,
            &domain.steps,
            &domain.findings,
        ] {
            templates.extend(part.members(list));
        }
        templates.extend(
            domain
                .pools
                .iter()
                .flat_map(|pool| part.members(&pool.words)),
        );
        templates.extend(
            domain
                .tools
                .iter()
                .flat_map(|tool| part.members(&tool.items)),
        );
        for tool in &domain.tools {
            if let ResultStyle::Code(texts) | ResultStyle::Page(texts) = &tool.style {
                templates.extend(part.members(texts));
            }
        }
    }
    templates
}

fn runs_of(templates: impl Iterator<Item = &'static str>) -> BTreeSet<String> {
    let mut runs = BTreeSet::new();
    // The text before a statement may end with a colon too.
    let mut insert = |run: &str| runs.insert(run.trim_start_matches(": ").to_lowercase());
    for mut rest in templates {
        while let Some((before, _, after)) = next_slot(rest) {
            insert(before);
            rest = after;
        }
        insert(rest);
    }
    runs.retain(|run| run.split_whitespace().count() >= 5 && !run.contains(['"', '\n']));
    runs
}

#[test]
fn templates_of_the_test_split_occur_in_no_other_split() {
    let mut spec = spec();
    check_templates(&sample(&spec), 50);
    // Without `[session]`, incidental sentences use their own templates.
    spec.session = SessionTable::default();
    check_templates(&sample(&spec), 80);
}

/// At least these percentages of the templates of a part are in use there, and none of the other
/// part.
fn check_templates(scenarios: &[Scenario], in_use: usize) {
    for (part, is_test) in [(SplitPart::HeldOut, true), (SplitPart::Open, false)] {
        let (own, other) = (texts_of(scenarios, is_test), texts_of(scenarios, !is_test));
        let runs = runs(part);
        let used = runs.iter().filter(|run| own.contains(*run)).count();
        assert!(
            used * 100 > runs.len() * in_use,
            "{used} of {} in use",
            runs.len()
        );
        let shared: Vec<&String> = runs.iter().filter(|run| other.contains(*run)).collect();
        assert!(shared.is_empty(), "{shared:?}");
        let own = scenarios
            .iter()
            .filter(|scenario| (scenario.split == Split::Test) == is_test);
        let facts: Vec<&Fact> = own.flat_map(|scenario| &scenario.facts).collect();
        let known = facts
            .iter()
            .find(|fact| other.contains(&fact.subject.to_lowercase()));
        assert_eq!(known, None);
        let values = Matcher::new(facts.iter().map(|fact| (fact.value_kind, fact.forms())));
        let known = values.find(&other).next().map(|found| facts[found]);
        assert_eq!(known, None);
    }
}

/// Changing the suite is a deliberate decision, because it invalidates every baseline made with it.
#[test]
fn the_sample_is_pinned() {
    let json = serde_json::to_string(&sample(&spec())).expect("scenarios have a JSON form");
    let count = json.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    insta::assert_snapshot!(format!("{count:016x}"), @"ba997b40cf53f40a");
}
