//! A run's records as tables for a database, one record at a time, so that a run of any size needs
//! little memory.
//!
//! Absent on purpose: statistics. Whoever queries the tables takes means over groups, as reports
//! do.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use compactometer_engine::event::Outcome;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::record::{Observation, ObservationKind, RANDOM_DRAWS, Record};

use crate::data::{fates, looks, points, visits};
use crate::metrics::cost;
use crate::summary::spec_of;

/// A table: its name, and the name and SQL type of each column. Every row begins with the number of
/// its case.
struct TableSpec {
    /// The name. Its file is `NAME.csv`.
    name: &'static str,
    /// Names and SQL types.
    columns: &'static [(&'static str, &'static str)],
}

/// The file that has the columns of each table, with their SQL types, as JSON.
const COLUMNS: &str = "columns.json";

/// Every table.
const TABLES: &[TableSpec] = &[CASES, LOOKS, USES, FACTS, COMPACTIONS, TURNS];

const CASES: TableSpec = TableSpec {
    name: "cases",
    columns: &[
        ("case_id", "BIGINT"),
        ("key", "VARCHAR"),
        ("protocol", "VARCHAR"),
        ("retained", "INTEGER"),
        ("split", "DOUBLE"),
        ("is_swept", "BOOLEAN"),
        ("strategy", "VARCHAR"),
        ("family", "VARCHAR"),
        ("conversation", "VARCHAR"),
        ("group_id", "VARCHAR"),
        ("model", "VARCHAR"),
        ("rounds", "INTEGER"),
        ("cost_usd", "DOUBLE"),
        ("cost_usd_compaction", "DOUBLE"),
        ("approach", "VARCHAR"),
    ],
};

const LOOKS: TableSpec = TableSpec {
    name: "looks",
    columns: &[
        ("case_id", "BIGINT"),
        ("after", "INTEGER"),
        ("round", "INTEGER"),
        ("fact", "VARCHAR"),
        ("category", "VARCHAR"),
        ("kind", "VARCHAR"),
        ("weight", "DOUBLE"),
        ("is_present", "BOOLEAN"),
        ("is_usable", "BOOLEAN"),
        ("bound", "DOUBLE"),
        ("bound_corrected", "DOUBLE"),
        ("random_share", "DOUBLE"),
    ],
};

const USES: TableSpec = TableSpec {
    name: "uses",
    columns: &[
        ("case_id", "BIGINT"),
        ("after", "INTEGER"),
        ("fact", "VARCHAR"),
        ("use", "VARCHAR"),
        ("held", "VARCHAR"),
    ],
};

const FACTS: TableSpec = TableSpec {
    name: "facts",
    columns: &[
        ("case_id", "BIGINT"),
        ("fact", "VARCHAR"),
        ("category", "VARCHAR"),
        ("kind", "VARCHAR"),
        ("is_decoy", "BOOLEAN"),
        ("is_generic", "BOOLEAN"),
        ("fate", "VARCHAR"),
        ("is_usable", "BOOLEAN"),
    ],
};

const COMPACTIONS: TableSpec = TableSpec {
    name: "compactions",
    columns: &[
        ("case_id", "BIGINT"),
        ("after", "INTEGER"),
        ("outcome", "VARCHAR"),
        ("tokens_before", "INTEGER"),
        ("tokens_after", "INTEGER"),
        ("tokens_retained", "INTEGER"),
        ("calls", "INTEGER"),
    ],
};

const TURNS: TableSpec = TableSpec {
    name: "turns",
    columns: &[
        ("case_id", "BIGINT"),
        ("message", "INTEGER"),
        ("input", "INTEGER"),
        ("shared_prefix", "INTEGER"),
        ("output", "INTEGER"),
        ("waited_ms", "BIGINT"),
        ("over_window", "BOOLEAN"),
        ("violations", "INTEGER"),
    ],
};

/// Writes the tables.
pub struct Tables<'t> {
    manifest: &'t Manifest,
    prices: &'t PriceTable,
    cases: RowTable,
    looks: RowTable,
    uses: RowTable,
    facts: RowTable,
    compactions: RowTable,
    turns: RowTable,
    records: u64,
}

