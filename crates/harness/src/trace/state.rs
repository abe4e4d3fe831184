//! What is known of one fact, and how a mention or a compaction changes it.

use compactometer_formats::fate::Fate;
use serde::{Deserialize, Serialize};

/// Where a fact is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FactState {
    /// No message has stated it yet.
    #[default]
    Unstated,
    /// An original message in the view holds it; `carried` if a written part in the view holds it
    /// too.
    Verbatim { carried: bool, trail: Trail },
    /// Only a written part in the view holds it.
    Carried(Trail),
    /// The view does not hold it any more.
    Gone(Loss, Trail),
}

/// What is known of a stated fact beside its place in the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trail {
    pub(super) stage: LossStage,
    /// A reply named it without having read it. Until its next mention, what is written of it is a
    /// chance match.
    guessed: bool,
    /// The latest checkpoint, or the latest record of what is pinned, holds it.
    stored: bool,
    /// A note of a message that states it holds it. No summarizer reads notes, so a note explains
    /// nothing that one writes.
    noted: bool,
}

/// How far the latest mention of a fact came on its way into a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum LossStage {
    /// No summarizer was sent it.
    #[default]
    Unread,
    /// A request to a summarizer held it.
    Read,
    /// The reply to such a request held it, and no copy has been lost since.
    Written,
}

/// Why a fact left the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Loss {
    DroppedUnseen,
    Unwritten,
    Eroded,
}

/// Where a compaction left a fact's value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    pub(super) original: bool,
    pub(super) written: bool,
    /// A rule copied it out of the log, so that it is there whatever became of it before.
    pub(super) copied: bool,
    pub(super) stored: bool,
    pub(super) noted: bool,
    pub(super) requested: bool,
    pub(super) replied: bool,
}

impl FactState {
    /// A message has just stated it. Nobody has read or written this mention yet.
    pub(super) fn mentioned(self) -> FactState {
        let Trail { stored, noted, .. } = self.trail().unwrap_or_default();
        let trail = Trail {
            stored,
            noted,
            ..Trail::default()
        };
        FactState::Verbatim {
            carried: self.is_carried(),
            trail,
        }
    }

    pub(super) fn compacted(self, seen: Sighting) -> FactState {
        let Some(before) = self.trail() else {
            return FactState::Unstated;
        };
        // If nothing held the value any more, a match is a chance match and brings nothing back.
        let is_alive = self.is_present() || before.stored;
        let is_read = is_alive && seen.requested;
        let is_new_guess = seen.replied && !is_read && !self.is_carried() && !before.stored;
        let guessed = is_new_guess || (before.guessed && !is_read);
        let carried = seen.copied || (is_alive && seen.written && !guessed);
        let lost_its_copy = self.is_carried() && !carried;
        let trail = Trail {
            stage: before.stage.after(is_read, seen.replied, lost_its_copy),
            guessed,
            stored: is_alive && seen.stored && !guessed,
            noted: seen.noted,
        };
        match (seen.original, carried, self) {
            (true, ..) => FactState::Verbatim { carried, trail },
            (false, true, _) => FactState::Carried(trail),
            (false, false, FactState::Gone(loss, _)) => FactState::Gone(loss, trail),
            (false, false, _) => FactState::Gone(Loss::new(trail.stage, lost_its_copy), trail),
        }
    }

    pub(super) fn fate(self) -> Fate {
        match self {
            FactState::Unstated => Fate::Unstated,
            FactState::Verbatim { .. } => Fate::Verbatim,
            FactState::Carried(_) => Fate::Carried,
            FactState::Gone(Loss::DroppedUnseen, _) => Fate::DroppedUnseen,
            FactState::Gone(Loss::Unwritten, _) => Fate::Unwritten,
            FactState::Gone(Loss::Eroded, _) => Fate::Eroded,
        }
    }

    /// Whether it is out of the view and storage holds it.
    pub(super) fn is_stored(self) -> bool {
        matches!(self, FactState::Gone(_, trail) if trail.stored || trail.noted)
    }

    pub(super) fn is_verbatim(self) -> bool {
        matches!(self, FactState::Verbatim { .. })
    }

    pub(super) fn is_carried(self) -> bool {
        matches!(
            self,
            FactState::Carried(_) | FactState::Verbatim { carried: true, .. }
        )
    }

    pub(super) fn stage(self) -> LossStage {
        self.trail().unwrap_or_default().stage
    }

    fn is_present(self) -> bool {
        matches!(self, FactState::Verbatim { .. } | FactState::Carried(_))
    }

    fn trail(self) -> Option<Trail> {
        match self {
            FactState::Unstated => None,
            FactState::Verbatim { trail, .. }
            | FactState::Carried(trail)
            | FactState::Gone(_, trail) => Some(trail),
        }
    }
}

