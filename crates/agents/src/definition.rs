//! What is known of an agent: how it is installed, configured and started, and how its requests are
//! told apart. One file for each in `agents`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use compactometer_engine::message::{Role, part_text};
use compactometer_models::server::Posted;
use serde::Deserialize;

/// The files.
const FILES: &[&str] = &[
    include_str!("../agents/codex.toml"),
    include_str!("../agents/pi.toml"),
    include_str!("../agents/opencode.toml"),
    include_str!("../agents/qwen-code.toml"),
    include_str!("../agents/gemini-cli.toml"),
    include_str!("../agents/langchain.toml"),
    include_str!("../agents/deepagents.toml"),
    include_str!("../agents/agent-framework.toml"),
];
/// The programs of frameworks, and what they share.
const PROGRAMS: &[(&str, &str)] = &[
    ("play.py", include_str!("../agents/play.py")),
    (
        "run_langchain.py",
        include_str!("../agents/run_langchain.py"),
    ),
    (
        "run_deepagents.py",
        include_str!("../agents/run_deepagents.py"),
    ),
    (
        "run_agent_framework.py",
        include_str!("../agents/run_agent_framework.py"),
    ),
];

/// An agent of others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The name that users type.
    pub name: String,
    /// Its own name.
    pub title: String,
    /// Its version, unless a user names another.
    pub version: String,
    /// Its licence.
    pub licence: String,
    /// The model that it is told it has: one that it knows.
    pub model: String,
    /// The window of that model, where the agent knows it and cannot be told another; requests are
    /// refused over this and not over the run's.
    pub window: Option<u32>,
    /// How it is offered the tools of a conversation.
    pub tools: Tools,
    /// The program that runs it, if it is a framework: a file of `agents`.
    pub program: Option<String>,
    /// What is installed.
    pub install: Install,
    /// The command of a turn of the user, whose words are its standard input; or of all turns, if
    /// there is no next one.
    pub turn: Vec<String>,
    /// The command of the turns after the first. Without it one process takes all turns: each as a
    /// line of JSON on its standard input, and it answers each with a line.
    pub next_turn: Option<Vec<String>>,
    /// Seconds that it may be silent; 120 unless it says otherwise.
    pub patience: Option<u64>,
    /// Variables of its environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files that it finds.
    #[serde(default, rename = "file")]
    pub files: Vec<File>,
    /// Signs of a request for a summary, any of which is enough.
    #[serde(default)]
    pub summary: Vec<Sign>,
    /// What is around a summary that it takes, with `{summary}` in it.
    pub reply: Option<String>,
    /// A hash of its file.
    #[serde(skip)]
    pub hash: String,
}

/// How an agent is offered the tools of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tools {
    /// By a server of MCP, under their own names.
    Mcp,
    /// As commands of its shell.
    Shell,
    /// By its program in `agents`, under their own names.
    Program,
}

/// What is installed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Install {
    /// Packages of npm.
    pub npm: Vec<String>,
    /// Packages of PyPI.
    pub pip: Vec<String>,
}

/// A file that an agent finds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Where.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// A sign of a kind of request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    /// Where to look: `system`, `last` for the last message, or a pointer into the body.
    pub field: String,
    /// The words there.
    pub holds: String,
}

impl Sign {
    fn is_in(&self, posted: &Posted) -> bool {
        let messages = &posted.request.messages;
        let holds = |text: &str| text.contains(&self.holds);
        match self.field.as_str() {
            "system" => messages
                .iter()
                .filter(|message| message.role == Role::System)
                .flat_map(|message| message.parts.iter().filter_map(part_text))
                .any(holds),
            "last" => messages
                .last()
                .into_iter()
                .flat_map(|message| message.parts.iter().filter_map(part_text))
                .any(holds),
            pointer => posted
                .body
                .pointer(pointer)
                .is_some_and(|value| value.as_str().is_some_and(holds)),
        }
    }
}

impl Definition {
    /// Reads a definition, as the files of `agents` have it.
    ///
    /// # Errors
    /// What is wrong with it, with its place.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let mut definition = toml::from_str::<Definition>(text)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(text.as_bytes());
        for (_, program) in definition.programs() {
            hasher.update(program.as_bytes());
        }
        definition.hash = hasher.finalize().to_hex()[..16].to_owned();
        Ok(definition)
    }

    /// Whether a request asks for a summary.
    pub(crate) fn asks_for_summary(&self, posted: &Posted) -> bool {
        self.summary.iter().any(|sign| sign.is_in(posted))
    }

    /// A summary as the agent takes it.
    pub(crate) fn enveloped(&self, summary: &str) -> String {
        match &self.reply {
            Some(reply) => reply.replace("{summary}", summary),
            None => summary.to_owned(),
        }
    }

    /// The programs that it needs, by their names.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &(&'static str, &'static str)> {
        let own = self.program.as_deref();
        let needs = move |name: &str| own.is_some_and(|own| name == own || name == "play.py");
        PROGRAMS.iter().filter(move |(name, _)| needs(name))
    }

    /// The name with the version.
    pub fn row(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// Where it is installed.
    pub fn folder(&self, cache: &Path) -> PathBuf {
        cache.join(self.row())
    }
}

/// Every agent, by name.
pub fn all() -> &'static [Definition] {
    static ALL: LazyLock<Vec<Definition>> = LazyLock::new(|| {
        let definitions = FILES.iter().map(|text| Definition::parse(text));
        definitions.filter_map(Result::ok).collect()
    });
    &ALL
}

/// The agent of a name, `NAME` or `NAME@VERSION`.
pub fn by_name(name: &str) -> Option<Definition> {
    let (name, version) = name
        .split_once('@')
        .map_or((name, None), |(name, version)| (name, Some(version)));
    let mut found = all()
        .iter()
        .find(|definition| definition.name == name)?
        .clone();
    if let Some(version) = version {
        // It is a part of a folder's name and of a package's, so it may not lead elsewhere.
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-+_".contains(letter);
        if !version.starts_with(|first: char| first.is_ascii_digit())
            || !version.chars().all(is_plain)
        {
            return None;
        }
        found.version = version.to_owned();
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_leads_nowhere_else() {
        assert_eq!(
            by_name("pi@0.1.2-rc.1").map(|agent| agent.row()).as_deref(),
            Some("pi@0.1.2-rc.1")
        );
        for name in [
            "pi@",
            "pi@../..",
            "pi@0/../../x",
            "pi@file:0",
            "pi@0 --global",
        ] {
            assert!(by_name(name).is_none(), "{name}");
        }
    }

    #[test]
    fn every_file_is_a_definition() {
        for text in FILES {
            let read = Definition::parse(text);
            assert!(read.is_ok(), "{read:?}\n{text}");
        }
        assert_eq!(all().len(), FILES.len());
    }
}