impl<'t> Tables<'t> {
    /// Begins a file for each table in that folder, and writes what their columns hold: a column
    /// may be empty, and then its values do not say what it is.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn create(dir: &Path, manifest: &'t Manifest, prices: &'t PriceTable) -> csv::Result<Self> {
        let columns = TABLES
            .iter()
            .map(|table| (table.name.to_owned(), serde_json::json!(table.columns)));
        std::fs::write(
            dir.join(COLUMNS),
            serde_json::Value::Object(columns.collect()).to_string(),
        )?;
        let table = |spec: &TableSpec| RowTable::create(dir, spec);
        Ok(Tables {
            manifest,
            prices,
            cases: table(&CASES)?,
            looks: table(&LOOKS)?,
            uses: table(&USES)?,
            facts: table(&FACTS)?,
            compactions: table(&COMPACTIONS)?,
            turns: table(&TURNS)?,
            records: 0,
        })
    }

    /// Adds the rows of a record.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn add(&mut self, record: &Record) -> csv::Result<()> {
        self.records += 1;
        let number = self.records;
        self.add_case(number, record)?;
        visits(record)
            .try_for_each(|observation| self.add_observation(number, record, observation))?;
        let is_usable = points(record)
            .last()
            .is_none_or(|observation| observation.unusable.is_none());
        for (fact, fate) in fates::last(record) {
            let (fate, decoy, generic) = (fate.name(), fact.decoy, fact.generic);
            let row = (
                number,
                &fact.id,
                fact.category,
                fact.value_kind,
                decoy,
                generic,
                fate,
                is_usable,
            );
            self.facts.rows.serialize(row)?;
        }
        for row in &record.compactions {
            let event = &row.event;
            let outcome = match event.outcome {
                Outcome::Applied => "applied",
                Outcome::Skipped(_) => "skipped",
                Outcome::Failed(_) => "failed",
            };
            let sizes = (
                event.tokens_before,
                event.tokens_after,
                event.tokens_retained,
            );
            self.compactions.rows.serialize((
                number,
                event.after.0,
                outcome,
                sizes,
                row.calls.len(),
            ))?;
        }
        let is_metered = !self.is_unmetered(record);
        for turn in &record.turns {
            let tokens = (turn.input, turn.shared_prefix, turn.output);
            let waited = turn.waited_ms.filter(|_| is_metered);
            self.turns.rows.serialize((
                number,
                turn.message.0,
                tokens,
                waited,
                turn.over_window,
                turn.violations,
            ))?;
        }
        Ok(())
    }

    /// Adds the looks at old facts at a point of recall.
    fn add_looks(
        &mut self,
        number: u64,
        record: &Record,
        observation: &Observation,
    ) -> csv::Result<()> {
        let after = observation.after.0;
        for look in looks(record, observation) {
            let fact = look.fact;
            let fact = (&fact.id, fact.category, fact.value_kind, fact.weight);
            let bound = look
                .binding
                .map(|binding| (binding.own, binding.corrected))
                .unzip();
            let random = f64::from(look.random_hits) / f64::from(RANDOM_DRAWS);
            let row = (
                number,
                after,
                look.round,
                fact,
                look.is_present,
                look.is_usable,
                bound,
                random,
            );
            self.looks.rows.serialize(row)?;
        }
        Ok(())
    }

    /// Adds the looks at old facts at a point, and the uses by the turn after it.
    fn add_observation(
        &mut self,
        number: u64,
        record: &Record,
        observation: &Observation,
    ) -> csv::Result<()> {
        let after = observation.after.0;
        if observation.kind == ObservationKind::Point {
            self.add_looks(number, record, observation)?;
        }
        for (fact, seen) in observation.used.iter().zip(&observation.uses) {
            let fact = record.facts.get(*fact as usize).map_or("", |fact| &fact.id);
            self.uses
                .rows
                .serialize((number, after, fact, seen.kind, seen.held))?;
        }
        Ok(())
    }

    /// How a strategy works, if it is the program's.
    fn approach(&self, strategy: &str) -> Option<&'static str> {
        let settings = self.manifest.settings.get(strategy);
        let spec = spec_of(settings.map_or(strategy, |settings| &settings.base))?;
        Some(spec.approach?.name())
    }

    fn add_case(&mut self, number: u64, record: &Record) -> csv::Result<()> {
        let case = &record.case;
        let cost = cost::of_conversation(self.prices, record, cost::SHORT_GAP_MS)
            .filter(|_| !self.is_unmetered(record));
        self.cases.rows.serialize((
            number,
            &record.key,
            case.protocol.name(),
            case.budget.retained,
            case.split,
            case.is_swept(self.manifest.retained),
            &case.strategy,
            case.family,
            &case.scenario,
            &case.group,
            case.target_model(),
            record.rounds(),
            cost.map(|parts| parts.total()),
            cost.map(|parts| parts.compaction),
            self.approach(&case.strategy),
        ))
    }

    /// Its calls are in no cost and in no wait.
    fn is_unmetered(&self, record: &Record) -> bool {
        self.manifest
            .settings
            .get(&record.case.strategy)
            .is_some_and(|settings| settings.unmetered)
    }

    /// Ends all files.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(self) -> csv::Result<()> {
        let Tables {
            cases,
            looks,
            uses,
            facts,
            compactions,
            turns,
            ..
        } = self;
        [cases, looks, uses, facts, compactions, turns]
            .into_iter()
            .try_for_each(RowTable::finish)
    }
}

struct RowTable {
    rows: csv::Writer<BufWriter<File>>,
}

impl RowTable {
    fn create(dir: &Path, spec: &TableSpec) -> csv::Result<Self> {
        let file = File::create(dir.join(format!("{}.csv", spec.name)))?;
        let mut rows = csv::WriterBuilder::new()
            .has_headers(false)
            .from_writer(BufWriter::new(file));
        rows.write_record(spec.columns.iter().map(|(name, _)| name))?;
        Ok(RowTable { rows })
    }

    fn finish(mut self) -> csv::Result<()> {
        self.rows.flush()?;
        Ok(())
    }
}
