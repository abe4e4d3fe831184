//! Every parameter of every strategy: its unit, default and range, beside the place in its source
//! that says so. A number that a source does not give is marked as ours.

use compactometer_engine::params::{Param, Settings, Unit};
use compactometer_engine::strategies::ALL;
use compactometer_engine::strategy::StrategySpec;

/// Name, unit, default, least and greatest value, and where the default comes from.
type Row = (&'static str, Unit, f64, (f64, f64), &'static str);

const ANY_TOKENS: (f64, f64) = (1.0, 10_000_000.0);
const TOKENS_OR_NONE: (f64, f64) = (0.0, 10_000_000.0);
const ANY_MESSAGES: (f64, f64) = (0.0, 10_000.0);
const ANY_ROUNDS: (f64, f64) = (1.0, 10_000.0);
const ANY_SHARE: (f64, f64) = (0.01, 1.0);

const TABLE: &[(&str, &[Row])] = &[
    (
        "summarize",
        &[
            (
                "window",
                Unit::Tokens,
                12_500.0,
                ANY_TOKENS,
                "ours: makes the trigger 0.8 of it",
            ),
            (
                "trigger",
                Unit::Tokens,
                10_000.0,
                ANY_TOKENS,
                "the strategic plan part 1, MW_SUMMARIZATION_MAX_TOKENS",
            ),
            (
                "tail",
                Unit::Tokens,
                2_000.0,
                TOKENS_OR_NONE,
                "the strategic plan part 1, MW_SUMMARIZATION_TARGET_TOKENS",
            ),
            (
                "written",
                Unit::Tokens,
                400.0,
                ANY_TOKENS,
                "the strategic plan part 1: 300 words, four tokens in three words",
            ),
        ],
    ),
    (
        "prompt-checkpoint",
        &[
            (
                "window",
                Unit::Tokens,
                12_500.0,
                ANY_TOKENS,
                "ours: makes the trigger 0.8 of it",
            ),
            (
                "trigger",
                Unit::Tokens,
                10_000.0,
                ANY_TOKENS,
                "the strategic plan part 1, MW_SUMMARIZATION_MAX_TOKENS",
            ),
            (
                "tail",
                Unit::Tokens,
                2_000.0,
                TOKENS_OR_NONE,
                "the strategic plan part 1, MW_SUMMARIZATION_TARGET_TOKENS",
            ),
            (
                "written",
                Unit::Tokens,
                800.0,
                ANY_TOKENS,
                "the strategic plan part 2, approach A: 300 words; as much again is ours",
            ),
        ],
    ),
    ("middleware-checkpoint", EXTRACTING),
    ("hybrid-checkpoint", EXTRACTING),
    (
        "threshold-summary",
        &[
            (
                "window",
                Unit::Tokens,
                100_000.0,
                ANY_TOKENS,
                "ours: makes the threshold 0.8 of it",
            ),
            (
                "threshold",
                Unit::Tokens,
                80_000.0,
                ANY_TOKENS,
                "the threshold plan configuration, threshold_tokens",
            ),
            (
                "tail",
                Unit::Messages,
                10.0,
                ANY_MESSAGES,
                "the threshold plan configuration, keep_recent_messages",
            ),
            (
                "written",
                Unit::Tokens,
                500.0,
                ANY_TOKENS,
                "the threshold plan configuration, max_summary_tokens",
            ),
            (
                "calls",
                Unit::Calls,
                5.0,
                (0.0, 100_000.0),
                "the threshold plan risk mitigation 3: max 5 a session",
            ),
            (
                "enabled",
                Unit::Choice(&["true", "false"]),
                0.0,
                (0.0, 1.0),
                "the threshold plan configuration, enabled",
            ),
        ],
    ),
    (
        "progressive",
        &[
            (
                "window",
                Unit::Tokens,
                32_000.0,
                ANY_TOKENS,
                "the progressive plan token budget example: 32K",
            ),
            (
                "threshold",
                Unit::Share,
                0.8,
                ANY_SHARE,
                "the progressive plan configuration, threshold",
            ),
            (
                "tail",
                Unit::Tokens,
                4_096.0,
                TOKENS_OR_NONE,
                "the progressive plan configuration, preserveRecent",
            ),
            (
                "summary",
                Unit::Tokens,
                1_024.0,
                ANY_TOKENS,
                "the progressive plan configuration, summaryMaxTokens",
            ),
            (
                "written",
                Unit::Tokens,
                3_000.0,
                ANY_TOKENS,
                "the progressive plan scalable to long tasks: 10 x 300",
            ),
            (
                "detailed",
                Unit::Tokens,
                800.0,
                ANY_TOKENS,
                "the progressive plan efficient token usage: 800 tokens each",
            ),
            (
                "moderate_age",
                Unit::Rounds,
                5.0,
                ANY_ROUNDS,
                "the progressive plan checkpoint limits, MODERATE_AGE",
            ),
            (
                "moderate",
                Unit::Tokens,
                300.0,
                ANY_TOKENS,
                "the progressive plan compression timeline: ~300 tokens",
            ),
            (
                "lines",
                Unit::Lines,
                5.0,
                (1.0, 100.0),
                "the progressive plan compression timeline: first 5 lines",
            ),
            (
                "compact_age",
                Unit::Rounds,
                10.0,
                ANY_ROUNDS,
                "the progressive plan checkpoint limits, COMPACT_AGE",
            ),
            (
                "compact",
                Unit::Tokens,
                80.0,
                ANY_TOKENS,
                "the progressive plan compression timeline: ~80 tokens",
            ),
            (
                "most",
                Unit::Rounds,
                10.0,
                ANY_ROUNDS,
                "the progressive plan checkpoint limits, MAX_CHECKPOINTS",
            ),
            (
                "pinned",
                Unit::Share,
                0.25,
                (0.0, 0.5),
                "ours: the progressive plan phase 2 gives its pinned items no bound",
            ),
            (
                "merge",
                Unit::Choice(&["oldest", "similar"]),
                0.0,
                (0.0, 1.0),
                "the progressive plan compression flow 6; phase 3",
            ),
        ],
    ),
    (
        "handoff",
        &[
            (
                "window",
                Unit::Tokens,
                250_000.0,
                ANY_TOKENS,
                "ours: makes the threshold 0.8 of it",
            ),
            (
                "threshold",
                Unit::Tokens,
                200_000.0,
                (0.0, 10_000_000.0),
                "the agent loop section 2, DefaultCompactThreshold; 0 is off",
            ),
            (
                "written",
                Unit::Tokens,
                4_000.0,
                ANY_TOKENS,
                "ours: the agent loop gives its summary no length",
            ),
            (
                "estimator",
                ESTIMATORS,
                4.0,
                (0.0, 4.0),
                "the agent loop section 7: counts by a minimal call",
            ),
            (
                "memory",
                Unit::Choice(&["off", "on"]),
                1.0,
                (0.0, 1.0),
                "the agent loop section 8: memory fragments are searchable",
            ),
            (
                "note",
                Unit::Characters,
                2_000.0,
                ANY_TOKENS,
                "ours: the agent loop gives its fragments no length",
            ),
        ],
    ),
    (
        "chained",
        &[
            (
                "window",
                Unit::Tokens,
                128_000.0,
                ANY_TOKENS,
                "the summary chain constants, modelContextLimit",
            ),
            (
                "system_reserve",
                Unit::Tokens,
                2_000.0,
                ANY_TOKENS,
                "the summary chain constants, systemReserve",
            ),
            (
                "output_reserve",
                Unit::Tokens,
                4_000.0,
                ANY_TOKENS,
                "the summary chain constants, outputReserve",
            ),
            (
                "safety_buffer",
                Unit::Tokens,
                5_000.0,
                ANY_TOKENS,
                "the summary chain constants, safetyBuffer",
            ),
            (
                "threshold",
                Unit::Share,
                0.8,
                ANY_SHARE,
                "the summary chain constants, thresholdPercent",
            ),
            (
                "tail",
                Unit::Messages,
                10.0,
                ANY_MESSAGES,
                "the summary chain constants, recentMessagesToKeep",
            ),
            (
                "asked",
                Unit::Tokens,
                800.0,
                ANY_TOKENS,
                "the summary chain summary generation, prompt: 800 tokens",
            ),
            (
                "written",
                Unit::Tokens,
                1_000.0,
                ANY_TOKENS,
                "the summary chain summary generation, maxTokens",
            ),
            (
                "message_limit",
                Unit::Characters,
                2_000.0,
                ANY_TOKENS,
                "the summary chain formatMessagesForSummary, a message",
            ),
            (
                "result_limit",
                Unit::Characters,
                500.0,
                ANY_TOKENS,
                "the summary chain formatMessagesForSummary, a tool result",
            ),
            (
                "chain",
                Unit::Choice(&["off", "on"]),
                1.0,
                (0.0, 1.0),
                "the summary chain: each summary takes in the previous one",
            ),
            (
                "temperature",
                Unit::Temperature,
                0.3,
                (0.0, 2.0),
                "the summary chain summary generation, temperature",
            ),
            (
                "estimator",
                ESTIMATORS,
                2.0,
                (0.0, 4.0),
                "ours: the summary chain's, a quarter of the length, fails on logs and Chinese",
            ),
            (
                "model",
                MODELS,
                0.0,
                (0.0, 5.0),
                "the summary chain model-specific limits, default fallback",
            ),
        ],
    ),
];

