//! How each published form deviates: shown on that form, and absent from the corrected one.

mod answers;
mod chained;
mod checkpoints;
mod edge_cases;
mod handoff;
mod progressive;
mod prompts;
mod stage;
mod threshold_summary;
