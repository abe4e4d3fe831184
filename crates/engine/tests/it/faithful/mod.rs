//! The defects of the documents' own forms: each shown on the faithful form and by its absence on the plain one.

mod answers;
mod chained;
mod checkpoints;
mod edge_cases;
mod handoff;
mod progressive;
mod stage;
mod threshold_summary;