const ESTIMATORS: Unit = Unit::Choice(&["exact", "characters", "classes", "usage", "recount"]);
const MODELS: Unit = Unit::Choice(&[
    "window",
    "gpt-4o",
    "gpt-4-turbo",
    "gpt-4",
    "claude-3-5-sonnet-20240620",
    "claude-3-haiku-20240307",
]);

const EXTRACTING: &[Row] = &[
    (
        "window",
        Unit::Tokens,
        12_500.0,
        ANY_TOKENS,
        "ours: makes the trigger 0.8 of it",
    ),
    (
        "trigger",
        Unit::Tokens,
        10_000.0,
        ANY_TOKENS,
        "the strategic plan part 1, MW_SUMMARIZATION_MAX_TOKENS",
    ),
    (
        "tail",
        Unit::Tokens,
        2_000.0,
        TOKENS_OR_NONE,
        "the strategic plan part 1, MW_SUMMARIZATION_TARGET_TOKENS",
    ),
    (
        "written",
        Unit::Tokens,
        800.0,
        ANY_TOKENS,
        "the strategic plan part 1: 300 words; as much again is ours",
    ),
    (
        "ratio",
        Unit::Share,
        0.8,
        ANY_SHARE,
        "the strategic plan part 2, approach B, checkpoint_threshold_ratio",
    ),
    (
        "delta",
        Unit::Tokens,
        1_000.0,
        ANY_TOKENS,
        "the strategic plan part 2, approach B: minimum delta to re-checkpoint",
    ),
    (
        "predictive",
        Unit::Choice(&["off", "on"]),
        0.0,
        (0.0, 1.0),
        "the strategic plan part 8 calls it a future enhancement",
    ),
    (
        "ahead",
        Unit::Turns,
        3.0,
        (0.0, 1_000.0),
        "ours: the strategic plan part 8 names no horizon",
    ),
    (
        "shift",
        Unit::Share,
        0.1,
        (0.0, 1.0),
        "ours: the strategic plan part 8 names no measure",
    ),
    (
        "other_threads",
        Unit::Tokens,
        0.0,
        (0.0, 10_000_000.0),
        "the strategic plan part 2, approach B: one instance, one counter; 0 is none",
    ),
];

