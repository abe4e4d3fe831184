//! What people read: one set of texts and tables, as HTML and as Markdown.

use compactometer_schema::fate::Fate;
use compactometer_schema::record::Family;
use compactometer_schema::summary::{Group, MetricValue, StrategySummary};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error, HtmlEscape};
use serde::Serialize;

use crate::data::Run;
use crate::metrics::{self, Metric};
use crate::plots::Plot;
use crate::reasons;
use crate::text::{grouped, verdict};

/// Everything that a page shows.
#[derive(Serialize)]
pub(super) struct Page<'p> {
    title: String,
    run: Vec<(&'static str, String)>,
    warnings: &'p [String],
    tables: Vec<Table>,
    reasons: Vec<String>,
    plots: Vec<Picture<'p>>,
    checks: Vec<[&'p str; 3]>,
    definitions: Vec<[&'static str; 5]>,
    command: String,
}

#[derive(Serialize)]
struct Table {
    title: &'static str,
    note: &'static str,
    columns: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    is_control: bool,
    cells: Vec<String>,
}

#[derive(Serialize)]
struct Picture<'p> {
    name: &'static str,
    title: &'static str,
    caption: &'p str,
    svg: &'p str,
}

/// Which metrics stand together, and what to know of them.
const TABLES: &[(&str, &str, &[&str])] = &[
    (
        "Recall",
        "Shares of 1 with 95 % intervals over units. A replay measures what contexts hold, not whether a task succeeds.",
        &["context_recall", "context_recall_corrected", "lift", "needed_at_use_recall"],
    ),
    (
        "Stages of a summary",
        "Of the facts whose last original left: read by a summarizer, then written, then in the new context.",
        &["reached", "written", "kept"],
    ),
    (
        "Answers of the summarizer",
        "Failed calls count as misses. `summary.json` has the rungs and reasons.",
        &["is_summary", "extraction_success"],
    ),
    (
        "Size, validity and waiting",
        "Waiting is over all turns, most of which wait for nothing.",
        &["tokens_retained", "compression_ratio", "request_validity", "added_latency_ms_p50", "added_latency_ms_p95"],
    ),
    (
        "Cost",
        "US dollars per conversation, compaction calls included.",
        &["cost_usd", "cost_usd_compaction", "cost_saving", "cache_hit_rate"],
    ),
];

impl<'p> Page<'p> {
    pub(super) fn new(run: &Run, group: &'p Group, plots: &'p [Plot], pictures: &'p [String]) -> Self {
        let ids: Vec<&str> = TABLES.iter().flat_map(|(_, _, ids)| *ids).copied().collect();
        let mut tables = vec![fates_table(group)];
        tables.extend(TABLES.iter().map(|(title, note, ids)| metrics_table(group, title, note, ids)));
        tables.push(categories_table(group));
        let picture = |(plot, svg): (&'p Plot, &'p String)| Picture {
            name: plot.name,
            title: plot.title,
            caption: &plot.caption,
            svg,
        };
        Page {
            title: format!("Compaction report: {}", group.suite),
            run: run_facts(run),
            warnings: &group.warnings,
            tables,
            reasons: reasons::lines(group, &ids),
            plots: plots.iter().zip(pictures).map(picture).collect(),
            checks: group
                .checks
                .iter()
                .map(|check| [verdict(check.passed), check.name.as_str(), check.detail.as_str()])
                .collect(),
            definitions: metrics::ALL.iter().map(|metric| definition(metric, group)).collect(),
            command: shell(&run.manifest.command),
        }
    }

    pub(super) fn html(&self) -> Result<String, Error> {
        self.render("page.html", include_str!("page.html"))
    }

    pub(super) fn markdown(&self) -> Result<String, Error> {
        self.render("page.md", include_str!("page.md"))
    }

    /// Templates named `.html` escape all that they print; those named `.md` escape through the filter `md`.
    fn render(&self, name: &'static str, template: &'static str) -> Result<String, Error> {
        let mut environment = Environment::new();
        let syntax =
            SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?;
        environment.set_syntax(syntax);
        environment.add_filter("code", code_html);
        environment.add_filter("md", markdown_text);
        environment.add_filter("wbr", breakable_html);
        environment.add_template(name, template)?;
        environment.get_template(name)?.render(Value::from(Serde(self)))
    }
}

fn run_facts(run: &Run) -> Vec<(&'static str, String)> {
    let manifest = run.manifest;
    let tokens = |count: u32| format!("{} tokens", grouped(f64::from(count)));
    vec![
        ("suite", format!("{} ({})", manifest.suite, manifest.suite_hash)),
        ("conversations", format!("{} in {} groups, the units of statistics", manifest.conversations, manifest.groups)),
        ("cases", manifest.cases.to_string()),
        ("summarizer", manifest.model.clone()),
        ("protocol", crate::text::label(&manifest.protocol)),
        ("window", tokens(manifest.window)),
        ("trigger", tokens(manifest.trigger)),
        ("retained budget", tokens(manifest.retained)),
        ("measuring counter", manifest.tokenizer.clone()),
        ("settings", manifest.settings_hash.clone()),
        ("prices", manifest.prices_hash.clone()),
        ("seed", manifest.seed.to_string()),
        ("program", format!("compactometer {}, commit {}", manifest.program, manifest.commit)),
    ]
}

fn fates_table(group: &Group) -> Table {
    let occurs = |name: &&str| {
        group.strategies.iter().any(|strategy| strategy.fates.get(*name).is_some_and(|share| *share > 0.0))
    };
    let names: Vec<&str> = Fate::STATED.iter().map(|fate| fate.name()).filter(occurs).collect();
    let cells = |strategy: &StrategySummary| {
        let triggered = &strategy.triggered;
        let fired = format!("{} of {}, {} at most", triggered.conversations, triggered.of, triggered.most_rounds);
        let share =
            |name: &&str| strategy.fates.get(*name).map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        std::iter::once(fired).chain(names.iter().map(share)).collect()
    };
    Table {
        title: "Fates",
        note: "Where the stated facts ended, for the fates that occur, and in how many conversations a strategy compacted, with the most rounds of one.",
        columns: std::iter::once("compacted").chain(names.iter().copied()).map(str::to_owned).collect(),
        rows: rows(group, cells),
    }
}

fn metrics_table(group: &Group, title: &'static str, note: &'static str, ids: &[&str]) -> Table {
    let cells = |strategy: &StrategySummary| ids.iter().map(|id| cell(strategy.metrics.get(*id), id)).collect();
    Table { title, note, columns: ids.iter().map(|id| (*id).to_owned()).collect(), rows: rows(group, cells) }
}

fn categories_table(group: &Group) -> Table {
    let mut columns: Vec<String> =
        group.strategies.iter().flat_map(|strategy| strategy.by_category.keys().cloned()).collect();
    columns.sort_unstable();
    columns.dedup();
    let of = |strategy: &StrategySummary, category: &String| {
        let found = strategy.by_category.get(category).and_then(|metrics| metrics.get("context_recall"));
        found.and_then(|found| Some(format!("{:.2} (n {})", found.value?, found.n))).unwrap_or("-".to_owned())
    };
    let cells = |strategy: &StrategySummary| columns.iter().map(|category| of(strategy, category)).collect();
    let rows = rows(group, cells);
    Table {
        title: "Recall by category",
        note: "CR, exploratory: many small numbers, no intervals; n units.",
        columns,
        rows,
    }
}

fn rows(group: &Group, cells: impl Fn(&StrategySummary) -> Vec<String>) -> Vec<Row> {
    let row = |strategy: &StrategySummary| Row {
        name: strategy.name.clone(),
        is_control: strategy.family == Family::Control,
        cells: cells(strategy),
    };
    group.strategies.iter().map(row).collect()
}

fn cell(value: Option<&MetricValue>, id: &str) -> String {
    let (Some(found), Some(metric)) = (value, metrics::find(id)) else { return "-".to_owned() };
    let Some(value) = found.value else { return "-".to_owned() };
    match (found.low, found.high) {
        (Some(low), Some(high)) => {
            format!("{} [{}, {}]", metric.unit.show(value), metric.unit.show(low), metric.unit.show(high))
        }
        _ => metric.unit.show(value),
    }
}

/// Id, unit, better, formula and source; a metric that no strategy can have says so.
fn definition(metric: &Metric, group: &Group) -> [&'static str; 5] {
    let is_unbuilt = |strategy: &StrategySummary| {
        strategy.metrics.get(metric.id).and_then(|found| found.reason.as_deref()) == Some(metrics::NOT_BUILT)
    };
    let source = if group.strategies.iter().any(is_unbuilt) { "not built" } else { metric.source };
    [metric.id, metric.unit.name(), metric.better.name(), metric.formula, source]
}

/// A command line as a shell reads it.
fn shell(command: &[String]) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@+".contains(letter);
    let word = |word: &String| {
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    command.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// HTML with what stands between backticks as code; everything is escaped.
fn code_html(text: &str) -> Value {
    let mut html = String::new();
    for (piece, is_code) in pieces(text) {
        let escaped = HtmlEscape(piece).to_string();
        html.push_str(&if is_code { format!("<code>{escaped}</code>") } else { escaped });
    }
    Value::from_safe_string(html)
}

/// HTML that a browser may break after each underscore.
fn breakable_html(text: &str) -> Value {
    Value::from_safe_string(HtmlEscape(text).to_string().replace('_', "_<wbr>"))
}

/// Markdown that shows the text as it is, in one line; what stands between backticks is code.
fn markdown_text(text: &str) -> String {
    let mut markdown = String::new();
    for (piece, is_code) in pieces(text) {
        if is_code {
            markdown.push_str(&format!("`{}`", piece.replace('|', r"\|").replace(['\n', '\r'], " ")));
            continue;
        }
        for letter in piece.chars() {
            match letter {
                '\n' | '\r' => markdown.push(' '),
                '<' => markdown.push_str("&lt;"),
                '&' => markdown.push_str("&amp;"),
                '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => markdown.extend(['\\', letter]),
                _ => markdown.push(letter),
            }
        }
    }
    markdown
}

/// The text cut at backticks, where they come in pairs.
fn pieces(text: &str) -> Vec<(&str, bool)> {
    if text.matches('`').count() % 2 == 1 {
        return vec![(text, false)];
    }
    text.split('`').enumerate().map(|(at, piece)| (piece, at % 2 == 1)).filter(|(piece, _)| !piece.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_shows_text_as_it_is() {
        assert_eq!(markdown_text("a|b_c <i> `x_y`\n"), r"a\|b\_c &lt;i> `x_y` ");
        assert_eq!(markdown_text("odd ` tick"), r"odd \` tick");
    }

    #[test]
    fn commands_can_be_pasted() {
        let command = ["compactometer", "compare", "my file.jsonl", "it's"].map(str::to_owned);
        assert_eq!(shell(&command), r"compactometer compare 'my file.jsonl' 'it'\''s'");
    }
}
