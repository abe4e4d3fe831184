//! What a conversation costs, by strategy.

use compactometer_formats::summary::{Group, StrategySummary};
use compactometer_text::code::code;
use plotters::style::RGBColor;

use super::bars::{BarRow, Bars};
use super::colours::{BLUE, GREEN, ORANGE, SKY};
use super::{Plot, WIDTH, header, number};
use crate::data::{FULL, ProtocolRun};
use crate::metrics::UNMETERED;
use crate::metrics::cost;
use crate::metrics::cost::{
    BREAK_EVEN_TURNS, COST_SAVING, COST_SAVING_10MIN, COST_USD, COST_USD_10MIN, CostParts,
};
use crate::phrases::row_name;

const SEGMENTS: &[(RGBColor, &str)] = &[
    (BLUE, "agent's input"),
    (SKY, "agent's output"),
    (ORANGE, "compaction calls"),
    (GREEN, "checkpoint calls"),
];

const COLUMNS: [&str; 10] = [
    "strategy",
    "agent_input_usd",
    "agent_output_usd",
    "compaction_usd",
    "checkpoint_usd",
    COST_USD.id,
    COST_USD_10MIN.id,
    COST_SAVING.id,
    COST_SAVING_10MIN.id,
    BREAK_EVEN_TURNS.id,
];

pub(super) fn plot(run: &ProtocolRun, group: &Group) -> Plot {
    let mut rows = vec![header(&COLUMNS)];
    let mut bars = Vec::new();
    let mut full = None;
    for strategy in &group.strategies {
        let found = run.strategy(&strategy.name).filter(|_| !strategy.unmetered);
        let parts = found.and_then(|found| cost::parts(run, found));
        rows.push(row(strategy, parts));
        if strategy.name == FULL {
            full = parts.map(|parts| parts.total());
        }
        let parts = parts.ok_or_else(|| {
            if strategy.unmetered {
                UNMETERED.to_owned()
            } else {
                run.no_price()
            }
        });
        let note = parts
            .as_ref()
            .map_or(String::new(), |parts| note(strategy, parts.total()));
        let parts = parts.map(|parts| {
            vec![
                parts.agent_input,
                parts.agent_output,
                parts.compaction,
                parts.checkpoint,
            ]
        });
        bars.push(BarRow {
            name: row_name(strategy),
            family: strategy.family,
            parts,
            note,
        });
    }
    let mark = full.map(|cost| (cost, "full"));
    let inside = |_: f64| String::new();
    let title = "cost per conversation, US dollars";
    let figure = Bars {
        rows: bars,
        segments: SEGMENTS,
        title,
        reach: 0.0,
        inside,
        mark,
    }
    .draw(WIDTH);
    let of = |model: &str| {
        run.prices
            .row(model)
            .map(|row| format!("{}, {}", code(&row.name), row.date))
    };
    let beside = run
        .manifest
        .target
        .as_ref()
        .and_then(|_| of(&run.manifest.summarizer));
    let beside = beside.map_or(String::new(), |row| {
        format!("; the session's calls at those of {row}")
    });
    let priced = of(run.manifest.target_model());
    let priced = priced.map_or(String::new(), |row| format!(" Prices of {row}{beside}."));
    let caption = format!(
        "Agent's turns, computed from their sizes and the provider's cache rules, and the session's calls, where turns follow \
         each other by 10 s; means over conversations. The dashed line is `full`, with caching too. Beside each bar: its cost, and the \
         turns after which a compaction is paid for.{priced}"
    );
    Plot {
        name: "cost".to_owned(),
        title: "Cost per conversation",
        caption,
        figure,
        rows,
    }
}

fn row(strategy: &StrategySummary, parts: Option<CostParts>) -> Vec<String> {
    let columns = [
        parts.map(|parts| parts.agent_input),
        parts.map(|parts| parts.agent_output),
        parts.map(|parts| parts.compaction),
        parts.map(|parts| parts.checkpoint),
        parts.map(|parts| parts.total()),
        COST_USD_10MIN.value(strategy),
        COST_SAVING.value(strategy),
        COST_SAVING_10MIN.value(strategy),
        BREAK_EVEN_TURNS.value(strategy),
    ];
    std::iter::once(strategy.name.clone())
        .chain(columns.map(number))
        .collect()
}

/// The cost, and after how many turns a compaction is paid for.
fn note(strategy: &StrategySummary, cost: f64) -> String {
    match BREAK_EVEN_TURNS.value(strategy) {
        Some(turns) => format!("{cost:.3}, paid in {turns:.0}"),
        None => format!("{cost:.3}"),
    }
}