fn spec(name: &str) -> &'static StrategySpec {
    ALL.iter().find(|spec| spec.name == name).unwrap()
}

/// The parameters of a strategy but for the deviations of its source, which have tests of their
/// own.
fn params(spec: &StrategySpec) -> impl Iterator<Item = &'static Param> {
    spec.params()
        .filter(|param| param.unit != Unit::Choice(&["plain", "faithful"]))
}

#[test]
fn every_default_is_its_sources() {
    let names = |strategy: &str| {
        params(spec(strategy))
            .map(|param| param.name)
            .collect::<Vec<_>>()
    };
    let listed = TABLE.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let of_sources = ALL.iter().filter(|spec| spec.published.is_some());
    assert_eq!(
        listed,
        of_sources.map(|spec| spec.name).collect::<Vec<_>>(),
        "every strategy of a source has its rows"
    );
    for (strategy, rows) in TABLE {
        let wanted = rows.iter().map(|row| row.0).collect::<Vec<_>>();
        assert_eq!(
            names(strategy),
            wanted,
            "the parameters of `{strategy}`, in order"
        );
        for (param, (name, unit, default, range, source)) in params(spec(strategy)).zip(*rows) {
            let (is, says) = (
                (param.unit, param.default, param.range),
                (*unit, *default, *range),
            );
            assert_eq!(is, says, "`{strategy}.{name}` against {source}");
        }
    }
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
            .filter(|param| !matches!(param.unit, Unit::Choice(_)))
        {
            let (least, greatest) = param.range;
            let (below, above) = ((least - 1.0).to_string(), (greatest + 1.0).to_string());
            for value in [below.as_str(), &above, "", "many", "NaN", "inf", "-0x1"] {
                let error = Settings::defaults(spec)
                    .set(spec, param.name, value)
                    .unwrap_err()
                    .to_string();
                let unit = match param.unit {
                    Unit::Share | Unit::Temperature => format!("a {}", param.unit.name()),
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
