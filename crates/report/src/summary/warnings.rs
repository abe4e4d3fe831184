//! What a reader needs to know before any number.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_engine::event::Outcome;
use compactometer_engine::meter::Purpose;
use compactometer_engine::strategies;
use compactometer_formats::answer::{AnswerRow, Grade};
use compactometer_formats::prices::PriceRow;
use compactometer_formats::protocol::LimitsOf;
use compactometer_formats::record::{CallRow, Record, Refusal, Use, UseKind, text_hash};
use compactometer_formats::scenario::Category;
use compactometer_formats::summary::{Decisions, StrategySummary};
use compactometer_text::code::code;

use crate::data::decisions::ALERT;
use crate::data::visits;
use crate::data::{FULL, ProtocolRun, StrategyRecords, uses_with_generic};
use crate::metrics::answered::wrong::is_cut;
use crate::metrics::answered::{TOO_WEAK, reader_strength};
use crate::metrics::answers::extraction_counts;
use crate::metrics::chance::CorrectedRecall;
use crate::numbers::grouped;
use crate::stats::sign_flip;
use crate::summary::by_strategy::{joined, listed};
use crate::summary::scale::too_large;
use crate::summary::{
    checks, comparisons, judged, questions, reported_calls, sizes, suite, use_bounds,
};

/// Under this many units nothing is ranked.
const FEWEST_RANKED: usize = 5;

/// Every warning that applies, the gravest first, then what findings say in short, then the notes
/// of the suite and the run.
pub(crate) fn all(run: &ProtocolRun, strategies: &[StrategySummary]) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(suite::violations(run));
    warnings.extend(published(run));
    warnings.extend(missing_cases(run));
    let unranked = unranked_answers(run);
    let is_weak = |why: &String| why.contains(TOO_WEAK);
    warnings.extend(unranked.clone().filter(is_weak));
    warnings.extend(never_triggered(run, strategies));
    warnings.extend(sealed(run));
    warnings.extend(unmetered(strategies));
    warnings.extend(without_effect(run));
    warnings.extend(own_prompts(run));
    warnings.extend(repeated(strategies));
    warnings.extend(COUNTED.iter().filter_map(|(what, count)| match *what {
        REJECTED => rejected(run, listed(run, what, count)?),
        _ => listed(run, what, count),
    }));
    let reference = comparisons::reference(run);
    warnings.extend(sizes::warning(run, reference));
    warnings.extend(checks::decoy_warning(run));
    warnings.extend(chance(run));
    warnings.extend(no_chance(run));
    warnings.extend(questions::note(run));
    warnings.extend(unranked.filter(|why| !is_weak(why)));
    warnings.extend(failed_answers(run));
    warnings.extend(judged::warnings(run));
    warnings.extend(use_bounds::count(run));
    warnings.extend(use_bounds::notes(strategies));
    warnings.extend(use_bounds::separated(run, strategies));
    warnings.extend(uses(run));
    warnings.extend(generic(run));
    warnings.extend(foils(run));
    warnings.extend(served(run));
    warnings.extend(omitted(run));
    warnings.extend(prices(run));
    warnings.extend(mock(run));
    warnings.extend(few_units(run));
    warnings.extend(reported_calls::note(run));
    warnings.push(REPLAY.to_owned());
    warnings.extend(run.manifest.notes.iter().cloned());
    warnings.extend(suite::notes(run));
    warnings
}

const REPLAY: &str = "a replay is teacher-forced: recorded turns follow whatever was lost, so it measures retention and not \
                      task success; reading again after a loss is not simulated";

/// How a warning begins that the first line of a screen also gives.
const MOCK: &str = "mechanism, not model";
const FEW: &str = "the suite has few independent conversations";

/// Whether the first line of a screen says what a warning says.
pub(crate) fn is_in_heading(warning: &str) -> bool {
    warning.starts_with(MOCK)
}

/// What a strategy's records are counted for.
type CountOf = fn(&StrategyRecords) -> usize;

const REJECTED: &str =
    "requests that the server rejected or answered without end, counted as failed";

