//! What a run may cost: which models bill, what a run is expected to cost, and whether a person
//! agreed.
//!
//! A mock, a recording and a server on this machine cost nothing. Absent on purpose: the cost
//! metrics of reports, which are computed from records and the price table.

mod estimate;
mod forecast;

use std::collections::HashSet;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{anyhow, bail};
use compactometer_disk::create_folder;
use compactometer_engine::meter::Purpose;
use compactometer_engine::tokens::Encoding;
use compactometer_formats::prices::{PriceRow, PriceTable, PriceTier};
use compactometer_formats::record::{CallRow, Record, text_hash};
use compactometer_harness::plan::{Plan, PlannedCase};
use compactometer_harness::run::read_records;
use compactometer_models::cassette::Cassette;
use compactometer_models::cost_limit::{CostLimit, Tariff, TokenPrices};
use compactometer_models::http::Receiver;
use compactometer_models::tries::{Try, TryJournal, TryOutcome};

use crate::arguments::SettingArgs;
use crate::arguments::roles::{ModelRole, Roles};
use crate::output::failure::Failure;
use crate::output::run_folder::cannot;
use crate::output::terminal::{self, note};
pub(crate) use estimate::CostEstimate;
pub(crate) use forecast::forecast;

/// The models of a run, their prices, and the limit on their cost.
pub(crate) struct CostBudget {
    accounts: Roles<ModelAccount>,
    counter: Encoding,
    journal: Arc<OnceLock<TryJournal>>,
}

/// One model's part of the cost.
struct ModelAccount {
    /// Absent if the model is in the process, a recording or on this machine.
    receiver: Option<Receiver>,
    /// Whether a server is asked, on this machine or elsewhere.
    is_served: bool,
    tariff: Option<Tariff>,
    cap: Option<Arc<CostLimit>>,
}

/// The price of each model's calls; nothing if a price is unknown.
pub(crate) type Tariffs = Roles<Option<Tariff>>;

impl Tariffs {
    /// The price of a call of this purpose.
    fn of_call(&self, purpose: Purpose) -> Option<Tariff> {
        self.get(self.called_for(purpose)).copied().flatten()
    }
}

impl CostBudget {
    /// Where the models write down their requests, once [`CostBudget::keep_journal`] has set it.
    pub(crate) fn journal(&self) -> &Arc<OnceLock<TryJournal>> {
        &self.journal
    }

    /// Opens the journal in a folder, which is made if it is missing, if a server is asked.
    ///
    /// # Errors
    /// If it cannot be used.
    pub(crate) fn keep_journal(&self, folder: &Path) -> Result<(), Failure> {
        if self.accounts.iter().any(|(_, account)| account.is_served) {
            if !folder.is_dir() {
                let what = format!("make the folder `{}`", folder.display());
                create_folder(folder)
                    .map_err(|error| Failure::failed(cannot(&what, error, "--out")))?;
            }
            let opened = TryJournal::open(folder).map_err(Failure::usage)?;
            self.journal.get_or_init(|| opened);
        }
        Ok(())
    }

    /// The budget of a run with these models.
    ///
    /// # Errors
    /// If a limit is set and a model's price is unknown, or a model's address cannot be used.
    pub(crate) fn new(
        named: &Roles<String>,
        prices: &PriceTable,
        max_cost: Option<f64>,
        counter: Encoding,
    ) -> anyhow::Result<CostBudget> {
        let mut before: Option<Arc<CostLimit>> = None;
        let accounts = named.map(|role, spec| {
            let account = ModelAccount::new(role, spec, prices)?.under(
                max_cost,
                before.as_deref(),
                counter,
            )?;
            before = account.cap.clone().or(before.take());
            Ok::<_, anyhow::Error>(account)
        })?;
        Ok(CostBudget {
            accounts,
            counter,
            journal: Arc::default(),
        })
    }

    /// The limit on this model's calls, shared by all models; nothing without a limit.
    pub(crate) fn cap(&self, role: ModelRole) -> Option<Arc<CostLimit>> {
        self.accounts.get(role)?.cap.clone()
    }

