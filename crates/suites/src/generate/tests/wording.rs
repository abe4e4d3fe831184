//! Whether wording alone distinguishes statements of facts and decoys from everything else that is
//! said.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use compactometer_engine::message::part_text;
use compactometer_formats::scenario::{Scenario, Split};

use super::standard::{sample, spec};
use crate::generate::spec::Spec;
use crate::generate::{plans, scenario};

/// The words of a sentence or line, with everything that holds a digit as one word, and whether it
/// states a fact or decoy.
fn units(scenario: &Scenario) -> Vec<(BTreeSet<String>, bool)> {
    let values = scenario
        .facts
        .iter()
        .map(|fact| fact.value.to_lowercase())
        .collect::<Vec<_>>();
    let texts = scenario.messages[1..]
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(part_text);
    let units = texts
        .flat_map(|text| text.lines().flat_map(|line| line.split_inclusive(". ")))
        .map(str::to_lowercase);
    let of_unit = units.map(|unit| {
        let trimmed = |word: &str| {
            word.trim_matches(|letter: char| !letter.is_alphanumeric())
                .to_owned()
        };
        let word = |word: &str| {
            if word.contains(|letter: char| letter.is_ascii_digit()) {
                "#".to_owned()
            } else {
                trimmed(word)
            }
        };
        (
            unit.split_whitespace().map(word).collect(),
            values.iter().any(|value| unit.contains(value)),
        )
    });
    of_unit
        .filter(|(words, _): &(BTreeSet<_>, _)| words.len() >= 3)
        .collect()
}

/// The share of pairs of a claim and another unit in which the claim has the higher score; ties
/// count half.
fn area_under_curve(mut scored: Vec<(f64, bool)>) -> f64 {
    scored.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut below, mut won) = (0.0, 0.0);
    for tied in scored.chunk_by(|one, other| one.0 == other.0) {
        let claims = tied.iter().filter(|(_, is_claim)| *is_claim).count() as f64;
        let others = tied.len() as f64 - claims;
        won += claims * (below + others / 2.0);
        below += others;
    }
    let claims = scored.iter().filter(|(_, is_claim)| *is_claim).count() as f64;
    won / (claims * below)
}

#[test]
fn wording_hardly_distinguishes_claims_from_fillers() {
    check_wording(&sample(&spec()));
}

#[test]
fn wording_hardly_distinguishes_claims_of_agents_that_work() {
    let long = include_str!("../../../../../datasets/long.toml");
    let start = long.find("window = ").expect("has a window");
    let rest = start + long[start..].find("facts = ").expect("has facts");
    let short = "window = 12000\ndomains = [\"software\", \"operations\", \"service\", \"research\"]\n\
                 conversations = 12\nlengths = [54000, 60000, 50000]\n";
    let spec = format!(
        "{}{short}{}\n[splits]\ndev = 6\ntest = 6\n",
        &long[..start],
        &long[rest..]
    );
    let spec = Spec::parse(&spec, Path::new("short.toml")).expect("the spec is right");
    let (plans, reserved) = plans(&spec);
    let written = plans
        .iter()
        .enumerate()
        .map(|(number, plan)| scenario(&spec, number, plan, &reserved).0);
    check_wording(&written.collect::<Vec<_>>());
}

/// A naive Bayes classifier of bags of words, trained on `dev` and scored on `test`.
fn check_wording(scenarios: &[Scenario]) {
    let of = |split| {
        scenarios
            .iter()
            .filter(move |scenario| scenario.split == split)
            .flat_map(units)
    };
    let mut counts: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    let mut total = [1.0; 2];
    for (words, is_claim) in of(Split::Dev) {
        total[usize::from(is_claim)] += 1.0;
        words
            .into_iter()
            .for_each(|word| counts.entry(word).or_insert([0.5; 2])[usize::from(is_claim)] += 1.0);
    }
    let score = |words: &BTreeSet<String>| {
        let known = words.iter().filter_map(|word| counts.get(word));
        known
            .map(|[other, claim]| (claim / total[1]).ln() - (other / total[0]).ln())
            .sum::<f64>()
    };
    let area = area_under_curve(
        of(Split::Test)
            .map(|(words, is_claim)| (score(&words), is_claim))
            .collect(),
    );
    println!("AUC {area:.3}");
    assert!((0.5..=0.75).contains(&area), "AUC {area:.3}");
}
