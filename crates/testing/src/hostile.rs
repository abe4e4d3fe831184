//! The hostile corpus: what may come from outside, and what must hold then. A row is data, which the
//! test of its subject runs; pages cite rows by their ids.

use std::collections::BTreeMap;

use serde::Deserialize;

/// All rows.
#[derive(Debug, Deserialize)]
pub struct Corpus {
    /// Input of commands.
    pub command: Vec<HostileCommand>,
    /// Programs that compact.
    pub program: Vec<HostileProgram>,
    /// Servers of models.
    pub server: Vec<HostileServer>,
    /// What tests of their own cover.
    pub tested: Vec<Tested>,
}

/// A command with hostile input.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostileCommand {
    /// Its name in pages.
    pub id: String,
    /// What is hostile.
    pub attack: String,
    /// Files in its folder, by name.
    #[serde(default)]
    pub files: BTreeMap<String, HostileFile>,
    /// Its arguments.
    pub args: Vec<String>,
    /// What it reads.
    #[serde(default)]
    pub stdin: String,
    /// Variables of its environment.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// What the user says in its session.
    pub user: Option<String>,
    /// What a tool answers there.
    pub result: Option<String>,
    /// What a call takes there.
    pub argument: Option<String>,
    /// The summary there.
    pub summary: Option<String>,
    /// Its exit code.
    pub exit: i32,
    /// Parts of what it prints.
    #[serde(default)]
    pub prints: Vec<String>,
    /// Parts of its messages.
    #[serde(default)]
    pub says: Vec<String>,
    /// What it must not pass on.
    #[serde(default)]
    pub never: Vec<String>,
    /// What must be in no file that it makes.
    #[serde(default)]
    pub unwritten: Vec<String>,
    /// Files that must not be there then.
    #[serde(default)]
    pub absent: Vec<String>,
    /// The most seconds that it may take.
    pub seconds: Option<u64>,
}

/// A file's text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum HostileFile {
    /// As it is.
    Text(String),
    /// One text many times.
    Repeated {
        /// The text.
        text: String,
        /// How many times.
        times: usize,
    },
}

/// A program that misbehaves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostileProgram {
    /// Its name in pages.
    pub id: String,
    /// What it answers to a compaction.
    pub answer: Option<String>,
    /// What its script does in place of that.
    pub then: Option<String>,
    /// A part of what becomes of the compaction.
    pub outcome: String,
}

/// A server that misbehaves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostileServer {
    /// Its name in pages.
    pub id: String,
    /// The status of its answers, 200 by default.
    pub status: Option<u16>,
    /// What it reports as usage.
    pub usage: Option<serde_json::Value>,
    /// What it sends in place of an answer.
    pub body: Option<String>,
    /// The media type of that.
    pub media: Option<String>,
    /// A stream in place of an answer.
    pub events: Option<Vec<String>>,
    /// Blanks in place of an answer.
    pub size: Option<usize>,
    /// Whether calls have answers.
    #[serde(default)]
    pub answers: bool,
    /// Whether its usage cannot be true.
    #[serde(default)]
    pub lies: bool,
}

/// What a test of its own covers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tested {
    /// Its name in pages.
    pub id: String,
    /// What is hostile.
    pub attack: String,
    /// What must hold.
    pub holds: String,
    /// The file of the test and its name, with `::` between.
    pub test: String,
}

/// The corpus.
///
/// # Panics
/// If a file of it cannot be read.
pub fn corpus() -> Corpus {
    let files = [
        include_str!("../hostile/commands.toml"),
        include_str!("../hostile/programs.toml"),
        include_str!("../hostile/servers.toml"),
        include_str!("../hostile/tested.toml"),
    ];
    match toml::from_str(&files.concat()) {
        Ok(corpus) => corpus,
        Err(error) => panic!("the hostile corpus: {error}"),
    }
}

impl Corpus {
    /// The ids of all rows.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let commands = self.command.iter().map(|row| &row.id);
        let programs = self.program.iter().map(|row| &row.id);
        let servers = self.server.iter().map(|row| &row.id);
        let tested = self.tested.iter().map(|row| &row.id);
        let all = commands.chain(programs).chain(servers).chain(tested);
        all.map(String::as_str)
    }
}
