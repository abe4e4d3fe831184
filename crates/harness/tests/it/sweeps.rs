//! Which cases a sweep adds to a plan.

use std::collections::BTreeSet;

use compactometer_engine::budget::Tail;
use compactometer_engine::tokens::Encoding;
use compactometer_formats::protocol::Protocol;
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Plan, PlanError, PlanOptions};
use compactometer_suites::embedded;

fn plan(names: &[&str], change: impl Fn(&mut PlanOptions)) -> Result<Plan, PlanError> {
    let suite = embedded::smoke().unwrap();
    let mut options = PlanOptions {
        entrants: select(names.iter().copied(), []).unwrap(),
        ..PlanOptions::default()
    };
    change(&mut options);
    Plan::new(suite, options, &Encoding::O200k)
}

#[test]
fn a_sweep_comes_after_an_unchanged_plan() {
    let names = ["summarize", "handoff", "full", "random-drop"];
    let plain = plan(&names, |_| {}).unwrap();
    let swept = plan(&names, |options| options.sweep = true).unwrap();
    let keys = |plan: &Plan| {
        plan.cases
            .iter()
            .map(|case| case.key.clone())
            .collect::<Vec<_>>()
    };
    assert!(
        keys(&swept).starts_with(&keys(&plain)),
        "the cases of the run itself are those of a run without a sweep"
    );
    assert_eq!(
        keys(&swept).iter().collect::<BTreeSet<_>>().len(),
        swept.cases.len(),
        "no case is there twice"
    );
    let (own, further) = swept.cases.split_at(plain.cases.len());
    assert!(
        own.iter().all(|case| !swept.is_swept(case))
            && further.iter().all(|case| swept.is_swept(case))
    );

    let groups = |plan: &Plan| {
        plan.sweep
            .places
            .iter()
            .map(|at| plan.suite[*at].scenario.group_id.clone())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        groups(&swept).len(),
        6,
        "one conversation of each of 6 groups"
    );
    let length = |at: &usize| swept.suite[*at].messages.len();
    let longest = swept.sweep.places.iter().map(length).max();
    let others = (0..swept.suite.len())
        .filter(|at| !swept.sweep.places.contains(at))
        .map(|at| length(&at))
        .max();
    assert!(
        longest < others,
        "the shortest conversations: {longest:?} {others:?}"
    );
    let window = f64::from(swept.sizes.window);
    assert_eq!(
        swept.sweep.sizes(),
        [0.4, 0.2, 0.1].map(|share| (window * share) as u32)
    );
    // Three sizes of what is under test, two splits of what has a tail.
    assert_eq!(further.len(), 6 * (3 * 2 + 2));
    for case in further {
        let retained = case.budget().retained.unwrap();
        if let Some(split) = case.split {
            assert_eq!(
                (case.entrant.name.as_str(), retained),
                ("summarize", swept.sizes.retained)
            );
            assert_eq!(
                case.budget().tail,
                Tail::Tokens((f64::from(retained) * split) as u32)
            );
            assert_eq!(
                case.budget().written,
                retained - (f64::from(retained) * split) as u32
            );
        } else {
            assert!(case.entrant.family.is_tested() && swept.sweep.sizes().contains(&retained));
        }
    }
}

#[test]
fn what_adds_no_point_is_left_out() {
    // As much is kept as is written: a share of the sweep is then the strategy's own.
    let own = plan(&["even=summarize:tail=1000:written=1000"], |options| {
        options.sweep = true
    })
    .unwrap();
    let splits = own
        .cases
        .iter()
        .filter_map(|case| case.split)
        .map(f64::to_bits)
        .collect::<BTreeSet<_>>();
    assert_eq!(
        splits,
        BTreeSet::from([0.0_f64.to_bits()]),
        "50 % is its own split already"
    );
    // Sizes that are asked for anyway, and those at or over the trigger.
    let sizes = |change: &dyn Fn(&mut PlanOptions)| {
        let swept = plan(&["summarize"], |options| {
            options.sweep = true;
            change(options);
        });
        swept.map(|plan| (plan.sizes.retained, plan.sweep.sizes()))
    };
    let share = |of: f64| (12_000.0 * of) as u32;
    assert_eq!(
        sizes(&|options| options.smaller_retained = vec![0.2]),
        Ok((share(0.3), vec![share(0.4), share(0.2), share(0.1)]))
    );
    let narrow =
        |options: &mut PlanOptions| (options.shares.trigger, options.shares.retained) = (0.39, 0.2);
    assert_eq!(
        sizes(&narrow).map(|(_, sizes)| sizes.contains(&share(0.4))),
        Ok(false)
    );
    let published =
        |options: &mut PlanOptions| options.protocols = BTreeSet::from([Protocol::Published]);
    assert_eq!(sizes(&published), Err(PlanError::SweepOfPublished));
}
