//! A command as a strategy of a plan.

use std::path::Path;
use std::sync::Arc;

use compactometer_engine::model::ToolDefinition;
use compactometer_engine::strategy::Strategy;
use compactometer_formats::added_text::AddedText;
use compactometer_harness::plan::{Absence, CustomStrategy, Trigger};
use serde_json::{Map, Value};

use crate::process::{AnswerLimits, ProgramTrouble};
use crate::running::RunningProgram;
use crate::runtime::runtime;
use crate::strategy::{External, ProgramLaunch};
use compactometer_formats::strategy_protocol::{Parameter, Reply};

/// The parameters of every program, which limit an answer, with their greatest values.
const LIMITS: [(&str, u64); 2] = [("seconds", 3600), ("memory", 1 << 20)];

/// A program that said hello.
#[derive(Clone)]
struct ExternalProgram {
    command: String,
    /// The name of a row without an alias.
    name: String,
    hello: Hello,
    parameters: Map<String, Value>,
    limits: AnswerLimits,
    /// A hash of the files that the command names.
    files: String,
}

/// What it said.
#[derive(Clone)]
struct Hello {
    name: String,
    version: String,
    about: String,
    parameters: Vec<Parameter>,
    turns: bool,
    tail_share: f64,
    unmetered: bool,
}

/// Starts a command, reads its hello, and ends it.
///
/// # Errors
/// Why it cannot be used as a strategy, with the command.
pub fn open(command: &str) -> Result<Arc<dyn CustomStrategy>, String> {
    let refused = |why: String| format!("`exec:{command}`: {why}");
    if command.trim().is_empty() {
        return Err(refused(
            "name a command, as in `exec:\"python3 my_strategy.py\"`".to_owned(),
        ));
    }
    // No shell has taken these quotes away, as in a file of settings.
    if let Some(inner) = command
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
    {
        return Err(refused(format!(
            "the single quotes are a part of the command here: write `exec:\"{inner}\"`"
        )));
    }
    let owned = command.to_owned();
    let hello = runtime()
        .map_err(ProgramTrouble::System)
        .and_then(|runtime| {
            // A thread of its own, since the caller may be part of a runtime.
            let asked = std::thread::spawn(move || {
                runtime.block_on(RunningProgram::start(&owned, AnswerLimits::default()))
            });
            let running = asked
                .join()
                .map_err(|_| ProgramTrouble::System("it could not be started".to_owned()))??;
            Ok(running.hello.clone())
        });
    let hello = hello.map_err(|trouble| refused(trouble.to_string()))?;
    let Reply::Hello {
        name,
        version,
        about,
        parameters,
        turns,
        tail_share,
        unmetered,
        ..
    } = hello
    else {
        return Err(refused("it did not say hello".to_owned()));
    };
    if !(0.0..=1.0).contains(&tail_share) {
        return Err(refused(format!(
            "its `tail_share` is {tail_share}; it must be from 0 to 1"
        )));
    }
    let of_rows = [
        AddedText::Ledger.row().parameter,
        Absence::PARAMETER,
        Trigger::PARAMETER,
    ];
    let taken = of_rows
        .into_iter()
        .chain(LIMITS.map(|(name, _)| name))
        .collect::<Vec<_>>();
    if let Some(taken) = parameters
        .iter()
        .find(|parameter| taken.contains(&parameter.name.as_str()))
    {
        return Err(refused(format!(
            "it has a parameter `{}`, which every program has already",
            taken.name
        )));
    }
    let defaults = parameters
        .iter()
        .map(|parameter| (parameter.name.clone(), parameter.default.clone()))
        .collect();
    Ok(Arc::new(ExternalProgram {
        command: command.to_owned(),
        name: stem(command).unwrap_or_else(|| name.clone()),
        hello: Hello {
            name,
            version,
            about,
            parameters,
            turns,
            tail_share,
            unmetered,
        },
        parameters: defaults,
        limits: AnswerLimits::default(),
        files: files(command),
    }))
}

impl CustomStrategy for ExternalProgram {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.hello.version
    }

    fn about(&self) -> &str {
        &self.hello.about
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let plain = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        self.parameters
            .iter()
            .map(|(name, value)| (name.clone(), plain(value)))
            .collect()
    }

    fn with(&self, parameter: &str, value: &str) -> Result<Arc<dyn CustomStrategy>, String> {
        let mut changed = self.clone();
        if let Some((name, most)) = LIMITS.iter().find(|(name, _)| *name == parameter) {
            let number = value
                .trim()
                .parse()
                .ok()
                .filter(|number| (1..=*most).contains(number));
            let number = number.ok_or_else(|| {
                format!("`{name}` is `{value}`; it must be a whole number from 1 to {most}")
            })?;
            match *name {
                "seconds" => changed.limits.seconds = number,
                _ => changed.limits.memory = number,
            }
            return Ok(Arc::new(changed));
        }
        let Some(known) = self
            .hello
            .parameters
            .iter()
            .find(|known| known.name == parameter)
        else {
            let names = self
                .hello
                .parameters
                .iter()
                .map(|known| known.name.as_str())
                .chain(LIMITS.map(|(name, _)| name));
            let names = names
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ");
            return Err(format!(
                "`{}` has no parameter `{parameter}`; choose from {names}",
                self.hello.name
            ));
        };
        let parsed = match &known.default {
            Value::String(_) => Some(Value::from(value)),
            Value::Bool(_) => value.parse::<bool>().ok().map(Value::from),
            _ => serde_json::from_str::<Value>(value.trim())
                .ok()
                .filter(Value::is_number),
        };
        let parsed = parsed.ok_or_else(|| {
            format!(
                "`{parameter}` is `{value}`; its default is `{}`",
                known.default
            )
        })?;
        changed.parameters.insert(parameter.to_owned(), parsed);
        Ok(Arc::new(changed))
    }

    fn identity(&self) -> String {
        let Hello {
            name,
            version,
            turns,
            unmetered,
            ..
        } = &self.hello;
        let parameters = Value::from(self.parameters.clone());
        let AnswerLimits { seconds, memory } = self.limits;
        let own = [name, version, &self.files];
        let identity = serde_json::json!([
            own,
            turns,
            unmetered,
            words(&self.command),
            parameters,
            seconds,
            memory
        ]);
        blake3::hash(identity.to_string().as_bytes()).to_hex()[..32].to_owned()
    }

    fn tail_share(&self) -> f64 {
        self.hello.tail_share
    }

    fn is_unmetered(&self) -> bool {
        self.hello.unmetered
    }

    fn build(&self, _: &[ToolDefinition], seed: u64) -> Arc<dyn Strategy> {
        Arc::new(External::new(ProgramLaunch {
            command: self.command.clone(),
            parameters: self.parameters.clone(),
            turns: self.hello.turns,
            limits: self.limits,
            seed,
        }))
    }
}

/// The words of a command. Of a path they have only the file, since a result does not depend on
/// where it is.
fn words(command: &str) -> Vec<&str> {
    command
        .split_whitespace()
        .map(|word| {
            Path::new(word)
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or(word)
        })
        .collect()
}

/// The stem of the last file that a command names.
fn stem(command: &str) -> Option<String> {
    let mut files = command
        .split_whitespace()
        .rev()
        .map(Path::new)
        .filter(|path| path.is_file());
    Some(files.next()?.file_stem()?.to_str()?.to_owned())
}

/// A hash of the contents of the files that a command names: a changed program runs its cases
/// again.
fn files(command: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for path in command
        .split_whitespace()
        .map(Path::new)
        .filter(|path| path.is_file())
    {
        hasher.update(&std::fs::read(path).unwrap_or_default());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}
