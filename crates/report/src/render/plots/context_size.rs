//! The size of the context over one conversation.

use compactometer_formats::protocol::LimitsOf;
use compactometer_formats::record::Record;
use compactometer_formats::summary::Group;
use compactometer_text::code::code;

use super::axes::{Axes, LINE, Scale, beside_legend, with_legend};
use super::colours::BLACK;
use super::figure::{Anchor, Figure, RowStyle};
use super::{Plot, WIDTH, header, most_compacted, styled, styles};
use crate::data::ProtocolRun;
use crate::numbers::grouped;
use crate::summary::spec_of;

const HEIGHT: f64 = 420.0;

pub(super) fn plot(run: &ProtocolRun, group: &Group) -> Plot {
    let all = records(run, group);
    let records = chosen(&all);
    let scenario = records
        .first()
        .map_or("", |(_, record)| record.case.scenario.as_str());
    let mut rows = vec![header(&[
        "scenario",
        "strategy",
        "turn",
        "message",
        "input_tokens",
    ])];
    for (_, record) in &all {
        for (at, turn) in record.turns.iter().enumerate() {
            let numbers = [at + 1, turn.message.0 as usize, turn.input as usize]
                .map(|number| number.to_string());
            let mut row = vec![scenario.to_owned(), record.case.strategy.clone()];
            row.extend(numbers);
            rows.push(row);
        }
    }
    Plot {
        name: "context_by_turn".to_owned(),
        title: "Context over one conversation",
        caption: format!(
            "Input tokens of the agent's turns in {}, the conversation with the most compactions: tool definitions and view. A \
             drop is a compaction.{}{}{}",
            code(scenario),
            if limits(run).is_empty() {
                " Each strategy has its own context window and trigger, so none is drawn."
            } else {
                ""
            },
            among(&all),
            beyond(run, &records)
        ),
        figure: draw(run.manifest.window, &limits(run), &records),
        rows,
    }
}

/// The records of strategies under test.
fn tested<'r>(records: &[(RowStyle, &'r Record)]) -> impl Iterator<Item = (RowStyle, &'r Record)> {
    records
        .iter()
        .copied()
        .filter(|(_, record)| record.case.family.is_tested())
}

/// Those of the records under test that send the fewest and the most tokens; without any, all.
fn chosen<'r>(records: &[(RowStyle, &'r Record)]) -> Vec<(RowStyle, &'r Record)> {
    let sent = |(_, record): &(RowStyle, &Record)| {
        let turns = record.turns.iter();
        turns.map(|turn| u64::from(turn.input)).sum::<u64>()
    };
    let (least, most) = (
        tested(records).min_by_key(sent),
        tested(records).max_by_key(sent),
    );
    match (least, most) {
        (Some(least), Some(most)) if least.1.case.strategy != most.1.case.strategy => {
            vec![least, most]
        }
        (Some(only), _) => vec![only],
        _ => records.to_vec(),
    }
}

/// The picture of one conversation: what each of these records, all of one protocol, made of it.
pub(crate) fn of_conversation(records: &[&Record]) -> Figure {
    let styles = styles(records.iter().map(|record| {
        let spec = spec_of(&record.case.strategy);
        let approach = spec.and_then(|spec| spec.approach);
        (record.case.family, approach.map(|approach| approach.name()))
    }));
    let records = styles
        .into_iter()
        .zip(records.iter().copied())
        .collect::<Vec<_>>();
    let window = records
        .iter()
        .map(|(_, record)| record.case.budget.window)
        .max()
        .unwrap_or_default();
    let of_all = records
        .first()
        .filter(|(_, record)| record.case.protocol.has_limits_of_run());
    let limits = of_all.map_or(Vec::new(), |(_, record)| {
        vec![
            ("context window", record.case.budget.window),
            ("trigger", record.case.budget.trigger),
        ]
    });
    draw(window, &limits, &records)
}

/// Which rows are drawn, where there are more.
fn among(records: &[(RowStyle, &Record)]) -> String {
    match tested(records).count() {
        0..=2 => String::new(),
        all => format!(
            " Of {all} rows under test, these two send the fewest and the most tokens; the data has every row."
        ),
    }
}

