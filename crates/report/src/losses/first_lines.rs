//! What a reader must know before any share of what compactions lost.

use compactometer_formats::losses::{CompactionLosses, Count, TotalLoss};
use compactometer_formats::scenario::Unmeasured;

use super::Losses;
use super::losses_screen::counted;

/// Most calls between two compactions of which the second was due at once, and the fewest such
/// compactions that a line says.
const AT_ONCE: usize = 3;
const FEWEST_AT_ONCE: usize = 3;

/// A compaction that leaves more of a request than this share had little effect.
const MOST_LEFT: f64 = 0.8;

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
        lines.extend(self.without_effect());
        lines.extend(self.cleared());
        lines.extend(self.not_measured());
        lines
    }

    /// Results that were cleared beside compactions, and what was lost with them.
    fn cleared(&self) -> Option<String> {
        let results = counted(self.cleared_results, "result");
        let Count { found, of } = self.cleared_values;
        let needed = match of {
            0 => String::new(),
            _ => format!(
                ": calls then needed {} in them, and {found} {} held elsewhere",
                counted(of, "value"),
                if found == 1 { "was" } else { "were" },
            ),
        };
        (self.cleared_results > 0).then(|| format!("{results} cleared beside compactions{needed}"))
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

    /// Compactions after which a request was hardly shorter.
    fn without_effect(&self) -> Option<String> {
        let known = self.compactions.iter();
        let known = known.filter_map(|one| one.costs.next_request_tokens);
        let (freed_little, freed): (Vec<_>, Vec<_>) =
            known.partition(|(before, after)| (*before as f64) * MOST_LEFT < *after as f64);
        (!freed_little.is_empty()).then(|| {
            format!(
                "{} of {} freed under a fifth of the request's tokens, as reported",
                freed_little.len(),
                counted(freed_little.len() + freed.len(), "compaction")
            )
        })
    }

    /// What is not measured, and why.
    fn not_measured(&self) -> Vec<String> {
        let line = |(reason, number): (&Unmeasured, &usize)| {
            let messages = match reason {
                Unmeasured::LeftBehind => {
                    format!(" and left {} behind", counted(self.left_behind, "message"))
                }
                _ => String::new(),
            };
            format!(
                "{} left out: {}{messages}",
                counted(*number, "compaction"),
                reason.why()
            )
        };
        self.unmeasured.iter().map(line).collect()
    }
}
