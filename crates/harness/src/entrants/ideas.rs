//! `@ideas`: for each idea of the strategies a row that differs from one of them in that idea, and is
//! compared with it.
//!
//! Absent on purpose: ideas that a row of its own shows already. What a checkpoint is worth is the
//! difference of `prompt-checkpoint` and `summarize`; what memory is worth that is searched when
//! asked is what answers of `handoff` gain by it.

/// A row's name, what it runs, and the row that it is compared with.
pub(super) const IDEAS: [[&str; 3]; 5] = [
    ["summarize-no-tail", "summarize:tail=0", "summarize"],
    ["summarize-ledger", "summarize:ledger=600", "summarize"],
    [
        "middleware-checkpoint-background",
        "middleware-checkpoint:background=on",
        "middleware-checkpoint",
    ],
    [
        "progressive-one-level",
        "progressive:moderate_age=10000:compact_age=10000:most=10000",
        "progressive",
    ],
    ["chained-no-chain", "chained:chain=off", "chained"],
];