/// What must not go unnoticed of the strategies' runs, where any count is above 0.
const COUNTED: &[(&str, CountOf)] = &[
    ("decisions that failed", |of| {
        of.rows()
            .filter(|row| matches!(row.event.outcome, Outcome::Failed(_)))
            .count()
    }),
    (REJECTED, |of| {
        of.records().map(Record::rejected_calls).sum()
    }),
    (
        "values of the prompt's own example taken out of checkpoints",
        |of| extraction_counts(of).map_or(0, |counts| counts.leaked),
    ),
    (
        "compactions over the retained budget even after a retry",
        |of| of.rows().filter(|row| row.event.over_budget).count(),
    ),
    (
        "conversations whose pending part by itself exceeds the retained budget",
        |of| {
            of.records()
                .filter(|record| record.case.pending_over_budget)
                .count()
        },
    ),
    ("turns sent over the context window", |of| {
        of.records()
            .flat_map(|record| &record.turns)
            .filter(|turn| turn.over_window)
            .count()
    }),
];

fn sealed(run: &ProtocolRun) -> Option<String> {
    let rows = run.strategies.iter();
    let names = rows
        .filter(|strategy| strategy.is_sealed)
        .map(|strategy| code(strategy.name));
    let what = "rows whose summaries only their provider's models read have no recall of facts; their answers say what \
                they hold";
    joined(what, names)
}

fn unmetered(strategies: &[StrategySummary]) -> Option<String> {
    let names = strategies
        .iter()
        .filter(|strategy| strategy.unmetered)
        .map(|strategy| code(&strategy.name));
    let what = "rows that ask a model past the meter have no costs and waits, and are compared with nothing";
    joined(what, names)
}

/// What a user changed for nothing.
fn without_effect(run: &ProtocolRun) -> Option<String> {
    if run.protocol.limits() == LimitsOf::Strategy {
        return None;
    }
    let what = "parameters without effect here, since the run sets the context window, the trigger and the sizes \
                (`--protocol published` takes a strategy's own)";
    let rows = rows_set(run).flat_map(|name| {
        let settings = &run.manifest.settings[name];
        let shown = |param: &String| {
            let value = settings.parameters.get(param).map_or("", String::as_str);
            format!("{} of {}", code(&format!("{param}={value}")), code(name))
        };
        settings.without_effect.iter().map(shown)
    });
    joined(what, rows)
}

/// The rows that have settings, by name.
fn rows_set<'r>(run: &'r ProtocolRun) -> impl Iterator<Item = &'r str> {
    let names = run.strategies.iter().map(|strategy| strategy.name);
    names.filter(|name| run.manifest.settings.contains_key(*name))
}

/// What a mock cannot say about a prompt that somebody wrote.
fn own_prompts(run: &ProtocolRun) -> Option<String> {
    let what = "rows with a prompt of their own, of which a mock reads the form, the limits and whether it asks for \
                files and exact values, but not how well it is worded";
    let manifest = run.manifest;
    let published = |name: &str| {
        let base = &manifest.settings[name].base;
        let spec = strategies::ALL.iter().find(|spec| spec.name == base)?;
        Some(text_hash(spec.prompt))
    };
    let has_own = |name: &&str| {
        let prompt = manifest.prompts.get(*name);
        prompt.is_some_and(|prompt| published(name).is_some_and(|published| published != *prompt))
    };
    joined(
        what,
        rows_set(run)
            .filter(has_own)
            .filter(|_| run.is_mock())
            .map(code),
    )
}

fn mock(run: &ProtocolRun) -> Option<String> {
    let model = &run.manifest.summarizer;
    let reader = run
        .manifest
        .target
        .as_ref()
        .map_or(String::new(), |target| format!(" {}", code(target)));
    run.is_mock().then(|| {
        format!(
            "{MOCK}: {} wrote the summaries and{reader} answered the questions, so this report names no winner; \
             what passed through its text is unranked (facts in summaries and the recall that they give, `written`, `kept`, survival, \
             every answer, `is_summary`, `extraction_success`), and its latencies are assumed",
            code(model)
        )
    })
}

