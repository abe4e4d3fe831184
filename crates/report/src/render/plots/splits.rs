//! Recall against the split of one retained budget between the verbatim tail and what a strategy
//! writes.

use compactometer_formats::summary::Summary;

use super::axes::Scale;
use super::{Plot, curves};
use crate::numbers::grouped;
use crate::render::sweep_points::note;

/// The plot; none if no other split was run.
pub(super) fn plot(summary: &Summary) -> Option<Plot> {
    let sweep = summary
        .sweep
        .as_ref()
        .filter(|sweep| !sweep.splits.is_empty())?;
    let group = summary
        .groups
        .iter()
        .find(|group| group.protocol.has_limits_of_run())?;
    let curves = curves::collect(group, &sweep.splits, |point| Some(100.0 * point.split));
    let retained = sweep.retained;
    let title = format!(
        "% of the {} retained tokens that are kept verbatim; the rest may be written",
        grouped(retained.into())
    );
    let shares = curves
        .iter()
        .flat_map(|curve| curve.sound_points())
        .map(|(share, _)| share);
    let figure = curves::draw(sweep, &curves, &title, Scale::covering(shares));
    Some(Plot {
        name: "recall_by_split".to_owned(),
        title: "Recall over the split between tail and summary",
        caption: format!(
            "Each strategy at one retained budget and several shares of it kept verbatim, its own among them (the point farthest \
             right, unless a share of the sweep is larger); one without a tail to choose has one point. Points are \
             drawn side by side, a little right of their places. A point at which a strategy fails too often is left out, and the \
             strategy is marked. {} {}",
            curves::written_sizes(&sweep.splits, retained),
            note(sweep)
        ),
        figure,
        rows: curves::rows(sweep, &curves),
    })
}
