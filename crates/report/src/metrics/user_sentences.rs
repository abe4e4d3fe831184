//! What contexts still say of what the user said.

use compactometer_formats::record::{ObservationKind, SaidCount};

use super::{Metric, MetricsSection};
use crate::data::UnitRecords;
use crate::metrics::value::{over_units, ratio};

pub(crate) const SAID_RECALL: Metric = Metric {
    id: "said_recall",
    definition: "sentences of the user that the context says / sentences at an observation point that were last said as long before as the facts of \
                 context_recall and not taken back, by conversation; the same sentences for every row",
    compute: |_, strategy| over_units(strategy, NONE_OLD, |unit| share_said(unit, 0..=MOST)),
    ..Metric::share(MetricsSection::Recall, "What the user said")
};

pub(crate) const SAID_RECALL_1: Metric = Metric {
    id: "said_recall_1",
    definition: "as said_recall, over the sentences that one compaction of the row followed",
    compute: |_, strategy| over_units(strategy, NONE_FOLLOWED, |unit| share_said(unit, 1..=1)),
    ..SAID_RECALL
};

pub(crate) const SAID_RECALL_2: Metric = Metric {
    id: "said_recall_2",
    definition: "as said_recall, over those that two followed",
    compute: |_, strategy| over_units(strategy, NONE_FOLLOWED, |unit| share_said(unit, 2..=2)),
    ..SAID_RECALL
};

pub(crate) const SAID_RECALL_3: Metric = Metric {
    id: "said_recall_3",
    definition: "as said_recall, over those that three followed",
    compute: |_, strategy| over_units(strategy, NONE_FOLLOWED, |unit| share_said(unit, 3..=3)),
    ..SAID_RECALL
};

const NONE_OLD: &str = "no sentence of the user is old enough at any observation point";
const NONE_FOLLOWED: &str = "so many compactions followed no sentence of the user";
/// The last entry of a list of counts.
const MOST: usize = 4;

/// The share of a unit's sentences, over all points, that contexts say; nothing is said by one that
/// cannot be used.
fn share_said(unit: &UnitRecords, compactions: std::ops::RangeInclusive<usize>) -> Option<f64> {
    let points = unit.records.iter().flat_map(|record| &record.observations);
    let points = points.filter(|point| point.kind == ObservationKind::Point);
    let (mut all, mut held) = (0, 0);
    for point in points {
        let counts = (0..).zip(&point.said);
        for (_, count) in counts.filter(|(number, _)| compactions.contains(number)) {
            let SaidCount {
                all: more,
                held: says,
            } = *count;
            all += more;
            held += if point.unusable.is_none() { says } else { 0 };
        }
    }
    ratio(f64::from(held), f64::from(all))
}