fn published(run: &ProtocolRun) -> Vec<String> {
    let manifest = run.manifest;
    if run.protocol.limits() != LimitsOf::Strategy {
        return Vec::new();
    }
    let [window, trigger, retained] = [manifest.window, manifest.trigger, manifest.retained]
        .map(|tokens| grouped(f64::from(tokens)));
    let limits = format!(
        "published limits: each strategy has its own context window, trigger and sizes, multiplied by {}, so recall is compared \
         neither at one size nor on one set of facts; controls have a context window of {window} tokens, compact at {trigger} and \
         retain at most {retained}, whatever the scale",
        manifest.scale
    );
    std::iter::once(limits).chain(too_short(run)).collect()
}

fn too_short(run: &ProtocolRun) -> Option<String> {
    let too_large = too_large(run);
    let smallest = too_large
        .iter()
        .map(|(_, scale)| *scale)
        .min_by(f64::total_cmp)?;
    let each = too_large
        .iter()
        .map(|(strategy, scale)| format!("`--scale {scale}` for {strategy}"));
    let each = each.collect::<Vec<_>>().join(", ");
    let all = if too_large.len() > 1 {
        format!("; `--scale {smallest}` for all")
    } else {
        String::new()
    };
    Some(format!(
        "conversations too short for published limits: the median one triggers at {each}{all}"
    ))
}

fn few_units(run: &ProtocolRun) -> Option<String> {
    let units = run.units();
    (units < sign_flip::FEWEST_UNITS).then(|| {
        format!(
            "{FEW} ({units}): at least {FEWEST_RANKED} are needed to rank strategies, and {} to support a difference \
             between two; import or generate more of them",
            sign_flip::FEWEST_UNITS
        )
    })
}

fn missing_cases(run: &ProtocolRun) -> Option<String> {
    let found: usize = run
        .strategies
        .iter()
        .map(|strategy| strategy.records().count())
        .sum();
    let manifest = run.manifest;
    // Every protocol has the same number of cases; so had every further retained budget before
    // swept cases were counted.
    let listed = match manifest.swept_cases {
        Some(swept) => manifest.cases.saturating_sub(swept) / manifest.protocols.len().max(1),
        None => manifest.cases / (manifest.protocols.len() + manifest.sweep.len()).max(1),
    };
    (found != listed)
        .then(|| format!("the manifest lists {listed} cases and there are records of {found}"))
}

fn never_triggered(run: &ProtocolRun, strategies: &[StrategySummary]) -> Option<String> {
    let idle = strategies
        .iter()
        .filter(|strategy| strategy.triggered.conversations == 0);
    let idle = idle.filter(|strategy| strategy.family.is_tested());
    let lines = idle.map(|of| {
        match run
            .strategy(&of.name)
            .and_then(|strategy| short_of_trigger(run, strategy))
        {
            Some(remedy) => format!("{} ({remedy})", of.name),
            None => of.name.clone(),
        }
    });
    joined("never compacted anything, so takes no part", lines)
}

/// Under this many retained tokens, a summary says next to nothing.
const LEAST_RETAINED: f64 = 100.0;

/// What would let a strategy compact whose requests are all shorter than the trigger. Under
/// published limits another warning names the scale.
fn short_of_trigger(run: &ProtocolRun, strategy: &StrategyRecords) -> Option<String> {
    let manifest = run.manifest;
    let longest = longest_request(strategy)?;
    // Half of the largest window that triggers, so that facts are distant when a compaction comes.
    let window =
        f64::from(longest) * f64::from(manifest.window) / f64::from(manifest.trigger) / 2.0;
    (run.protocol.has_limits_of_run() && longest < manifest.trigger).then(|| {
        let [longest, trigger] =
            [longest, manifest.trigger].map(|tokens| grouped(f64::from(tokens)));
        // A smaller window may leave a summary no room.
        let remedy = match window * f64::from(manifest.retained) / f64::from(manifest.window)
            >= LEAST_RETAINED
        {
            true => format!("`--window {window:.0}` would do"),
            false => "it needs longer conversations".to_owned(),
        };
        format!(
            "its longest request has {longest} tokens, and compactions start at {trigger}; {remedy}"
        )
    })
}

