//! Whether a comparison compared anything, and what to do where it did not.

use anyhow::anyhow;
use compactometer_formats::summary::Summary;
use compactometer_harness::plan::Prospects;

use crate::output::failure::Failure;

/// Fails if nothing can be compared: there is no fact, or no strategy under test compacted
/// anything.
pub(super) fn check(summary: &Summary, prospects: &Prospects) -> Result<(), Failure> {
    if prospects.facts == 0 {
        return Err(Failure::inconclusive(anyhow!(
            "nothing was compared: {}",
            super::NO_FACT
        )));
    }
    let strategies = || summary.groups.iter().flat_map(|group| &group.strategies);
    let mut tested = strategies()
        .filter(|strategy| strategy.family.is_tested())
        .peekable();
    if tested.peek().is_none() || tested.any(|strategy| strategy.triggered.conversations > 0) {
        return Ok(());
    }
    let failed = strategies().map(|of| of.decisions.failed).sum::<usize>();
    if failed > 0 {
        return Err(Failure::inconclusive(anyhow!(
            "nothing was compared: all {failed} compactions that were due failed; the report lists the most frequent reasons"
        )));
    }
    let why = match prospects.idle.is_empty() {
        true => "although requests reach the trigger: what may be compacted, which is neither the last message of the user nor an \
                 open call, is too short; import or generate longer conversations"
            .to_owned(),
        false => format!("since the longest request has {} tokens; {}", prospects.longest, prospects.remedy()),
    };
    Err(Failure::inconclusive(anyhow!(
        "nothing was compared: no strategy compacted anything, {why}"
    )))
}
