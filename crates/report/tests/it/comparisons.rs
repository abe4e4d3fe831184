//! Records in, paired comparisons out; expected numbers from SciPy.

use crate::common::{chance, compaction, facts, manifest, point, prices, record};
use compactometer_engine::event::{FailReason, Outcome};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::record::{Family, Record, Stages};
use compactometer_formats::scenario::ValueKind;
use compactometer_formats::summary::{Compared, Comparison};
use compactometer_report::{Screen, summarize, table};
use proptest::prelude::*;

const KIND: ValueKind = ValueKind::Nonce;
/// Facts held of 100, by unit, of the strategy; the reference holds 50 of each.
const HELD: [usize; 8] = [38, 47, 52, 42, 45, 39, 51, 43];
/// The same as gains.
const HIGHER: [usize; 8] = [62, 53, 48, 58, 55, 61, 49, 57];
/// Next to no difference.
const ALIKE: [usize; 8] = [50, 51, 49, 52, 48, 50, 51, 49];

fn talk(name: &str, at: usize, held: usize) -> Record {
    let mut made = record(
        name,
        Family::Reference,
        &format!("s{at}"),
        &format!("g{at}"),
    );
    made.facts = facts(100, KIND);
    let mut seen = point(1, &("c".repeat(held) + &"u".repeat(100 - held)));
    seen.chance = vec![chance(KIND, 0, 5)];
    made.observations = vec![seen];
    made.compactions = vec![compaction(Stages::default(), 3_000, Vec::new())];
    made
}

fn two(held: &[usize]) -> (Manifest, Vec<Record>) {
    let others = (0..held.len()).map(|at| talk("summarize", at, 50));
    let records: Vec<_> = others
        .chain(
            held.iter()
                .enumerate()
                .map(|(at, held)| talk("chained", at, *held)),
        )
        .collect();
    (
        manifest(&["summarize", "chained"], records.len(), held.len()),
        records,
    )
}

fn compared(manifest: &Manifest, records: &[Record]) -> Vec<Comparison> {
    summarize(manifest, records, &prices())
        .groups
        .remove(0)
        .comparisons
}

/// The same run with a model's name in place of the mock's: text then has verdicts.
fn of_model(manifest: &Manifest) -> Manifest {
    Manifest {
        summarizer: "openai:small".to_owned(),
        ..manifest.clone()
    }
}

/// Of `chained` alone: the tokens that its compactions retain.
fn retain(records: &mut [Record], tokens: u32) {
    for record in records
        .iter_mut()
        .filter(|record| record.case.strategy == "chained")
    {
        record.compactions = vec![compaction(Stages::default(), tokens, Vec::new())];
    }
}

fn near(found: Option<f64>, expected: f64, tolerance: f64) {
    let found = found.unwrap();
    assert!(
        (found - expected).abs() < tolerance,
        "{found} is not {expected}"
    );
}

/// Expected values: `ttest_1samp`, `permutation_test` and `t.ppf` of SciPy 1.17.1; the interval is
/// that of `ttest_1samp` with Johnson's term on the side of the longer tail.
#[test]
fn a_comparison_agrees_with_scipy() {
    let (manifest, records) = two(&HELD);
    let found = compared(&manifest, &records);
    let [made] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (made.strategy.as_str(), made.reference.as_str(), made.n),
        ("chained", "summarize", 8)
    );
    assert_eq!(made.metric, "context_recall_corrected");
    near(made.difference, -0.05375, 1e-9);
    near(made.sd, 0.051530157605591924, 1e-9);
    near(made.p_t, 0.021398616373381533, 1e-9);
    near(made.p_sign_flip, 0.0390625, 1e-9);
    near(made.p_holm, 0.0390625, 1e-9);
    near(made.detectable, 0.059404751030461604, 1e-9);
    near(made.low, -0.09683029, 1e-7);
    near(made.high, -0.008488821, 1e-7);
    assert_eq!(made.verdict, Compared::SupportedDifference);
    let text = table(
        &summarize(&of_model(&manifest), &records, &prices()),
        &Screen::WHOLE,
    );
    let sentence = "1 Against `summarize` (50 %), old values kept, in points, in pairs over 8 conversations: `chained` -5 \
                    (-10 to -1).";
    assert!(text.replace("\n  ", " ").contains(sentence), "{text}");
    assert!(
        text.contains("minus summarize, paired by conversation"),
        "{text}"
    );
    let line = "chained, values kept  -0.05 [-0.10, -0.01]  p 0.039  MDE 0.06 G 8   supported difference\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_third_strategy_takes_part_in_holm() {
    let (_, mut records) = two(&HELD);
    records.extend((0..8).map(|at| talk("handoff", at, 49 + at % 3)));
    let found = compared(
        &manifest(&["summarize", "chained", "handoff"], records.len(), 8),
        &records,
    );
    let chained = found
        .iter()
        .find(|made| made.strategy == "chained")
        .unwrap();
    near(chained.p_holm, 2.0 * 0.0390625, 1e-9);
    assert_eq!(chained.verdict, Compared::NoSupportedDifference);
}