fn longest_request(strategy: &StrategyRecords) -> Option<u32> {
    let turns = strategy.records().flat_map(|record| &record.turns);
    turns.map(|turn| turn.input).max()
}

/// Failures in a row: the summarizer is down or not up to its task.
fn repeated(strategies: &[StrategySummary]) -> Option<String> {
    let alerted = strategies
        .iter()
        .filter(|strategy| strategy.decisions.alerts > 0)
        .map(|strategy| {
            let Decisions {
                alerts,
                most_failures_in_a_row: failed,
                most_unread_in_a_row: unread,
                ..
            } = strategy.decisions;
            format!(
                "{} in {alerts} conversations (at most {failed} compactions, {unread} checkpoints)",
                strategy.name
            )
        });
    joined(
        &format!("ALERT, {ALERT} or more failures in a row"),
        alerted,
    )
}

/// Requests that the server rejected; each is a failed call of its strategy.
fn rejected(run: &ProtocolRun, counts: String) -> Option<String> {
    let records = run.records();
    let calls = records.flat_map(|record| {
        record
            .calls()
            .chain(record.probe_calls())
            .chain(record.judge_calls())
    });
    let said = calls
        .filter(|call| call.refusal == Some(Refusal::Form))
        .filter_map(|call| call.error.as_deref());
    let mut by_words = BTreeMap::<&str, usize>::new();
    said.for_each(|words| *by_words.entry(words).or_default() += 1);
    let (words, _) = by_words.into_iter().max_by_key(|(_, count)| *count)?;
    Some(format!("{counts}; most often: {words}"))
}

/// Parameters that requests left out.
fn omitted(run: &ProtocolRun) -> Option<String> {
    let records = run.records();
    let calls = records.flat_map(|record| record.calls().chain(record.probe_calls()));
    let omitted = calls
        .filter_map(|call| call.served.as_ref())
        .flat_map(|served| &served.omitted);
    let names = omitted
        .map(|name| format!("`{name}`"))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>();
    (!names.is_empty()).then(|| {
        format!(
            "requests were sent without {}, which the model does not take, so its default applied",
            names.join(" and ")
        )
    })
}

fn chance(run: &ProtocolRun) -> Vec<String> {
    let likely = |strategy: &StrategyRecords| {
        let corrected = CorrectedRecall::own(strategy);
        let left_out = corrected
            .too_likely()
            .map(|(what, rate)| format!("{what} (q = {rate:.2})"));
        joined(
            &format!(
                "left out of the values kept of {}, since chance finds it",
                strategy.name
            ),
            left_out,
        )
    };
    let mut warnings: Vec<String> = run.strategies.iter().filter_map(likely).collect();
    let unknown = |strategy: &StrategyRecords| {
        let corrected = CorrectedRecall::own(strategy);
        if corrected.units_scored() > 0 {
            corrected.unknown()
        } else {
            0
        }
    };
    warnings.extend(listed(
        run,
        "observations of facts left out of the values kept because their chance is unknown",
        unknown,
    ));
    warnings
}

/// Why answers rank nothing, where there are some.
fn unranked_answers(run: &ProtocolRun) -> Option<String> {
    let has_answers = run
        .strategies
        .iter()
        .any(|strategy| strategy.records().any(|record| !record.answers.is_empty()));
    let why = reader_strength(run).err().filter(|_| has_answers)?;
    Some(format!("answer recall is unranked: {why}"))
}

/// Questions without an answer, or with a part of one.
fn failed_answers(run: &ProtocolRun) -> impl Iterator<Item = String> {
    let failed = listed(
        run,
        "questions without an answer, counted as misses of recall and in no rate of wrong answers",
        |strategy| answers_with(strategy, |answer| answer.grade == Grade::Failed),
    );
    let cut = listed(
        run,
        "answers cut at the most tokens of a reply, or withheld",
        |strategy| answers_with(strategy, is_cut),
    );
    failed.into_iter().chain(cut)
}