    /// The price of each model's calls.
    pub(crate) fn tariffs(&self) -> Tariffs {
        let tariffs = self
            .accounts
            .map(|_, account| Ok::<_, Infallible>(account.tariff()));
        tariffs.unwrap_or_else(|never| match never {})
    }

    /// Makes sure that a person agreed to the cost of these cases: by a limit or on a terminal. No
    /// agreement is needed if nothing is billed, or if no price is known and the server is not a
    /// provider's.
    ///
    /// # Errors
    /// Exit code 2 if nobody agreed.
    pub(crate) fn agree(&self, cases: &[&PlannedCase], quiet: bool) -> Result<(), Failure> {
        let accounts = || self.accounts.iter().map(|(_, account)| account);
        let billed =
            || accounts().filter_map(|account| Some((account.receiver.as_ref()?, account)));
        if cases.is_empty() || billed().all(|(_, account)| account.cap.is_some()) {
            return Ok(());
        }
        for (receiver, _) in billed().filter(|(_, account)| account.tariff.is_none() && !quiet) {
            note(&format!(
                "note: the price and cost of `{}` are unknown; `--prices FILE` names a price",
                receiver.name
            ));
        }
        let known_to_bill = |(receiver, account): &(&Receiver, &ModelAccount)| {
            account.tariff.is_some() || receiver.is_provider
        };
        let billing = billed().filter(known_to_bill).collect::<Vec<_>>();
        let Some((first, _)) = billing.first() else {
            return Ok(());
        };
        note(
            CostEstimate::new(cases, self.counter, self.tariffs())?
                .table()
                .trim_end_matches('\n'),
        );
        for (receiver, _) in &billing {
            note(&format!(
                "texts go to `{}`, which bills them",
                receiver.host
            ));
        }
        if terminal::can_ask() && terminal::agrees("go on?").map_err(Failure::failed)? {
            return Ok(());
        }
        Err(Failure::usage(anyhow!(
            "nobody agreed to what `{}` may cost; give a limit with `--max-cost USD`, or look first with `run --estimate`",
            first.name
        )))
    }

    /// Counts what earlier requests may have cost: those of the journal, of existing records and of
    /// the recording, each once.
    ///
    /// # Errors
    /// If the recording cannot be read.
    pub(crate) fn count_spent(
        &self,
        records: &[Record],
        tries: &[Try],
        setting: &SettingArgs,
    ) -> Result<(), Failure> {
        for (role, account) in self.accounts.iter() {
            let all = |record| {
                Record::calls(record)
                    .chain(record.probe_calls())
                    .chain(record.judge_calls())
            };
            let calls = records.iter().flat_map(all);
            let own = calls.filter(|call| self.accounts.called_for(call.purpose) == role);
            let folders = setting.record.iter().chain(&setting.earlier);
            account.count_spent(own, tries, folders.map(|folder| role.folder(folder)))?;
        }
        Ok(())
    }
}

impl ModelAccount {
    fn new(role: ModelRole, spec: &str, prices: &PriceTable) -> anyhow::Result<Self> {
        let server = compactometer_models::receiver(spec).map_err(|error| role.told(error))?;
        let is_served = server.is_some();
        let receiver = server.filter(|receiver| !receiver.is_here);
        let tariff = receiver
            .as_ref()
            .and_then(|receiver| prices.row(&receiver.name))
            .map(tariff);
        Ok(ModelAccount {
            receiver,
            is_served,
            tariff,
            cap: None,
        })
    }

    /// Puts the model under a limit, which it shares with the models before it.
    fn under(
        self,
        limit: Option<f64>,
        before: Option<&CostLimit>,
        counter: Encoding,
    ) -> anyhow::Result<Self> {
        let (Some(limit), Some(receiver)) = (limit, &self.receiver) else {
            return Ok(self);
        };
        let Some(tariff) = self.tariff else {
            bail!(
                "`--max-cost` needs the price of `{}`, and the table has no row for it; add one to a table of your own and name \
                 it with `--prices FILE` (`datasets/prices.toml` shows the form)",
                receiver.name
            )
        };
        let cap = before.map_or_else(
            || CostLimit::new(limit, tariff, counter),
            |cap| cap.beside(tariff),
        );
        Ok(ModelAccount {
            cap: Some(Arc::new(cap)),
            ..self
        })
    }