#[test]
fn the_reference_is_the_declared_one() {
    let (mut manifest, records) = two(&HELD);
    manifest.reference = Some("chained".to_owned());
    let found = compared(&manifest, &records);
    assert_eq!(
        (found[0].strategy.as_str(), found[0].reference.as_str()),
        ("summarize", "chained")
    );
    near(found[0].difference, 0.05375, 1e-9);
}

#[test]
fn sizes_are_held_against_the_declared_reference() {
    let (mut manifest, mut records) = two(&HELD);
    for record in records
        .iter_mut()
        .filter(|record| record.case.strategy == "chained")
    {
        record.compactions = vec![compaction(Stages::default(), 3_400, Vec::new())];
    }
    manifest.reference = Some("chained".to_owned());
    let warnings = summarize(&manifest, &records, &prices())
        .groups
        .remove(0)
        .warnings;
    let told = warnings
        .iter()
        .find(|warning| warning.contains("within 10 % of each other"))
        .unwrap();
    assert!(
        told.contains("the 3,400 tokens that chained retains: summarize 3,000"),
        "{told}"
    );
}

#[test]
fn what_cannot_be_compared_says_why() {
    let (manifest, records) = two(&HELD[..4]);
    let few = &compared(&manifest, &records)[0];
    assert_eq!((few.verdict, few.p_t), (Compared::TooFewUnits, None));

    let (manifest, mut records) = two(&HIGHER);
    let is_chained = |record: &&mut Record| record.case.strategy == "chained";
    retain(&mut records, 3_400);
    let sizes = &compared(&manifest, &records)[0];
    assert_eq!(
        (sizes.verdict, sizes.low, sizes.p_t),
        (Compared::SizesDiffer, None, None)
    );
    assert!(
        sizes
            .reason
            .as_ref()
            .unwrap()
            .contains("3400 tokens on average against 3000"),
        "{sizes:?}"
    );

    records
        .iter_mut()
        .filter(is_chained)
        .for_each(|record| record.compactions.clear());
    let idle = &compared(&manifest, &records)[0];
    assert_eq!(
        (idle.verdict, idle.difference, idle.p_holm),
        (Compared::DidNotTrigger, None, None)
    );

    records.iter_mut().filter(is_chained).for_each(|record| {
        record.compactions = vec![compaction(Stages::default(), 3_000, Vec::new())];
        record.observations.clear();
    });
    assert_eq!(
        compared(&manifest, &records)[0].verdict,
        Compared::Undefined
    );
}

#[test]
fn raw_recall_stands_in_where_chance_is_unknown_and_says_so() {
    let (manifest, mut records) = two(&HELD);
    records
        .iter_mut()
        .for_each(|record| record.observations[0].chance.clear());
    let made = &compared(&manifest, &records)[0];
    assert_eq!(made.metric, "context_recall");
    assert!(
        made.reason.as_ref().unwrap().contains("chance is in it"),
        "{made:?}"
    );
}

#[test]
fn units_of_one_side_alone_do_not_count() {
    let (manifest, mut records) = two(&HELD);
    records.retain(|record| record.case.strategy != "chained" || record.case.group != "g0");
    assert_eq!(compared(&manifest, &records)[0].n, 7);
}