/// Which lines leave the picture, and where they end.
fn beyond(run: &ProtocolRun, records: &[(RowStyle, &Record)]) -> String {
    let top = Scale::covering([highest(run.manifest.window, records)]).max;
    let ends = records.iter().filter_map(|(_, record)| {
        let last = record.turns.last()?;
        let is_cut = visible(record, top).count() < record.turns.len();
        is_cut.then(|| {
            format!(
                " {} leaves the picture and ends at {} tokens.",
                code(&record.case.strategy),
                grouped(f64::from(last.input))
            )
        })
    });
    ends.collect()
}

/// The records of the conversation that is shown, in the group's order.
fn records<'r>(run: &ProtocolRun<'r>, group: &Group) -> Vec<(RowStyle, &'r Record)> {
    let shown = most_compacted(run);
    let of = |name: &str| {
        shown
            .iter()
            .find(|record| record.case.strategy == name)
            .copied()
    };
    styled(group)
        .into_iter()
        .filter_map(|(style, strategy)| Some((style, of(&strategy.name)?)))
        .collect()
}

/// The picture ends at this many windows, unless a strategy under test goes higher: `full` would
/// flatten the rest.
const WINDOWS: f64 = 1.1;

fn draw(window: u32, limits: &[(&str, u32)], records: &[(RowStyle, &Record)]) -> Figure {
    let height = with_legend(HEIGHT, records.len());
    let mut figure = Figure::new(WIDTH, height);
    let most = records
        .iter()
        .map(|(_, record)| record.turns.len())
        .max()
        .unwrap_or(0);
    let names = records
        .iter()
        .map(|(_, record)| record.case.strategy.as_str());
    let y = Scale::covering([highest(window, records)]);
    let axes = Axes {
        left: 100.0,
        ..beside_legend(names, (0.0, height), Scale::counting(most), y)
    };
    axes.draw(&mut figure, "turn of the agent", "input tokens");
    // The first strategies lie on top.
    for (style, record) in records.iter().rev() {
        let line: Vec<_> = visible(record, axes.y.max)
            .map(|(turn, input)| axes.at(turn, input))
            .collect();
        line.last()
            .into_iter()
            .for_each(|end| figure.symbol(*end, *style));
        figure.line(line, style.colour, 1.5, style.dash);
    }
    let mut above = f64::NEG_INFINITY;
    for (name, limit) in limits {
        let from = axes.at(axes.x.min, f64::from(*limit));
        figure.line(vec![from, (axes.right, from.1)], BLACK, 1.0, &[2.0, 3.0]);
        // Under its line where another is too close above.
        let label = if from.1 - above > LINE {
            from.1 - 9.0
        } else {
            from.1 + 10.0
        };
        figure.text((axes.left + 6.0, label), *name, Anchor::Start);
        above = from.1;
    }
    if most == 0 {
        axes.say_empty(&mut figure, "the agent took no turn in this conversation");
    }
    let entries: Vec<_> = records
        .iter()
        .map(|(style, record)| (*style, record.case.strategy.as_str()))
        .collect();
    axes.legend(&mut figure, &entries);
    figure
}

/// The limits that hold for all strategies, the highest first.
fn limits(run: &ProtocolRun) -> Vec<(&'static str, u32)> {
    match run.protocol.limits() {
        LimitsOf::Run => vec![
            ("context window", run.manifest.window),
            ("trigger", run.manifest.trigger),
        ],
        LimitsOf::Strategy | LimitsOf::Recording => Vec::new(),
    }
}

fn highest(window: u32, records: &[(RowStyle, &Record)]) -> f64 {
    let tested = records
        .iter()
        .filter(|(_, record)| record.case.family.is_tested());
    let sizes = tested
        .flat_map(|(_, record)| &record.turns)
        .map(|turn| f64::from(turn.input));
    sizes.fold(f64::from(window) * WINDOWS, f64::max)
}

/// Turn and tokens, up to where the line leaves the picture.
fn visible(record: &Record, top: f64) -> impl Iterator<Item = (f64, f64)> {
    let sizes = record.turns.iter().map(|turn| f64::from(turn.input));
    let points = sizes.enumerate().map(|(at, size)| (at as f64 + 1.0, size));
    points.take_while(move |(_, size)| *size <= top)
}
