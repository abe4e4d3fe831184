//! What parameters of strategies take. `compactometer sources` has every default beside its place in
//! its source.

use compactometer_engine::params::{ParamUnit, Settings};
use compactometer_engine::strategies::ALL;
use compactometer_engine::strategy::StrategySpec;

fn spec(name: &str) -> &'static StrategySpec {
    ALL.iter().find(|spec| spec.name == name).unwrap()
}

/// The shape that a source's prompt asks for is its interface: these marks are in each prompt as
/// the source writes them.
#[test]
fn levels_that_contradict_each_other_are_refused() {
    let refused = |changes: &[(&str, &str)]| {
        let mut settings = Settings::defaults(spec("progressive"));
        let set = changes
            .iter()
            .try_for_each(|(name, value)| settings.set(spec("progressive"), name, value));
        let limits = set.and_then(|()| (spec("progressive").limits)(&settings).map(|_| ()));
        limits.unwrap_err().to_string()
    };
    assert!(
        refused(&[("moderate", "0")])
            .contains("`moderate` is `0`; it must be a number of tokens from 1")
    );
    let above = "`compact` is 301 tokens; it may have at most as many as `moderate`, 300";
    assert_eq!(refused(&[("compact", "301")]), above);
    let above = "`moderate` is 801 tokens; it may have at most as many as `detailed`, 800";
    assert_eq!(refused(&[("moderate", "801")]), above);
    let above = "`moderate` is 300 tokens; it may have at most as many as `written`, 299";
    assert_eq!(refused(&[("written", "299")]), above);
    let above = "`moderate_age` is 5 rounds; it may be at most `compact_age`, 4";
    assert_eq!(refused(&[("compact_age", "4")]), above);
}

#[test]
fn every_prompt_keeps_the_marks_of_its_source() {
    for (strategy, marks) in [
        ("summarize", &["{words} words"][..]),
        (
            "prompt-checkpoint",
            &[
                "[SUMMARY]",
                "[CHECKPOINT]",
                "\"active_goals\"",
                "\"workflow_state\"",
            ],
        ),
        (
            "middleware-checkpoint",
            &[
                "\"active_goals\"",
                "\"pending_tasks\"",
                "\"context_references\"",
            ],
        ),
        (
            "hybrid-checkpoint",
            &["\"key_decisions\"", "\"user_preferences\""],
        ),
        (
            "threshold-summary",
            &["Key decisions", "bullet points", "{tokens} tokens"],
        ),
        (
            "progressive",
            &[
                "Summary:",
                "Key Decisions:",
                "Files Modified:",
                "Next Steps:",
                "Architecture Decisions:",
            ],
        ),
        ("handoff", &["7. Immediate Next Step"]),
        (
            "chained",
            &[
                "## Session Summary (Compaction Round {round})",
                "### Errors & Resolutions",
            ],
        ),
    ] {
        for mark in marks {
            assert!(
                spec(strategy).prompt.contains(mark),
                "`{mark}` in the prompt of `{strategy}`"
            );
        }
    }
}

/// Every parameter refuses what lies outside its range, and says what it takes.
#[test]
fn bad_values_are_refused_by_name_value_and_range() {
    for spec in ALL {
        for param in spec
            .params()
            .filter(|param| !matches!(param.unit, ParamUnit::Choice(_)))
        {
            let (least, greatest) = param.range;
            let (below, above) = ((least - 1.0).to_string(), (greatest + 1.0).to_string());
            for value in [below.as_str(), &above, "", "many", "NaN", "inf", "-0x1"] {
                let error = Settings::defaults(spec)
                    .set(spec, param.name, value)
                    .unwrap_err()
                    .to_string();
                let unit = match param.unit {
                    ParamUnit::Share | ParamUnit::Temperature => format!("a {}", param.unit.name()),
                    unit => format!("a number of {}", unit.name()),
                };
                let said = format!(
                    "`{}` is `{value}`; it must be {unit} from {least} to {greatest}",
                    param.name
                );
                assert_eq!(error, said, "{}", spec.name);
            }
            for value in [least, greatest] {
                Settings::defaults(spec)
                    .set(spec, param.name, &value.to_string())
                    .unwrap();
            }
        }
    }
}

#[test]
fn typical_mistakes_are_named() {
    for (strategy, name, value, said) in [
        (
            "progressive",
            "threshold",
            "0",
            "`threshold` is `0`; it must be a share from 0.01 to 1",
        ),
        (
            "middleware-checkpoint",
            "ratio",
            "1.2",
            "`ratio` is `1.2`; it must be a share from 0.01 to 1",
        ),
        (
            "handoff",
            "threshold",
            "-1",
            "`threshold` is `-1`; it must be a number of tokens from 0 to 10000000",
        ),
        (
            "handoff",
            "estimator",
            "4",
            "`estimator` is `4`; choose from `exact`, `characters`, `classes`, `usage`, `recount`",
        ),
        (
            "handoff",
            "intent",
            "yes",
            "`intent` is `yes`; choose from `plain`, `faithful`",
        ),
        (
            "progressive",
            "pinned",
            "0.75",
            "`pinned` is `0.75`; it must be a share from 0 to 0.5",
        ),
        (
            "chained",
            "tail",
            "1.5",
            "`tail` is `1.5`; it must be a number of messages from 0 to 10000",
        ),
        (
            "summarize",
            "tials",
            "5",
            "`summarize` has no parameter `tials`; choose from `window`, `trigger`, `tail`, `written`, `unchecked`, `one_piece`, `pending`, `prompt`",
        ),
        (
            "chained",
            "prompt",
            "{messages} {messages}",
            "the prompt for `chained` lacks the placeholders `{previous}`, `{task}` and repeats the placeholder `{messages}`; each must occur once",
        ),
        (
            "progressive",
            "prompt",
            "Summarize.",
            "the prompt for `progressive` lacks the placeholder `{messages}`; each must occur once",
        ),
        (
            "progressive",
            "prompt",
            " \n",
            "the prompt for `progressive` is empty",
        ),
    ] {
        let error = Settings::defaults(spec(strategy))
            .set(spec(strategy), name, value)
            .unwrap_err();
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn windows_that_cannot_hold_their_limits_are_refused() {
    for (strategy, window, said) in [
        (
            "summarize",
            "9999",
            "`trigger` is 10000 tokens; the context window has 9999",
        ),
        (
            "hybrid-checkpoint",
            "9999",
            "`trigger` is 10000 tokens; the context window has 9999",
        ),
        (
            "threshold-summary",
            "79999",
            "`threshold` is 80000 tokens; the context window has 79999",
        ),
        (
            "handoff",
            "199999",
            "`threshold` is 200000 tokens; the context window has 199999",
        ),
        (
            "chained",
            "8192",
            "`window` is 8192 tokens; its reserves already take 11000",
        ),
    ] {
        let mut settings = Settings::defaults(spec(strategy));
        settings.set(spec(strategy), "window", window).unwrap();
        assert_eq!(
            (spec(strategy).limits)(&settings).unwrap_err().to_string(),
            said,
            "{strategy}"
        );
    }
}

#[test]
fn what_is_scaled_stays_in_its_range() {
    for spec in ALL {
        let scaled = Settings::defaults(spec).scaled(spec, 1e-6);
        for param in spec.params() {
            assert!(
                scaled.value(param.name).unwrap() >= param.range.0,
                "{} {}",
                spec.name,
                param.name
            );
        }
    }
}