#[test]
fn more_in_fewer_tokens_dominates() {
    for (held, tokens, verdict, why) in [
        (HIGHER, 2_600, Compared::Dominates, "its recall is higher"),
        (
            ALIKE,
            2_600,
            Compared::Dominates,
            "its recall is not lower by .05",
        ),
        (HELD, 3_400, Compared::Dominated, "its recall is lower"),
        (
            ALIKE,
            3_400,
            Compared::Dominated,
            "its recall is not higher by .05",
        ),
        // Less in less, and more in more.
        (
            HELD,
            2_600,
            Compared::SizesDiffer,
            "retains 2600 tokens on average against 3000",
        ),
        (
            HIGHER,
            3_400,
            Compared::SizesDiffer,
            "retains 3400 tokens on average against 3000",
        ),
        // Within a tenth, sizes are one size.
        (HIGHER, 2_750, Compared::SupportedDifference, ""),
        (ALIKE, 2_750, Compared::Equivalent, ""),
    ] {
        let (manifest, mut records) = two(&held);
        retain(&mut records, tokens);
        let summary = summarize(&manifest, &records, &prices());
        let made = &summary.groups[0].comparisons[0];
        assert_eq!(made.verdict, verdict, "{held:?} in {tokens}: {made:?}");
        assert!(
            made.reason.as_deref().unwrap_or_default().contains(why),
            "{made:?}"
        );
        let text =
            |manifest: &Manifest| table(&summarize(manifest, &records, &prices()), &Screen::WHOLE);
        let line = |text: String| {
            text.lines()
                .find(|line| line.starts_with("chained, values kept"))
                .unwrap()
                .to_owned()
        };
        let [mock, model] = [&manifest, &of_model(&manifest)].map(|manifest| line(text(manifest)));
        assert!(model.ends_with(verdict.name()), "{model}");
        // The interval stays; what it shows of a mock is not a verdict.
        let is_shown = mock.ends_with(verdict.name());
        assert_eq!(is_shown, verdict == Compared::SizesDiffer, "{mock}");
        assert!(
            model.starts_with(mock.trim_end_matches(verdict.name()).trim_end()),
            "{mock}\n{model}"
        );
        assert_eq!(made.p_margin.is_some(), verdict != Compared::SizesDiffer);
    }
}

#[test]
fn what_fails_dominates_nothing_and_has_no_numbers() {
    let (manifest, mut records) = two(&HIGHER.map(|held| held + 30));
    retain(&mut records, 2_000);
    for record in records
        .iter_mut()
        .filter(|record| record.case.strategy == "chained")
        .take(4)
    {
        let mut failed = compaction(Stages::default(), 0, Vec::new());
        failed.event.outcome = Outcome::Failed(FailReason::Call("down".to_owned()));
        record.compactions.push(failed);
    }
    let made = &compared(&manifest, &records)[0];
    assert_eq!(
        (made.verdict, made.difference, made.p_t),
        (Compared::FailsTooOften, None, None)
    );
    assert!(
        made.reason
            .as_ref()
            .unwrap()
            .contains("25.0 % of the compactions that were due failed"),
        "{made:?}"
    );
    let text = table(&summarize(&manifest, &records, &prices()), &Screen::WHOLE);
    assert!(
        text.contains("chained*")
            && text.contains("* not compared: over 5 % of due compactions failed"),
        "{text}"
    );
    // One that never succeeds did not stay idle.
    for record in records
        .iter_mut()
        .filter(|record| record.case.strategy == "chained")
    {
        let mut failed = compaction(Stages::default(), 0, Vec::new());
        failed.event.outcome = Outcome::Failed(FailReason::Call("down".to_owned()));
        record.compactions = vec![failed];
    }
    assert_eq!(
        compared(&manifest, &records)[0].verdict,
        Compared::FailsTooOften
    );
}

