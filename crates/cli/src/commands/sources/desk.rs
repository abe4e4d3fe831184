//! Runs this program in a folder of its own. A run that several rows look at is made once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, ensure};
use compactometer_text::shell::shell_word;
use serde_json::Value;
use tempfile::TempDir;

pub(super) struct SourcesDesk {
    program: PathBuf,
    folder: TempDir,
    runs: BTreeMap<String, Rc<RunFolder>>,
    /// The arguments of the last command that a row used.
    last: Vec<String>,
}

/// A run's folder, read.
pub(super) struct RunFolder {
    arguments: Vec<String>,
    pub(super) records: Vec<Value>,
    pub(super) summary: Value,
    pub(super) manifest: Value,
    pub(super) texts: BTreeMap<String, String>,
}

/// One conversation with some thirty compactions, for what needs many rows.
pub(super) const SMALL: &str = "small.toml";

/// The suites that a checkout has under `datasets`, so that the rows are checked without one too.
const SPECS: [(&str, &str); 5] = [
    (SMALL, include_str!("../../../../../datasets/small.toml")),
    (
        "rounds.toml",
        include_str!("../../../../../datasets/rounds.toml"),
    ),
    (
        "absence.toml",
        include_str!("../../../../../datasets/absence.toml"),
    ),
    (
        "memory.toml",
        include_str!("../../../../../datasets/memory.toml"),
    ),
    (
        "long.toml",
        include_str!("../../../../../datasets/long.toml"),
    ),
];

impl SourcesDesk {
    pub(super) fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        for (name, text) in SPECS {
            std::fs::write(folder.path().join(name), text)?;
        }
        Ok(SourcesDesk {
            program: std::env::current_exe()?,
            folder,
            runs: BTreeMap::new(),
            last: Vec::new(),
        })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn forget_command(&mut self) {
        self.last.clear();
    }

    /// The last command, as somebody would type it in a checkout.
    pub(super) fn command(&self) -> String {
        if self.last.is_empty() {
            return String::new();
        }
        let typed = |word: &String| match SPECS.iter().any(|(name, _)| word == name) {
            true => format!("datasets/{word}"),
            false => shell_word(word),
        };
        let words = self.last.iter().map(typed).collect::<Vec<_>>();
        format!("compactometer {}", words.join(" "))
    }

    /// What a command prints.
    pub(super) fn prints(&mut self, arguments: &[&str]) -> Result<String> {
        self.last = arguments.iter().map(|word| (*word).to_owned()).collect();
        let (code, out, error) = self.call(arguments)?;
        ensure!(code == Some(0), "exit code {code:?}: {}", tail(&error));
        Ok(out)
    }

    /// The exit code of a command, and what it printed on both streams.
    pub(super) fn fails(&mut self, arguments: &[&str]) -> Result<(Option<i32>, String)> {
        self.last = arguments.iter().map(|word| (*word).to_owned()).collect();
        let (code, out, error) = self.call(arguments)?;
        Ok((code, out + &error))
    }

    fn call(&self, arguments: &[&str]) -> Result<(Option<i32>, String, String)> {
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.folder.path())
            .args(arguments)
            .env("COLUMNS", "200");
        let settings = std::env::vars_os().map(|(name, _)| name);
        for name in settings.filter(|name| name.to_string_lossy().starts_with("COMPACTOMETER_")) {
            command.env_remove(name);
        }
        let done = command
            .output()
            .context("this program cannot be started again")?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((done.status.code(), text(&done.stdout), text(&done.stderr)))
    }

    /// A run of `compare`, by name; without sweeps and pages of conversations.
    pub(super) fn compare(&mut self, name: &str, arguments: &[&str]) -> Result<Rc<RunFolder>> {
        let plain = ["--sweep=false", "--cases", "none", "--quiet", "--out", name];
        self.made(name, "compare", arguments, &plain)
    }

    /// A run without a report, by name.
    pub(super) fn run(&mut self, name: &str, arguments: &[&str]) -> Result<Rc<RunFolder>> {
        self.made(name, "run", arguments, &["--quiet", "--out", name])
    }

    fn made(
        &mut self,
        name: &str,
        command: &str,
        arguments: &[&str],
        plain: &[&str],
    ) -> Result<Rc<RunFolder>> {
        if let Some(run) = self.runs.get(name) {
            self.last = run.arguments.clone();
            return Ok(Rc::clone(run));
        }
        let shown = [&[command], arguments].concat();
        self.last = shown.iter().map(|word| (*word).to_owned()).collect();
        let all = [&shown, plain].concat();
        let (code, _, error) = self.call(&all)?;
        // A run that ended and says that something failed has its files.
        ensure!(
            matches!(code, Some(0 | 4)),
            "exit code {code:?}: {}",
            tail(&error)
        );
        let run = Rc::new(RunFolder::read(
            &self.folder.path().join(name),
            self.last.clone(),
        )?);
        self.runs.insert(name.to_owned(), Rc::clone(&run));
        Ok(run)
    }

    /// The run of all strategies of the documents on a third of the default suite.
    pub(super) fn default_run(&mut self) -> Result<Rc<RunFolder>> {
        self.compare("default", &["-s", "@reference", "--sample", "8"])
    }

    /// The same over more than a hundred rounds.
    pub(super) fn rounds(&mut self) -> Result<Rc<RunFolder>> {
        self.compare("rounds", &["rounds.toml", "-s", "@reference"])
    }

    /// The same under the documents' limits.
    pub(super) fn published(&mut self) -> Result<Rc<RunFolder>> {
        self.compare(
            "published",
            &[
                "long.toml",
                "-s",
                "@reference",
                "--protocol",
                "published",
                "--sample",
                "4",
            ],
        )
    }

    /// Two strategies whose summarizer always fails.
    pub(super) fn down(&mut self) -> Result<Rc<RunFolder>> {
        let rows = "threshold-summary,chained";
        self.run(
            "down",
            &[SMALL, "-s", rows, "--model", "mock+server-error=1"],
        )
    }

    /// A store of several threads, as a folder or a database by its name.
    pub(super) fn store(&mut self, name: &str) -> Result<PathBuf> {
        let rows = "threshold-summary,middleware-checkpoint";
        let out = format!("kept-in-{name}");
        let path = self.folder.path().join(name);
        self.run(
            &out,
            &["absence.toml", "-s", rows, "--sample", "2", "--store", name],
        )?;
        Ok(path)
    }
}

