//! The gate's report as JUnit XML, which CI systems show test by test.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::gate_text::{about, change_line, changed, equivalence, number, power};
use super::{GateReport, GateVerdict, StrategyGate};
use crate::phrases::in_xml;
use crate::vocabulary;

/// XML that could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make the JUnit file: {0}")]
pub struct JunitError(#[from] io::Error);

/// One case of the report.
struct JunitCase {
    name: String,
    verdict: GateVerdict,
    text: String,
}

/// One test case for each strategy and one for each hard check with a result. An inconclusive one
/// is an error where `inconclusive_fails`, else skipped.
///
/// # Errors
/// [`JunitError`] where the writer fails, which memory does not.
pub fn junit(report: &GateReport, inconclusive_fails: bool) -> Result<String, JunitError> {
    let cases: Vec<JunitCase> = report
        .strategies
        .iter()
        .map(|strategy| of_strategy(strategy, report.margin))
        .chain(checks(report))
        .collect();
    let is_error = |case: &JunitCase| case.verdict == GateVerdict::Inconclusive;
    let is_failure = |case: &JunitCase| case.verdict > GateVerdict::Inconclusive;
    let [open, failed] = [
        cases.iter().filter(|case| is_error(case)).count(),
        cases.iter().filter(|case| is_failure(case)).count(),
    ];
    let (errors, skipped) = if inconclusive_fails {
        (open, 0)
    } else {
        (0, open)
    };
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let counts = [
        ("tests", cases.len()),
        ("failures", failed),
        ("errors", errors),
        ("skipped", skipped),
    ];
    let counts = counts.map(|(name, count)| (name, count.to_string()));
    let suite = writer
        .create_element("testsuite")
        .with_attribute(("name", in_xml(&report.suite).as_str()));
    let suite = suite.with_attributes(counts.iter().map(|(name, count)| (*name, count.as_str())));
    suite.write_inner_content(|writer| {
        cases
            .iter()
            .try_for_each(|case| write_case(writer, case, inconclusive_fails))
    })?;
    let mut text = String::from_utf8_lossy(&writer.into_inner()).into_owned();
    text.push('\n');
    Ok(text)
}

fn write_case(
    writer: &mut Writer<Vec<u8>>,
    case: &JunitCase,
    inconclusive_fails: bool,
) -> io::Result<()> {
    let inner = match case.verdict {
        GateVerdict::Pass | GateVerdict::PassWorse => "system-out",
        GateVerdict::Inconclusive if inconclusive_fails => "error",
        GateVerdict::Inconclusive => "skipped",
        GateVerdict::Regression | GateVerdict::Failed => "failure",
    };
    let element = writer
        .create_element("testcase")
        .with_attribute(("classname", "compactometer.gate"));
    element
        .with_attribute(("name", case.name.as_str()))
        .write_inner_content(|writer| {
            let element = writer.create_element(inner);
            let element = if inner == "system-out" {
                element
            } else {
                element.with_attribute(("message", case.verdict.name()))
            };
            element
                .write_text_content(BytesText::new(&case.text))
                .map(|_| ())
        })?;
    Ok(())
}

fn of_strategy(strategy: &StrategyGate, margin: f64) -> JunitCase {
    let metrics = strategy.metrics.iter().map(|metric| {
        let [old, new, low, high] =
            [metric.baseline, metric.run, metric.low, metric.high].map(number);
        let found = format!(
            "{}: {old} to {new}, bounds {low} and {high}, {} conversations",
            vocabulary::name(&metric.metric),
            metric.units
        );
        let said = equivalence(metric, margin)
            .into_iter()
            .chain(power(metric, margin))
            .chain(metric.reason.clone());
        std::iter::once(found)
            .chain(said)
            .collect::<Vec<_>>()
            .join("; ")
    });
    let lost = strategy
        .newly_lost
        .iter()
        .map(|change| format!("newly lost: {}", change_line(change, str::to_owned)));
    let lines: Vec<String> = changed(strategy)
        .into_iter()
        .chain(metrics)
        .chain(about(strategy))
        .chain(lost)
        .collect();
    JunitCase {
        name: in_xml(&format!(
            "{} ({})",
            strategy.strategy,
            strategy.protocol.name()
        )),
        verdict: strategy.verdict,
        text: in_xml(&lines.join("\n")),
    }
}

fn checks(report: &GateReport) -> impl Iterator<Item = JunitCase> {
    report.checks.iter().filter_map(|check| {
        let verdict = if check.passed? {
            GateVerdict::Pass
        } else {
            GateVerdict::Failed
        };
        Some(JunitCase {
            name: in_xml(&check.name),
            verdict,
            text: in_xml(&check.detail),
        })
    })
}