/// As a model does that answers "I don't know", or takes the transcript for the form of its reply.
#[test]
fn a_summarizer_that_wrote_no_fact_is_compared_with_nothing_and_fails_a_check() {
    let (manifest, mut records) = two(&HIGHER.map(|held| held + 30));
    for record in &mut records {
        let written = u32::from(record.case.strategy != "chained");
        let stages = Stages {
            left: 400,
            reached: 400,
            written,
            ..Stages::default()
        };
        record.compactions.push(compaction(stages, 0, Vec::new()));
    }
    let made = &compared(&manifest, &records)[0];
    assert_eq!(
        (made.verdict, made.difference),
        (Compared::NotUnderstood, None)
    );
    let summary = summarize(&manifest, &records, &prices());
    let text = table(&summary, &Screen::WHOLE);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for shown in [
        "chained‡",
        "‡ not compared",
        "did not understand this prompt",
    ] {
        assert!(text.contains(shown), "{text}");
    }
    let of = |name: &str| {
        let checks = summary.groups.iter().flat_map(|group| &group.checks);
        let mut checks = checks.filter(|check| check.name.contains(name));
        checks.next().and_then(|check| check.passed)
    };
    assert_eq!(of("summarizers write some"), Some(false));
}

/// The ends of an interval as it is printed, with 0 written as it is read.
fn interval(text: &str, strategy: &str) -> Option<(f64, f64)> {
    let line = text
        .lines()
        .find(|line| line.starts_with(&format!("{strategy}, values kept")))?;
    let (low, high) = line
        .split_once('[')?
        .1
        .split_once(']')?
        .0
        .split_once(", ")?;
    Some((low.parse().unwrap(), high.parse().unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the units and sizes are, an interval, in numbers and as printed, says no more than
    /// its verdict.
    #[test]
    fn no_interval_contradicts_its_verdict(
        held in prop::collection::vec([48_usize..53, 40_usize..62, 20_usize..90], 3..18),
        sizes in [2_500_u32..3_500, 2_500_u32..3_500, 2_500_u32..3_500],
    ) {
        let names = ["chained", "handoff", "progressive"];
        let others = (0..held.len()).map(|at| talk("summarize", at, 50));
        let mut records: Vec<_> = others.collect();
        for (place, name) in names.into_iter().enumerate() {
            for (at, held) in held.iter().enumerate() {
                let mut made = talk(name, at, held[place]);
                made.compactions = vec![compaction(Stages::default(), sizes[place], Vec::new())];
                records.push(made);
            }
        }
        let manifest = manifest(&["summarize", "chained", "handoff", "progressive"], records.len(), held.len());
        let summary = summarize(&manifest, &records, &prices());
        let text = table(&summary, &Screen::WHOLE);
        for made in &summary.groups[0].comparisons {
            let ends = [made.low.zip(made.high), interval(&text, &made.strategy)];
            prop_assert_eq!(ends[0].is_some(), ends[1].is_some());
            for (low, high) in ends.into_iter().flatten() {
                let (holds_zero, told) = (low <= 0.0 && high >= 0.0, format!("{made:?}\n{text}"));
                let is_smaller_no_worse = |sign: f64| (sign * low).min(sign * high) >= -0.05;
                let fits = match made.verdict {
                    Compared::SupportedDifference => !holds_zero,
                    Compared::NoSupportedDifference | Compared::TooFewUnits => holds_zero,
                    Compared::Equivalent => holds_zero && low >= -0.05 && high <= 0.05,
                    Compared::Dominates => low > 0.0 || (holds_zero && is_smaller_no_worse(1.0)),
                    Compared::Dominated => high < 0.0 || (holds_zero && is_smaller_no_worse(-1.0)),
                    _ => false,
                };
                prop_assert!(fits, "{}", told);
            }
        }
    }
}

/// `chained` and, compared with it, its published form and a changed row: facts held of 100 in each
/// of eight units, at a size.
fn paired(sizes: &[(u32, [(usize, u32); 3])]) -> (Manifest, Vec<Record>) {
    let names = [
        ("chained", Family::Reference),
        ("chained-faithful", Family::Faithful),
        ("chained[task=faithful]", Family::Reference),
    ];
    let mut records = Vec::new();
    for (budget, forms) in sizes {
        for ((name, family), (held, tokens)) in names.iter().zip(forms) {
            records.extend((0..8).map(|at| {
                let mut made = talk(name, at, held + at % 2);
                (made.case.family, made.case.budget.retained) = (*family, Some(*budget));
                made.key.push_str(&budget.to_string());
                made.compactions = vec![compaction(Stages::default(), *tokens, Vec::new())];
                made
            }));
        }
    }
    let mut made = manifest(&names.map(|(name, _)| name), records.len(), 8);
    made.retained = sizes[0].0;
    made.sweep = sizes[1..].iter().map(|(budget, _)| *budget).collect();
    made.pairs = names[1..]
        .iter()
        .map(|(name, _)| ((*name).to_owned(), "chained".to_owned()))
        .collect();
    (made, records)
}

#[test]
fn each_form_is_compared_with_its_own_plain_form() {
    let (manifest, mut records) = paired(&[(3_600, [(50, 3_000), (20, 3_000), (40, 3_000)])]);
    records.extend((0..8).map(|at| talk("summarize", at, 30 + at)));
    let found = compared(&manifest, &records);
    let pairs = found
        .iter()
        .map(|made| (made.strategy.as_str(), made.reference.as_str()))
        .collect::<Vec<_>>();
    let expected = [
        ("chained[task=faithful]", "chained"),
        ("summarize", "chained"),
        ("chained-faithful", "chained"),
    ];
    assert_eq!(
        pairs, expected,
        "what has no pair is compared with the run's reference"
    );
    let text = table(&summarize(&manifest, &records, &prices()), &Screen::WHOLE);
    assert!(
        text.contains("minus chained, paired by conversation"),
        "{text}"
    );
}

#[test]
fn published_forms_and_switches_are_two_families_of_tests() {
    let (manifest, mut records) = paired(&[(3_600, [(50, 3_000), (20, 3_000), (40, 3_000)])]);
    let mut more = records
        .iter()
        .filter(|record| record.case.strategy.contains('['))
        .cloned()
        .collect::<Vec<_>>();
    for record in &mut more {
        record.case.strategy = "chained[unmarked=faithful]".to_owned();
        record.key.push('2');
    }
    records.extend(more);
    let of = |manifest: &Manifest| {
        let found = compared(manifest, &records);
        let p = |name: &str| {
            found
                .iter()
                .find(|made| made.strategy == name)
                .unwrap()
                .p_holm
                .unwrap()
        };
        [p("chained-faithful"), p("chained[task=faithful]")]
    };
    let alone = 2.0 / 256.0;
    let [form, switch] = of(&manifest);
    assert!(
        (form - alone).abs() < 1e-9 && (switch - 2.0 * alone).abs() < 1e-9,
        "{form} {switch}"
    );
}

#[test]
fn forms_of_other_sizes_are_compared_at_one() {
    let at = |published: u32| {
        let large = (3_600, [(50, 3_000), (20, published), (40, 3_000)]);
        let (manifest, records) = paired(&[
            large,
            (1_200, [(10, 1_000), (10, published - 300), (10, 1_000)]),
        ]);
        let summary = summarize(&manifest, &records, &prices());
        let text = table(&summary, &Screen::WHOLE);
        assert!(
            text.contains("minus chained, at the smaller of both sizes"),
            "{text}"
        );
        summary.sweep.unwrap().comparisons
    };
    let found = at(2_000);
    let form = found
        .iter()
        .find(|made| made.strategy == "chained-faithful")
        .unwrap();
    assert_eq!(form.tokens, Some(2_000.0));
    near(form.difference, 0.20 - 0.30, 1e-9);
    assert_eq!(form.verdict, Compared::SupportedDifference);
    let switch = found
        .iter()
        .find(|made| made.strategy.contains('['))
        .unwrap();
    assert_eq!(switch.tokens, Some(3_000.0));
    near(switch.difference, -0.10, 1e-9);

    let found = at(800);
    let form = found
        .iter()
        .find(|made| made.strategy == "chained-faithful")
        .unwrap();
    assert_eq!(
        (form.verdict, form.difference),
        (Compared::SizesDiffer, None),
        "nothing beyond the measured sizes"
    );
    let reason = form.reason.as_deref().unwrap();
    assert!(
        reason.contains("`chained` was measured at 1,000 to 3,000 tokens and not at 800"),
        "{reason}"
    );
    let near_it = at(950);
    let form = near_it
        .iter()
        .find(|made| made.strategy == "chained-faithful")
        .unwrap();
    near(form.difference, 0.20 - 0.10, 1e-9);
}
