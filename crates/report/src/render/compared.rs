//! Comparisons as rows: for the page, the terminal and `comparisons.csv`.

use compactometer_formats::mock_name::has_mock;
use compactometer_formats::summary::{Compared, Comparison, Group};
use compactometer_text::code::code;
use serde::Serialize;

use super::reasons::by_reason;
use super::rows::{header, number};
use crate::document::{Table, TableRow};
use crate::metrics::MetricUnit;
use crate::summary::{common_reference, difference};
use crate::vocabulary;

const COLUMNS: [&str; 9] = [
    "strategy",
    "metric",
    "difference",
    "p (t)",
    "p (sign flip)",
    "p (Holm)",
    "smallest found",
    "conversations",
    "verdict",
];

/// What stands for the reference where each strategy has its own.
pub(super) const OWN_REFERENCE: &str = "its reference";

/// The comparisons of a page.
#[derive(Serialize)]
pub(super) struct ComparedTable {
    /// What is compared with what, and how.
    pub(super) note: String,
    #[serde(rename = "html")]
    pub(super) table: Table,
    /// Why there are no differences.
    pub(super) reasons: Vec<String>,
}

/// The comparisons of a group; nothing if there are none.
pub(super) fn table(group: &Group) -> Option<ComparedTable> {
    let is_mock = has_mock(&group.summarizer, group.target.as_deref());
    let rows = group.comparisons.iter();
    let rows = rows.map(|made| TableRow::new(cells(made, is_mock)));
    let reasons = by_reason(
        group
            .comparisons
            .iter()
            .map(|made| (made.reason.as_ref(), made.strategy.as_str())),
    );
    let reasons = reasons
        .into_iter()
        .map(|(reason, names)| format!("{}: {reason}", names.join(", ")));
    let table = Table::of_text(COLUMNS).numbers(2..8).of_class("sorts");
    Some(ComparedTable {
        note: note(group)?,
        table: table.with_rows(rows),
        reasons: reasons.collect(),
    })
}

/// The note above the rows; nothing if there are none.
fn note(group: &Group) -> Option<String> {
    group.comparisons.first()?;
    let mock = if has_mock(&group.summarizer, group.target.as_deref()) {
        " Mechanism, not model: the mock wrote the text, so there is no verdict."
    } else {
        ""
    };
    Some(format!(
        "Each strategy minus {}, paired by conversation; 95 % t intervals, wider on the longer tail and extended to 0 where no difference is \
         supported; p two-sided, by Holm, {} tests with a result; the smallest true difference that so many conversations find with \
         probability .80 (before Holm). A strategy dominates another if it retains fewer tokens by more than a tenth and its \
         recall is higher, or not lower by .05. A missing difference does not prove equality.{mock}",
        common_reference(&group.comparisons).map_or_else(|| OWN_REFERENCE.to_owned(), code),
        tests(group),
    ))
}

fn tests(group: &Group) -> usize {
    let tested = group.comparisons.iter();
    tested.filter(|made| made.p_holm.is_some()).count()
}

fn cells(made: &Comparison, is_mock: bool) -> [String; 9] {
    [
        made.strategy.clone(),
        vocabulary::name(&made.metric),
        difference(made),
        p(made.p_t),
        p(made.p_sign_flip),
        p(made.p_holm),
        share(made.detectable),
        made.n.to_string(),
        if is_mock {
            without_verdict(made)
        } else {
            made.verdict.name()
        }
        .to_owned(),
    ]
}

/// What is shown in place of a verdict where a mock wrote the text: why there is no comparison, if
/// that is so.
pub(super) fn without_verdict(made: &Comparison) -> &'static str {
    match made.verdict {
        Compared::SupportedDifference
        | Compared::Dominates
        | Compared::Dominated
        | Compared::Equivalent
        | Compared::NoSupportedDifference => "",
        other => other.name(),
    }
}

/// A p as people read it.
pub(crate) fn p(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| {
        if value < 0.001 {
            "< .001".to_owned()
        } else {
            format!("{value:.3}")
        }
    })
}

/// A share, or a dash.
pub(crate) fn share(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| MetricUnit::Share.show(value))
}

/// Rows of `comparisons.csv`.
pub(super) fn rows(groups: &[Group]) -> Vec<Vec<String>> {
    const HEADER: &str = "protocol,strategy,reference,metric,difference,low,high,sd,p_t,p_sign_flip,p_holm,p_margin,detectable,icc,\
                          design_effect,n,verdict,reason";
    let mut rows = vec![header(HEADER)];
    for (group, made) in groups
        .iter()
        .flat_map(|group| group.comparisons.iter().map(move |made| (group, made)))
    {
        let mut row = [
            group.protocol.name(),
            &made.strategy,
            &made.reference,
            &made.metric,
        ]
        .map(str::to_owned)
        .to_vec();
        row.extend(numbers(made).map(number));
        row.extend([
            made.n.to_string(),
            made.verdict.name().to_owned(),
            made.reason.clone().unwrap_or_default(),
        ]);
        rows.push(row);
    }
    rows
}

fn numbers(made: &Comparison) -> [Option<f64>; 11] {
    [
        made.difference,
        made.low,
        made.high,
        made.sd,
        made.p_t,
        made.p_sign_flip,
        made.p_holm,
        made.p_margin,
        made.detectable,
        made.icc,
        made.design_effect,
    ]
}
