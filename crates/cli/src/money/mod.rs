//! What a run may cost: who is paid, what is expected, and what nobody agreed to.
//!
//! A mock, a recording and a server on this machine cost nothing. Absent on purpose: what a report says of cost; it counts
//! with the price table and the usage in records.

mod estimate;

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use compactometer_engine::tokens::Encoding;
use compactometer_harness::journal::Journal;
use compactometer_harness::plan::Plan;
use compactometer_llm::cap::{Cap, Tariff};
use compactometer_llm::cassette::Cassette;
use compactometer_llm::client::Receiver;
use compactometer_schema::prices::{PriceRow, PriceTable};
use compactometer_schema::record::{Record, text_hash};

use crate::failure::Failure;
pub(crate) use estimate::Estimate;

/// Who answers, and at what price.
pub(crate) struct Purse {
    /// Nobody where the model answers in the process, from a recording or on this machine.
    receiver: Option<Receiver>,
    tariff: Option<Tariff>,
    cap: Option<Arc<Cap>>,
}

impl Purse {
    /// The purse of a run with that model.
    ///
    /// # Errors
    /// Where a cap is set and the model's price is unknown, or the model's address cannot be used.
    pub(crate) fn of(
        model: &str,
        prices: &PriceTable,
        max_cost: Option<f64>,
        counter: Encoding,
    ) -> anyhow::Result<Purse> {
        let receiver = compactometer_llm::receiver(model)?.filter(|receiver| !receiver.is_here);
        let Some(name) = receiver.as_ref().map(|receiver| receiver.name.clone()) else {
            return Ok(Purse { receiver, tariff: None, cap: None });
        };
        let tariff = prices.row(&name).map(tariff);
        let cap = match (max_cost, tariff) {
            (None, _) => None,
            (Some(limit), Some(tariff)) => Some(Arc::new(Cap::new(limit, tariff, counter))),
            (Some(_), None) => bail!(
                "`--max-cost` needs the price of `{name}`, and the table has no row for it; add one to a table of your own and name \
                 it with `--prices FILE` (`datasets/prices.toml` shows the form)"
            ),
        };
        Ok(Purse { receiver, tariff, cap })
    }

    /// What ends calls before they cost too much; nothing where nothing limits them.
    pub(crate) fn cap(&self) -> Option<Arc<Cap>> {
        self.cap.clone()
    }

    /// What calls cost; nothing where the price is unknown.
    pub(crate) fn tariff(&self) -> Option<Tariff> {
        const FREE: Tariff = Tariff { input: 0.0, cache_write: 0.0, cache_read: 0.0, output: 0.0 };
        if self.receiver.is_none() { Some(FREE) } else { self.tariff }
    }

    /// Makes sure that somebody agreed to the cost: by a cap, on a terminal, or because nothing is billed or no price is known.
    ///
    /// # Errors
    /// Exit code 2 where nobody did.
    pub(crate) fn agree(&self, plan: &Plan, dir: &Path, counter: Encoding, quiet: bool) -> Result<(), Failure> {
        let Some(receiver) = &self.receiver else { return Ok(()) };
        if self.cap.is_some() {
            return Ok(());
        }
        if self.tariff.is_none() {
            if !quiet {
                eprintln!(
                    "note: the price of `{}` is unknown, so its cost is; `--prices FILE` names one",
                    receiver.name
                );
            }
            return Ok(());
        }
        let estimate = Estimate::of(plan, &done(dir)?, counter, self.tariff())?;
        eprint!("{}", estimate.table());
        eprintln!("texts go to `{}`, which bills them", receiver.host);
        if agreed_on_terminal().map_err(Failure::failed)? {
            return Ok(());
        }
        Err(Failure::usage(anyhow!(
            "nobody agreed to what `{}` may cost; give a limit with `--max-cost USD`, or look first with `--estimate`",
            receiver.name
        )))
    }

    /// Counts what the records of the folder and the recording cost before.
    ///
    /// # Errors
    /// Where either cannot be read.
    pub(crate) fn count_spent(&self, dir: &Path, record: Option<&Path>) -> Result<(), Failure> {
        let (Some(cap), Some(tariff), Some(receiver)) = (&self.cap, self.tariff, &self.receiver) else { return Ok(()) };
        let taped = record.map(|folder| Cassette::replies(folder, &receiver.name)).transpose();
        let taped = taped.map_err(Failure::usage)?.unwrap_or_default();
        // A record's call that stands on the tape was paid for once.
        let on_tape = taped.iter().map(|reply| text_hash(&reply.text)).collect::<std::collections::HashSet<_>>();
        let records = done(dir)?;
        let calls = records.iter().flat_map(|record| record.calls().chain(record.probe_calls()));
        let untaped = calls.filter(|call| call.reply.as_ref().is_none_or(|reply| !on_tape.contains(reply)));
        let usages = taped.iter().map(|reply| &reply.usage).chain(untaped.map(|call| &call.usage));
        cap.add(usages.map(|usage| tariff.dollars(usage)).sum());
        Ok(())
    }
}

/// The records that the folder holds already.
pub(crate) fn done(dir: &Path) -> Result<Vec<Record>, Failure> {
    if !dir.join("records.jsonl").exists() {
        return Ok(Vec::new());
    }
    Journal::open(dir).map(|(_, records)| records).map_err(Failure::usage)
}

fn tariff(row: &PriceRow) -> Tariff {
    Tariff { input: row.input, cache_write: row.cache_write, cache_read: row.cache_read, output: row.output }
}

/// Asks, where somebody sits at a terminal.
fn agreed_on_terminal() -> std::io::Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(false);
    }
    eprint!("go on? [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
