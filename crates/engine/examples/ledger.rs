//! The exact values that a summary lacks, within a budget of tokens: `cargo run -p
//! compactometer-engine --example ledger`.

mod support;

use compactometer_engine::ledger::Ledger;
use compactometer_engine::tokens::Encoding;

use support::{Failure, chat, said};

fn main() -> Result<(), Failure> {
    let mut ledger = Ledger::default();
    for (id, role, text) in chat() {
        ledger.add(&said(id, role, &text, 0).message);
    }
    let summary = "The user had builds 0 to 38 deployed; build 39 runs as dep-94d7.";
    let page = ledger.page(200, [summary], &Encoding::O200k);
    println!("{} tokens:\n{}", page.tokens, page.text);
    assert!(page.tokens <= 200 && page.text.contains("dep-"));
    assert!(!page.text.contains("dep-94d7"), "the summary has it");
    Ok(())
}