    fn tariff(&self) -> Option<Tariff> {
        const NOTHING: TokenPrices = TokenPrices {
            input: 0.0,
            cache_write: 0.0,
            cache_read: 0.0,
            output: 0.0,
        };
        const FREE: Tariff = Tariff {
            short: NOTHING,
            long: None,
        };
        if self.receiver.is_none() {
            Some(FREE)
        } else {
            self.tariff
        }
    }

    fn count_spent<'c>(
        &self,
        calls: impl Iterator<Item = &'c CallRow>,
        tries: &[Try],
        mut recordings: impl Iterator<Item = PathBuf>,
    ) -> Result<(), Failure> {
        let (Some(cap), Some(tariff), Some(receiver)) = (&self.cap, self.tariff, &self.receiver)
        else {
            return Ok(());
        };
        let taped = recordings.try_fold(Vec::new(), |taped, folder| {
            Ok([
                taped,
                Cassette::replies(&folder, &receiver.name).map_err(Failure::usage)?,
            ]
            .concat())
        })?;
        let tries = || tries.iter().filter(|one| one.sent.model == receiver.name);
        cap.add(tries().map(|one| cost(one, &tariff)).sum());
        let in_journal = tries().filter_map(|one| one.ended.as_ref()?.reply.as_deref());
        let in_journal = in_journal.collect::<HashSet<_>>();
        // A call that is in two places was paid for only once.
        let on_tape = taped
            .iter()
            .map(|reply| text_hash(&reply.text))
            .collect::<HashSet<_>>();
        let untaped = calls.filter(|call| {
            call.reply.as_ref().is_none_or(|reply| {
                !on_tape.contains(reply) && !in_journal.contains(reply.as_str())
            })
        });
        let usages = taped
            .iter()
            .filter(|reply| !in_journal.contains(text_hash(&reply.text).as_str()))
            .map(|reply| &reply.usage)
            .chain(untaped.map(|call| &call.usage));
        cap.add(usages.map(|usage| tariff.dollars(usage)).sum());
        Ok(())
    }
}

/// What a try may have cost: all that it might where nobody knows.
fn cost(one: &Try, tariff: &Tariff) -> f64 {
    let most = || tariff.at_most(one.sent.input.into(), one.sent.output.into());
    one.ended
        .as_ref()
        .map_or_else(most, |ended| match ended.outcome {
            TryOutcome::NotSent => 0.0,
            _ => ended
                .usage
                .as_ref()
                .map_or_else(most, |usage| tariff.dollars(usage)),
        })
}

/// The plan's cases without a record.
pub(crate) fn missing<'p>(plan: &'p Plan, done: &[Record]) -> Vec<&'p PlannedCase> {
    let done = done
        .iter()
        .map(|record| record.key.as_str())
        .collect::<HashSet<_>>();
    plan.cases
        .iter()
        .filter(|case| !done.contains(case.key.as_str()))
        .collect()
}

/// The records that the folder already holds. Nothing is repaired, since the folder may belong to
/// another run.
pub(crate) fn done(dir: &Path) -> Result<Vec<Record>, Failure> {
    if !dir.join("records.jsonl").exists() {
        return Ok(Vec::new());
    }
    read_records(dir).map_err(Failure::usage)
}

/// Of several tiers it has the dearest price of each kind, from the lowest limit on: a limit on
/// cost may not be too low.
fn tariff(row: &PriceRow) -> Tariff {
    let prices = |tier: PriceTier| TokenPrices {
        input: tier.input,
        cache_write: tier.cache_write,
        cache_read: tier.cache_read,
        output: tier.output,
    };
    let dearer = |one: TokenPrices, other: TokenPrices| TokenPrices {
        input: one.input.max(other.input),
        cache_write: one.cache_write.max(other.cache_write),
        cache_read: one.cache_read.max(other.cache_read),
        output: one.output.max(other.output),
    };
    let mut tiers = row.tiers();
    let short = tiers
        .next()
        .map_or_else(|| prices(PriceTier::default()), prices);
    let long = tiers.map(|tier| (tier.above_tokens, prices(tier)));
    Tariff {
        short,
        long: long.reduce(|(above, one), (_, other)| (above, dearer(one, other))),
    }
}
