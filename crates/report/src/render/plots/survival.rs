//! How long what was written lasts, by rounds and by tokens since the last original left.

use compactometer_formats::record::Family;
use compactometer_formats::summary::{Group, MetricValue, StrategySummary};

use super::axes::{Axes, ONE_ROUND, Scale, beside_legend, with_legend};
use super::figure::{Figure, Style};
use super::{Plot, WIDTH, header, number, styled};
use crate::data::{ProtocolRun, StrategyRecords};
use crate::metrics::survival;

/// Of one panel.
const HEIGHT: f64 = 340.0;

pub(super) fn plot(run: &ProtocolRun, group: &Group) -> Plot {
    let lines: Vec<SurvivalLine> = styled(group)
        .into_iter()
        .filter_map(|(style, summary)| SurvivalLine::new(run, summary, style))
        .collect();
    let mut rows = vec![header(&[
        "strategy", "by", "since", "survival", "low", "high", "n",
    ])];
    for line in &lines {
        for (at, found) in line.rounds.iter().enumerate() {
            let mut row = vec![
                line.name.to_owned(),
                "rounds".to_owned(),
                (at + 1).to_string(),
            ];
            row.extend([found.value, found.low, found.high].map(number));
            row.push(found.n.to_string());
            rows.push(row);
        }
        rows.extend(line.tokens.iter().map(|(tokens, share)| {
            let share = crate::stats::nine_digits(*share).to_string();
            let [none, no_low, no_high] = [const { String::new() }; 3];
            vec![
                line.name.to_owned(),
                "tokens".to_owned(),
                tokens.to_string(),
                share,
                none,
                no_low,
                no_high,
            ]
        }));
    }
    Plot {
        name: "survival".to_owned(),
        title: "Survival",
        caption: "The share of facts that the context has held ever since their last original left, by Kaplan-Meier: at 1 the \
                  compaction in which it left. Facts leave the count at the end, at a restatement and at a replacement; each \
                  unit weighs the same. Upright lines are 95 % intervals of strategies under test, whose points lie a little \
                  right of their places; the CSV has them all. Later rounds have fewer conversations, and rounds of under \
                  five are left out where any has more."
            .to_owned(),
        figure: draw(&lines),
        rows,
    }
}

/// One strategy's curves.
struct SurvivalLine<'s> {
    name: &'s str,
    style: Style,
    is_control: bool,
    rounds: Vec<MetricValue>,
    tokens: Vec<(u64, f64)>,
}

impl<'s> SurvivalLine<'s> {
    /// None where no fact's last original left.
    fn new(run: &ProtocolRun, summary: &'s StrategySummary, style: Style) -> Option<Self> {
        let strategy: &StrategyRecords = run.strategy(&summary.name)?;
        let rounds = survival::by_rounds(strategy);
        let tokens = survival::by_tokens(strategy);
        let is_control = summary.family == Family::Control;
        (!rounds.is_empty()).then_some(SurvivalLine {
            name: &summary.name,
            style,
            is_control,
            rounds,
            tokens,
        })
    }
}

/// Fewer units than this make no point, where any round has more.
const FEWEST_UNITS: usize = 5;

fn draw(lines: &[SurvivalLine]) -> Figure {
    let height = with_legend(2.0 * HEIGHT, lines.len()) / 2.0;
    let mut figure = Figure::new(WIDTH, 2.0 * height);
    let axes = |panel: f64, x: Scale| {
        beside_legend(
            lines.iter().map(|line| line.name),
            (panel, height),
            x,
            Scale::covering([1.0]),
        )
    };
    let most = lines
        .iter()
        .flat_map(|line| &line.rounds)
        .map(|found| found.n)
        .max()
        .unwrap_or(0);
    let drawn = |line: &SurvivalLine| {
        line.rounds
            .iter()
            .take_while(|found| found.n >= FEWEST_UNITS.min(most))
            .count()
    };
    let last = lines.iter().map(drawn).max().unwrap_or(0);
    let rounds = axes(0.0, Scale::counting(last).with_room());
    let longest = lines
        .iter()
        .filter_map(|line| line.tokens.last())
        .map(|(tokens, _)| *tokens as f64);
    let tokens = axes(1.0, Scale::covering(longest));
    rounds.draw(
        &mut figure,
        "rounds since the last original left",
        "survival, S",
    );
    tokens.draw(
        &mut figure,
        "tokens since the last original left",
        "survival, S",
    );
    for (place, line) in lines.iter().enumerate() {
        let found = line
            .rounds
            .iter()
            .take(drawn(line))
            .enumerate()
            .map(|(at, found)| ((at + 1) as f64, found));
        if last > 1 {
            let found = found.collect::<Vec<_>>();
            rounds.curve_with_intervals(
                &mut figure,
                &found,
                line.style,
                (!line.is_control).then_some(place),
            );
        }
        // What is all gone at once is a point of the upper panel.
        if line.tokens.last().is_some_and(|(last, _)| *last > 0) {
            figure.line(
                steps(line, &tokens),
                line.style.colour,
                2.0,
                line.style.dash,
            );
        }
    }
    if lines.is_empty() {
        for axes in [&rounds, &tokens] {
            axes.say_empty(&mut figure, "the last original of no fact left");
        }
    } else if last == 1 {
        rounds.say_empty(&mut figure, ONE_ROUND);
    }
    let entries: Vec<_> = lines.iter().map(|line| (line.style, line.name)).collect();
    rounds.legend(&mut figure, &entries);
    figure
}

/// A curve that falls at each length at which something is absent; what is gone at once is its
/// start.
fn steps(line: &SurvivalLine, axes: &Axes) -> Vec<(f64, f64)> {
    let mut share = line
        .tokens
        .first()
        .filter(|(tokens, _)| *tokens == 0)
        .map_or(1.0, |(_, share)| *share);
    let mut points = vec![axes.at(0.0, share)];
    for (tokens, next) in &line.tokens {
        points.push(axes.at(*tokens as f64, share));
        points.push(axes.at(*tokens as f64, *next));
        share = *next;
    }
    points
}
