//! How long what was written lasts, by rounds and by tokens since the last original left.

use compactometer_formats::summary::{Group, StrategySummary};

use super::axes::{Axes, Scale, beside_legend};
use super::figure::{Figure, Style};
use super::{Plot, WIDTH, header, styled};
use crate::data::{ProtocolRun, StrategyRecords};
use crate::metrics::{survival_by_rounds, survival_by_tokens};

/// Of one panel.
const HEIGHT: f64 = 340.0;

pub(super) fn plot(run: &ProtocolRun, group: &Group) -> Plot {
    let lines: Vec<SurvivalLine> =
        styled(group).into_iter().filter_map(|(style, summary)| SurvivalLine::of(run, summary, style)).collect();
    let mut rows = vec![header(&["strategy", "by", "since", "survival", "n"])];
    for line in &lines {
        for (at, (share, units)) in line.rounds.iter().enumerate() {
            rows.push(row(line, "rounds", (at + 1) as u64, *share, units.to_string()));
        }
        rows.extend(line.tokens.iter().map(|(tokens, share)| row(line, "tokens", *tokens, *share, String::new())));
    }
    Plot {
        name: "survival".to_owned(),
        title: "Survival",
        caption: "The share of facts that the context has held ever since their last original left, by Kaplan-Meier: at 1 the \
                  compaction in which it left. Facts leave the count at the end, at a restatement and at a replacement; each \
                  unit weighs the same. Later rounds stand on fewer conversations: the CSV holds n."
            .to_owned(),
        figure: draw(&lines),
        rows,
    }
}

/// One strategy's curves.
struct SurvivalLine<'s> {
    name: &'s str,
    style: Style,
    rounds: Vec<(f64, usize)>,
    tokens: Vec<(u64, f64)>,
}

impl<'s> SurvivalLine<'s> {
    /// None where no fact's last original left.
    fn of(run: &ProtocolRun, summary: &'s StrategySummary, style: Style) -> Option<Self> {
        let strategy: &StrategyRecords = run.strategy(&summary.name)?;
        let rounds = survival_by_rounds(strategy);
        let tokens = survival_by_tokens(strategy);
        (!rounds.is_empty()).then_some(SurvivalLine { name: &summary.name, style, rounds, tokens })
    }
}

fn row(line: &SurvivalLine, by: &str, since: u64, share: f64, units: String) -> Vec<String> {
    let share = crate::stats::nine_digits(share).to_string();
    vec![line.name.to_owned(), by.to_owned(), since.to_string(), share, units]
}

/// Fewer units than this make no point, where any round has more.
const FEWEST_UNITS: usize = 5;

fn draw(lines: &[SurvivalLine]) -> Figure {
    let mut figure = Figure::new(WIDTH, 2.0 * HEIGHT);
    let axes = |panel: f64, x: Scale| {
        beside_legend(lines.iter().map(|line| line.name), (panel, HEIGHT), x, Scale::covering([1.0]))
    };
    let most = lines.iter().flat_map(|line| &line.rounds).map(|(_, units)| *units).max().unwrap_or(0);
    let drawn =
        |line: &SurvivalLine| line.rounds.iter().take_while(|(_, units)| *units >= FEWEST_UNITS.min(most)).count();
    let rounds = axes(0.0, Scale::counting(lines.iter().map(drawn).max().unwrap_or(0)));
    let longest = lines.iter().filter_map(|line| line.tokens.last()).map(|(tokens, _)| *tokens as f64);
    let tokens = axes(1.0, Scale::covering(longest));
    rounds.draw(&mut figure, "rounds since the last original left", "survival, S");
    tokens.draw(&mut figure, "tokens since the last original left", "survival, S");
    for line in lines {
        let places = line.rounds.iter().take(drawn(line)).enumerate();
        let points: Vec<_> = places.map(|(at, (share, _))| ((at + 1) as f64, *share)).collect();
        rounds.curve(&mut figure, &points, line.style);
        // What is all gone at once is a point of the upper panel.
        if line.tokens.last().is_some_and(|(last, _)| *last > 0) {
            figure.line(steps(line, &tokens), line.style.colour, 2.0, line.style.dash);
        }
    }
    if lines.is_empty() {
        for axes in [&rounds, &tokens] {
            axes.say_empty(&mut figure, "the last original of no fact left");
        }
    }
    let entries: Vec<_> = lines.iter().map(|line| (line.style, line.name)).collect();
    rounds.legend(&mut figure, &entries);
    figure
}

/// A curve that falls at each length at which something is absent; what is gone at once is its start.
fn steps(line: &SurvivalLine, axes: &Axes) -> Vec<(f64, f64)> {
    let mut share = line.tokens.first().filter(|(tokens, _)| *tokens == 0).map_or(1.0, |(_, share)| *share);
    let mut points = vec![axes.at(0.0, share)];
    for (tokens, next) in &line.tokens {
        points.push(axes.at(*tokens as f64, share));
        points.push(axes.at(*tokens as f64, *next));
        share = *next;
    }
    points
}