fn tail(error: &str) -> &str {
    let from = error.len().saturating_sub(300);
    error.get(from..).unwrap_or(error).trim()
}

impl RunFolder {
    fn read(folder: &Path, arguments: Vec<String>) -> Result<Self> {
        let lines = |name: &str| -> Result<Vec<Value>> {
            let Ok(text) = std::fs::read_to_string(folder.join(name)) else {
                return Ok(Vec::new());
            };
            text.lines()
                .map(|line| Ok(serde_json::from_str(line)?))
                .collect()
        };
        let mut records = lines("records.jsonl")?;
        let records = records
            .iter_mut()
            .map(|line| line["record"].take())
            .collect();
        let text = |row: &Value| {
            Some((
                row["hash"].as_str()?.to_owned(),
                row["text"].as_str()?.to_owned(),
            ))
        };
        let texts = lines("texts.jsonl")?.iter().filter_map(text).collect();
        let whole = |name: &str| {
            let text = std::fs::read_to_string(folder.join(name));
            text.map_or(Ok(Value::Null), |text| serde_json::from_str(&text))
        };
        Ok(RunFolder {
            arguments,
            records,
            summary: whole("summary.json")?,
            manifest: whole("manifest.json")?,
            texts,
        })
    }

    /// The records of a row.
    pub(super) fn of<'r>(&'r self, strategy: &'r str) -> impl Iterator<Item = &'r Value> + 'r {
        self.records
            .iter()
            .filter(move |record| record["case"]["strategy"] == strategy)
    }

    /// The compactions of a row that changed its context.
    pub(super) fn applied<'r>(&'r self, strategy: &'r str) -> Vec<&'r Value> {
        let compactions = self
            .of(strategy)
            .flat_map(|record| list(&record["compactions"]));
        compactions
            .filter(|made| made["outcome"]["outcome"] == "applied")
            .collect()
    }

    /// A metric of a row, in the first table.
    pub(super) fn metric(&self, strategy: &str, metric: &str) -> Result<f64> {
        let rows = list(&self.summary["groups"][0]["strategies"]);
        let mut rows = rows.filter(|row| row["name"] == strategy);
        let value = rows
            .next()
            .and_then(|row| row["metrics"][metric]["value"].as_f64());
        value.ok_or_else(|| anyhow!("`{metric}` of `{strategy}` has no value"))
    }

    /// The texts that compactions of a row put into its context.
    pub(super) fn inserted<'r>(&'r self, strategy: &'r str) -> impl Iterator<Item = &'r str> + 'r {
        let hashes = self
            .applied(strategy)
            .into_iter()
            .flat_map(|made| list(&made["inserted"]));
        hashes.filter_map(|hash| self.texts.get(hash.as_str()?).map(String::as_str))
    }
}

/// The items of a list; none where there is no list.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> + Clone {
    value.as_array().into_iter().flatten()
}

/// The smallest number of a field of these compactions.
pub(super) fn least(made: &[&Value], field: &str) -> Result<u64> {
    let numbers = made.iter().filter_map(|made| made[field].as_u64());
    numbers
        .min()
        .ok_or_else(|| anyhow!("no compaction has `{field}`"))
}