fn answers_with(strategy: &StrategyRecords, counts: fn(&AnswerRow) -> bool) -> usize {
    strategy
        .records()
        .flat_map(|record| &record.answers)
        .filter(|row| counts(row))
        .count()
}

fn uses(run: &ProtocolRun) -> Option<String> {
    let count = |record: &Record| {
        visits(record)
            .flat_map(|observation| crate::data::uses(record, observation))
            .count()
    };
    let any = |record: &Record| {
        visits(record)
            .flat_map(|point| uses_with_generic(record, point))
            .count()
    };
    let echoed = |record: &Record| {
        visits(record)
            .map(|observation| observation.echoed as usize)
            .sum::<usize>()
    };
    let most = |of: &dyn Fn(&Record) -> usize| {
        run.strategies
            .iter()
            .map(|strategy| strategy.records().map(of).sum::<usize>())
            .max()
            .unwrap_or(0)
    };
    let (events, all, left_out) = (most(&count), most(&any), most(&echoed));
    // Each strategy's own trigger decides under published limits.
    let bound = if run.protocol.limits() == LimitsOf::Strategy {
        "at most "
    } else {
        ""
    };
    let distance = match run.protocol.limits() {
        LimitsOf::Recording => "before a recorded compaction",
        LimitsOf::Run | LimitsOf::Strategy => "a trigger's length earlier",
    };
    let of_address = |seen: &&Use| seen.kind == UseKind::Address;
    let address = |record: &Record| {
        visits(record)
            .flat_map(|point| &point.uses)
            .filter(of_address)
            .count()
    };
    let addresses = match most(&address) {
        0 => String::new(),
        found => format!(", {bound}{found} of them of addresses"),
    };
    let generic = if all > events {
        format!("; with generic values {bound}{all} uses")
    } else {
        String::new()
    };
    (all + left_out > 0).then(|| {
        format!(
            "needed at use: {bound}{events} {} of facts last mentioned {distance}{addresses}; {left_out} more are left out because a recorded turn repeated \
             the value{generic}",
            if events == 1 { "use" } else { "uses" }
        )
    })
}

fn generic(run: &ProtocolRun) -> Option<String> {
    let strategy = run.strategies.first()?;
    let count = strategy
        .records()
        .flat_map(|record| &record.facts)
        .filter(|fact| fact.generic && !fact.decoy)
        .count();
    (count > 0).then(|| {
        format!(
            "{count} facts have generic values, which occur in other projects too; they count only in \
             `needed_at_use_recall_with_generic`"
        )
    })
}

/// Where no fact has a subject, a value of another project is generic and no foreign fact, so that
/// none can match by chance.
fn no_chance(run: &ProtocolRun) -> Option<String> {
    let mut facts = run
        .records()
        .flat_map(|record| &record.facts)
        .filter(|fact| !fact.decoy);
    let is_imported = facts.all(|fact| fact.category == Category::Incidental);
    let cells = || {
        run.records()
            .flat_map(|record| &record.observations)
            .flat_map(|observation| &observation.chance)
    };
    let pairs: u64 = cells().map(|cell| u64::from(cell.pairs)).sum();
    let is_zero = pairs > 0 && cells().all(|cell| cell.hits == 0);
    (is_imported && is_zero).then(|| {
        format!(
            "q is 0 by construction: foreign facts are values that these conversations do not state (what several projects state \
             is generic, what sessions of one project share is left out), and 0 of {} pairs matched; so values kept are the same with and without chance",
            grouped(pairs as f64)
        )
    })
}

fn foils(run: &ProtocolRun) -> Option<String> {
    let rates = run.strategies.iter().filter_map(|strategy| {
        let seen = || strategy.records().flat_map(|record| &record.observations);
        let hits: u64 = seen()
            .map(|observation| u64::from(observation.foil_hits))
            .sum();
        let looked: u64 = seen().map(|observation| u64::from(observation.foils)).sum();
        (hits > 0).then(|| format!("{} {hits} of {looked}", strategy.name))
    });
    joined("invented values, foils found in what was written", rates)
}

