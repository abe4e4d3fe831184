//! Recall against size, a curve for each strategy, where several retained budgets were run.

use compactometer_formats::summary::Summary;

use super::axes::Scale;
use super::{Plot, curves};
use crate::render::sweep_points::note;

/// The plot; none if there is only one size.
pub(super) fn plot(summary: &Summary) -> Option<Plot> {
    let sweep = summary
        .sweep
        .as_ref()
        .filter(|sweep| !sweep.sizes.is_empty())?;
    let group = summary
        .groups
        .iter()
        .find(|group| group.protocol.has_limits_of_run())?;
    let curves = curves::collect(group, &sweep.sizes, |point| point.tokens_retained);
    let tokens = curves
        .iter()
        .flat_map(|curve| curve.sound_points())
        .map(|(tokens, _)| tokens);
    let figure = curves::draw(
        sweep,
        &curves,
        "retained tokens after a compaction",
        Scale::covering(tokens),
    );
    Some(Plot {
        name: "recall_by_size".to_owned(),
        title: "Recall over sizes",
        caption: format!(
            "Each strategy at each retained budget, over the mean tokens that its compactions left. Compare \
             strategies at one size, if necessary between two points of a curve. Points are drawn side by side, a little right of their \
             places. A point at which a strategy fails too often is left out, and the strategy is marked. {} {}",
            curves::written_sizes(&sweep.sizes, sweep.retained),
            note(sweep)
        ),
        figure,
        rows: curves::rows(sweep, &curves),
    })
}
