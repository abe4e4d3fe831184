//! Checks that reports can compute with a record. A checksum only shows that no line changed by
//! accident.

use compactometer_engine::event::Event;

use super::{CompactionRow, Misbound, Observation, Record, Stages};

/// More tokens than any request or view has; the sum of two is still a `u32`.
const MOST_TOKENS: u32 = 1 << 30;

/// Refuses what is impossible.
pub(super) fn check(record: &Record) -> Result<(), String> {
    let facts = record.facts.len();
    for (number, observation) in record.observations.iter().enumerate() {
        of_observation(observation, facts, record.compactions.len())
            .map_err(|what| format!("observation {number} {what}"))?;
    }
    for (number, row) in record.compactions.iter().enumerate() {
        of_compaction(row, facts).map_err(|what| format!("compaction {number} {what}"))?;
    }
    let case = [
        record.case.tool_tokens,
        record.case.system_tokens,
        record.case.fixed_prefix_tokens,
    ];
    let turns = record
        .turns
        .iter()
        .flat_map(|turn| [turn.input, turn.output, turn.shared_prefix]);
    few_tokens(case.into_iter().chain(turns)).map_err(|what| format!("a turn {what}"))
}

fn of_observation(
    observation: &Observation,
    facts: usize,
    compactions: usize,
) -> Result<(), String> {
    let fates = observation.fates.0.len();
    if fates != facts {
        return Err(format!("has `{fates}` fates for `{facts}` facts"));
    }
    if observation.round as usize > compactions {
        return Err(format!(
            "is of round `{}` after at most `{compactions}`",
            observation.round
        ));
    }
    if let Some(Misbound(fact, ..)) = observation
        .misbound
        .iter()
        .find(|Misbound(.., rivals)| *rivals <= 0.0)
    {
        return Err(format!(
            "gives fact {fact} to wrong subjects, but the case has none"
        ));
    }
    few_tokens([observation.tokens_since_compaction, observation.log_tokens])
}

fn of_compaction(row: &CompactionRow, facts: usize) -> Result<(), String> {
    let Stages {
        left,
        reached,
        written,
        kept,
        paired_reached,
        paired_written,
        decoys_left,
        decoys_reached,
        decoys_written,
    } = row.stages;
    let stages = [
        left,
        reached,
        written,
        kept,
        paired_reached,
        paired_written,
        decoys_left,
        decoys_reached,
        decoys_written,
    ];
    if let Some(stage) = stages.into_iter().find(|stage| *stage as usize > facts) {
        return Err(format!("moved `{stage}` of `{facts}` facts"));
    }
    let Event {
        tokens_before,
        tokens_after,
        tokens_retained,
        ..
    } = row.event;
    few_tokens([tokens_before, tokens_after, tokens_retained])
}

fn few_tokens(tokens: impl IntoIterator<Item = u32>) -> Result<(), String> {
    match tokens.into_iter().find(|tokens| *tokens > MOST_TOKENS) {
        Some(tokens) => Err(format!(
            "has `{tokens}` tokens; at most `{MOST_TOKENS}` are possible"
        )),
        None => Ok(()),
    }
}
