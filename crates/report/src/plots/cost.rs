//! What a conversation costs, by strategy.

use compactometer_schema::summary::Group;
use plotters::style::RGBColor;

use super::bars::{Bars, Row};
use super::{Plot, header, number};
use crate::data::{FULL, Run};
use crate::metrics::cost_parts;

const SEGMENTS: &[(RGBColor, &str)] = &[
    (RGBColor(0x00, 0x72, 0xb2), "agent's input"),
    (RGBColor(0x56, 0xb4, 0xe9), "agent's output"),
    (RGBColor(0xe6, 0x9f, 0x00), "compaction calls"),
];

pub(super) fn plot(run: &Run, group: &Group) -> Plot {
    let mut rows =
        vec![header(&["strategy", "agent_input_usd", "agent_output_usd", "compaction_usd", "cost_usd", "cost_saving"])];
    let mut bars = Vec::new();
    let mut full = None;
    for strategy in &group.strategies {
        let parts = run.strategy(&strategy.name).and_then(|found| cost_parts(run, found));
        let saving = strategy.metrics.get("cost_saving").and_then(|metric| metric.value);
        let columns = [
            parts.map(|parts| parts.agent_input),
            parts.map(|parts| parts.agent_output),
            parts.map(|parts| parts.compaction),
            parts.map(|parts| parts.total()),
            saving,
        ];
        let mut row = vec![strategy.name.clone()];
        row.extend(columns.map(number));
        rows.push(row);
        if strategy.name == FULL {
            full = parts.map(|parts| parts.total());
        }
        let note = parts.map_or(String::new(), |parts| format!("{:.3}", parts.total()));
        let parts = parts
            .map(|parts| vec![parts.agent_input, parts.agent_output, parts.compaction])
            .ok_or_else(|| format!("no price for model `{}`", run.manifest.model));
        bars.push(Row { name: &strategy.name, family: strategy.family, parts, note });
    }
    let mark = full.map(|cost| (cost, "full"));
    let inside = |_: f64| String::new();
    let title = "cost per conversation, US dollars";
    let figure = Bars { rows: bars, segments: SEGMENTS, title, reach: 0.0, inside, mark }.draw();
    let priced = run.prices.row(&run.manifest.model);
    let priced = priced.map_or(String::new(), |row| format!(" Prices of `{}`, {}.", row.name, row.date));
    let caption = format!(
        "Agent's turns, computed from their sizes and the provider's cache rules, and the compaction calls; means over units. \
         The dashed line is `full`, with caching too.{priced}"
    );
    Plot { name: "cost", title: "Cost per conversation", caption, figure, rows }
}
