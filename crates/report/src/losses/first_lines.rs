//! What a reader must know before any share of what compactions lost.

use compactometer_formats::losses::{CompactionLosses, TotalLoss};

use super::Losses;
use super::text::counted;

/// Most calls between two compactions of which the second was due at once, and the fewest such
/// compactions that a line says.
const AT_ONCE: usize = 3;
const FEWEST_AT_ONCE: usize = 3;

impl Losses {
    /// What a reader must know before any share: compactions that left no summary, that followed
    /// each other at once, and that are not measured.
    pub(super) fn first_lines(&self) -> Vec<String> {
        let lost = |kind: TotalLoss| {
            let made = self.compactions.iter();
            made.filter(|one| one.total_loss == Some(kind)).count()
        };
        let (nothing, error) = (lost(TotalLoss::Nothing), lost(TotalLoss::Error));
        let mut lines = Vec::new();
        if nothing > 0 {
            lines.push(format!("{} left nothing", counted(nothing, "compaction")));
        }
        if error > 0 {
            lines.push(format!(
                "{} left the error of a server in place of a summary",
                counted(error, "compaction")
            ));
        }
        lines.extend(self.thrash());
        if self.cleared_results > 0 {
            lines.push(format!(
                "{} cleared beside compactions",
                counted(self.cleared_results, "result")
            ));
        }
        lines.extend(self.not_measured());
        lines
    }

    /// The longest run of compactions that followed each other within a few calls.
    fn thrash(&self) -> Option<String> {
        let mut longest: &[CompactionLosses] = &[];
        let follows = |one: &CompactionLosses, next: &CompactionLosses| {
            one.session == next.session
                && one.calls_until_next.is_some_and(|calls| calls <= AT_ONCE)
        };
        for run in self.compactions.chunk_by(follows) {
            if run.len() > longest.len() {
                longest = run;
            }
        }
        let between = longest
            .iter()
            .rev()
            .skip(1)
            .filter_map(|one| one.calls_until_next);
        (longest.len() >= FEWEST_AT_ONCE).then(|| {
            format!(
                "{} compactions in {} of one session: each left so much that the next was due at once",
                longest.len(),
                counted(between.sum(), "call")
            )
        })
    }

    /// What is not measured, and why.
    fn not_measured(&self) -> Vec<String> {
        let line = |(reason, number): (&compactometer_formats::scenario::Unmeasured, &usize)| {
            format!(
                "{} left out: {}",
                counted(*number, "compaction"),
                reason.why()
            )
        };
        self.unmeasured.iter().map(line).collect()
    }
}