/// A model's name may be served by several models, or by another one later.
fn served(run: &ProtocolRun) -> Vec<String> {
    let manifest = run.manifest;
    let of = |name: &str, is_counted: &dyn Fn(&CallRow) -> bool| served_as(run, name, is_counted);
    let is_of_checkpointer =
        |call: &CallRow| manifest.checkpointer.is_some() && call.purpose == Purpose::Checkpoint;
    let is_of_target = |call: &CallRow| manifest.target.is_some() && call.is_of_target();
    let target = manifest
        .target
        .as_ref()
        .and_then(|target| of(target, &is_of_target));
    let checkpointer = manifest
        .checkpointer
        .as_ref()
        .and_then(|model| of(model, &is_of_checkpointer));
    let summarizer = of(&manifest.summarizer, &|call| {
        !is_of_target(call) && !is_of_checkpointer(call)
    });
    summarizer
        .into_iter()
        .chain(target)
        .chain(checkpointer)
        .collect()
}

/// What the calls of one model were served as.
fn served_as(
    run: &ProtocolRun,
    name: &str,
    is_counted: &dyn Fn(&CallRow) -> bool,
) -> Option<String> {
    let records = run.records();
    let calls = records.flat_map(|record| record.calls().chain(record.probe_calls()));
    let told = calls
        .filter(|call| is_counted(call))
        .filter_map(|call| call.served.as_ref()?.model.as_deref());
    let models: BTreeSet<&str> = told.collect();
    let (count, models) = (models.len(), models.into_iter().map(code));
    let (name, told) = (code(name), models.collect::<Vec<_>>().join(", "));
    match count {
        0 => None,
        1 => Some(format!("{name} was served as {told}")),
        _ => Some(format!(
            "{name} was served as {count} models, so this is a mixture: {told}"
        )),
    }
}

fn prices(run: &ProtocolRun) -> Vec<String> {
    let mut warnings = priced_models(run);
    if warnings.is_empty() {
        return warnings;
    }
    let turns = || run.records().flat_map(|record| &record.turns);
    if turns().any(|turn| turn.at_ms.is_none()) {
        warnings
            .push("turns without a time are taken to follow each other by 10 s, so that caches stay warm; `cost_usd_10min` and \
                   `cost_saving_10min` take ten minutes".to_owned());
    }
    if run.strategy(FULL).is_none() {
        warnings.push("`full` was not run, so no saving is shown".to_owned());
    }
    warnings
}

/// Whose prices the costs have.
fn priced_models(run: &ProtocolRun) -> Vec<String> {
    let manifest = run.manifest;
    let (prices, summarizer) = (run.prices, manifest.summarizer.as_str());
    let target = manifest.target.as_deref().unwrap_or(summarizer);
    let checkpointer = manifest.checkpointer.as_deref().unwrap_or(summarizer);
    let of_turns = prices.row(target);
    let of_summaries = prices.summarizer_row(summarizer);
    let of_checkpoints = prices.checkpointer_row(checkpointer);
    let beside = manifest.target.is_some() || of_turns != of_summaries;
    let apart = manifest.checkpointer.is_some() || of_checkpoints != of_summaries;
    let costs = match (beside, apart) {
        (false, false) => "costs are those",
        (false, true) => "all other costs are those",
        (true, false) => "compactions and checkpoints cost those",
        (true, true) => "compactions cost those",
    };
    let turns = "turns and answers cost those";
    let checkpoints = "checkpoints before turns cost those";
    [
        Some((of_summaries, summarizer, costs)),
        beside.then_some((of_turns, target, turns)),
        apart.then_some((of_checkpoints, checkpointer, checkpoints)),
    ]
    .into_iter()
    .flatten()
    .filter_map(|(row, model, costs)| Some(priced(row?, model, costs)))
    .collect()
}

fn priced(row: &PriceRow, model: &str, costs: &str) -> String {
    if row.is_free() {
        let name = &row.name;
        return format!(
            "{} is priced as {name}: nothing is billed, so costs are 0",
            code(model)
        );
    }
    format!(
        "{costs} of {} at its prices of {}",
        code(&row.name),
        row.date
    )
}
