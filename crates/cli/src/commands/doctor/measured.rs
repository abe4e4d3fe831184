//! Whether a run would measure anything, by the same rules as `compare`.

use compactometer_formats::protocol::{LimitsOf, Protocol};
use compactometer_harness::plan::{Plan, Prospects};
use compactometer_report::FEWEST_TO_COMPARE;

use super::DoctorCheck;
use crate::commands::compare::NO_FACT;

/// What the report would not be able to show; one line if there is nothing of the kind.
pub(super) fn checks(plan: &Plan) -> Vec<DoctorCheck> {
    let prospects = Prospects::new(plan);
    let mut checks = Vec::new();
    if prospects.facts == 0 {
        checks.push(DoctorCheck::warning("facts", NO_FACT));
    } else {
        checks.extend(idle(&prospects));
        checks.extend(few_groups(&prospects));
    }
    if prospects.is_cramped {
        checks.push(DoctorCheck::warning(
            "window",
            "a compaction may leave so few tokens that no summary says anything; choose a larger `--window` or `--retain`",
        ));
    }
    if prospects.without_facts > 0 {
        checks.push(DoctorCheck::warning(
            "questions",
            format!(
                "{} questions name no fact, so their answers are compared with the words of the right answer; name the facts in \
                 `fact_ids`, or add `--judge MODEL` for a second opinion",
                prospects.without_facts
            ),
        ));
    }
    if checks.is_empty() {
        checks.push(DoctorCheck::ok(
            "measured",
            format!(
                "{} facts, {} independent conversations with distant ones",
                prospects.facts, prospects.groups
            ),
        ));
    }
    checks
}

fn idle(prospects: &Prospects) -> impl Iterator<Item = DoctorCheck> {
    Protocol::ALL.iter().filter_map(|row| {
        let protocol = row.protocol;
        let names = prospects.idle.iter().filter(|(of, _)| *of == protocol).map(|(_, name)| name.as_str());
        let names = names.collect::<Vec<_>>();
        let remedy = match row.limits {
            LimitsOf::Run | LimitsOf::Recording => prospects.remedy(),
            LimitsOf::Strategy => "a smaller `--scale` would do; the report names one for each strategy".to_owned(),
        };
        (!names.is_empty()).then(|| {
            DoctorCheck::warning(
                "trigger",
                format!(
                    "under the {} protocol no conversation is long enough to trigger {} (the longest request has {} tokens); {remedy}",
                    row.name,
                    names.join(", "),
                    prospects.longest
                ),
            )
        })
    })
}

fn few_groups(prospects: &Prospects) -> Option<DoctorCheck> {
    let groups = prospects.groups;
    (groups < FEWEST_TO_COMPARE).then(|| {
        DoctorCheck::warning(
            "groups",
            format!(
                "the number of independent conversations with facts distant enough to be looked for is {groups}, and under {FEWEST_TO_COMPARE} no difference between \
                 strategies can be supported; import or generate more, or choose a smaller `--window`"
            ),
        )
    })
}