impl LossStage {
    fn after(self, is_read: bool, is_replied: bool, lost_its_copy: bool) -> LossStage {
        let left = if lost_its_copy {
            self.min(LossStage::Read)
        } else {
            self
        };
        match (is_read, is_replied) {
            (true, true) => LossStage::Written,
            (true, false) => left.max(LossStage::Read),
            (false, _) => left,
        }
    }
}

impl Loss {
    fn new(stage: LossStage, lost_its_copy: bool) -> Loss {
        match stage {
            _ if lost_its_copy => Loss::Eroded,
            LossStage::Written => Loss::Eroded,
            LossStage::Read => Loss::Unwritten,
            LossStage::Unread => Loss::DroppedUnseen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Sighting = Sighting {
        original: false,
        written: false,
        copied: false,
        stored: false,
        noted: false,
        requested: false,
        replied: false,
    };

    fn stated() -> FactState {
        FactState::Unstated.mentioned()
    }

    #[test]
    fn the_stage_of_a_mention_decides_how_its_fact_is_lost() {
        let read = Sighting {
            requested: true,
            ..NOTHING
        };
        let summarized = Sighting {
            requested: true,
            replied: true,
            written: true,
            ..NOTHING
        };
        for (seen, expected) in [
            (vec![NOTHING], Fate::DroppedUnseen),
            (vec![read], Fate::Unwritten),
            (vec![summarized], Fate::Carried),
            (vec![summarized, NOTHING], Fate::Eroded),
            (
                vec![Sighting {
                    stored: true,
                    ..read
                }],
                Fate::Unwritten,
            ),
            (
                vec![
                    Sighting {
                        stored: true,
                        ..summarized
                    },
                    Sighting {
                        stored: true,
                        ..NOTHING
                    },
                ],
                Fate::Eroded,
            ),
            (
                vec![
                    Sighting {
                        noted: true,
                        ..NOTHING
                    },
                    NOTHING,
                ],
                Fate::DroppedUnseen,
            ),
            (
                vec![
                    NOTHING,
                    Sighting {
                        original: true,
                        ..NOTHING
                    },
                ],
                Fate::Verbatim,
            ),
            (
                vec![
                    NOTHING,
                    Sighting {
                        copied: true,
                        ..NOTHING
                    },
                ],
                Fate::Carried,
            ),
            (
                vec![
                    Sighting {
                        copied: true,
                        ..NOTHING
                    },
                    NOTHING,
                ],
                Fate::Eroded,
            ),
        ] {
            assert_eq!(
                seen.iter()
                    .fold(stated(), |state, seen| state.compacted(*seen))
                    .fate(),
                expected,
                "{seen:?}"
            );
        }
    }

    #[test]
    fn what_storage_holds_beside_the_view_is_stored() {
        let kept = Sighting {
            stored: true,
            ..NOTHING
        };
        let read = Sighting {
            requested: true,
            ..kept
        };
        for (seen, expected) in [
            (vec![read], true),
            (vec![read, kept], true),
            (vec![read, NOTHING], false),
            // What nothing held any more does not come back by a chance match in a record.
            (vec![NOTHING, kept], false),
            (
                vec![Sighting {
                    noted: true,
                    ..NOTHING
                }],
                true,
            ),
            (
                vec![Sighting {
                    original: true,
                    ..kept
                }],
                false,
            ),
            (
                vec![Sighting {
                    written: true,
                    replied: true,
                    ..read
                }],
                false,
            ),
        ] {
            let is_stored = seen
                .iter()
                .fold(stated(), |state, seen| state.compacted(*seen))
                .is_stored();
            assert_eq!(is_stored, expected, "{seen:?}");
        }
    }

    #[test]
    fn a_guess_carries_nothing_until_the_next_mention() {
        let guess = Sighting {
            replied: true,
            written: true,
            ..NOTHING
        };
        let guessed = stated().compacted(guess);
        assert_eq!(guessed.fate(), Fate::DroppedUnseen);
        assert_eq!(
            guessed
                .compacted(Sighting {
                    written: true,
                    ..NOTHING
                })
                .fate(),
            Fate::DroppedUnseen
        );
        let written = Sighting {
            requested: true,
            ..guess
        };
        assert_eq!(guessed.mentioned().compacted(written).fate(), Fate::Carried);
    }

    #[test]
    fn a_fact_that_nobody_stated_stays_unstated() {
        let seen = Sighting {
            written: true,
            requested: true,
            replied: true,
            stored: true,
            ..NOTHING
        };
        assert_eq!(FactState::Unstated.compacted(seen), FactState::Unstated);
    }
}
