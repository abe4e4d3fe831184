//! Runs hooks as an agent's program does, to measure what they bring back after compactions.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use compactometer_disk::input::{InputKind, read_text};
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::losses::{Count, HookFailure, HookRun};
use compactometer_formats::scenario::Scenario;
use compactometer_suites::import::up_to_compaction;
use serde_json::{Value, json};

use super::injection;
use crate::output::failure::Failure;

/// The most bytes that a hook may print.
const LONGEST: u64 = 1_000_000;
/// How often a running hook is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// The hooks to measure.
pub(super) struct Hooks<'a> {
    commands: &'a [String],
    limit: Duration,
    /// The transcripts by the last component of their paths, which is what scenarios hold.
    files: HashMap<String, &'a Path>,
}

impl<'a> Hooks<'a> {
    /// Hooks that read these transcripts.
    pub(super) fn new(
        commands: &'a [String],
        seconds: u64,
        files: &'a [PathBuf],
    ) -> Result<Self, Failure> {
        let mut by_name = HashMap::new();
        for file in files
            .iter()
            .filter(|file| !commands.is_empty() && file.is_file())
        {
            let name = file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if by_name.insert(name.clone(), file.as_path()).is_some() {
                return Err(Failure::usage(anyhow!(
                    "two files are named `{name}`; hooks need transcripts of different names"
                )));
            }
        }
        if !commands.is_empty() && by_name.is_empty() {
            return Err(Failure::usage(anyhow!(
                "a hook needs the transcripts by name; give their files"
            )));
        }
        Ok(Hooks {
            commands,
            limit: Duration::from_secs(seconds),
            files: by_name,
        })
    }

    /// What each hook does after each recorded compaction of a conversation.
    pub(super) fn run(
        &self,
        scenario: &Scenario,
        counter: &dyn TokenCounter,
    ) -> Result<Vec<Vec<HookRun>>, Failure> {
        if self.commands.is_empty() {
            return Ok(Vec::new());
        }
        let name = scenario
            .source
            .split_once(':')
            .map_or(scenario.source.as_str(), |(_, name)| name.trim());
        let file = self.files.get(name);
        let text = file
            .map(|file| read_text(file, InputKind::TRANSCRIPT))
            .transpose()
            .map_err(Failure::usage)?;
        let folder = tempfile::tempdir().map_err(Failure::failed)?;
        let cwd = scenario.directories.first().map_or("/", String::as_str);
        let mut runs = Vec::new();
        for made in &scenario.compactions {
            let cut = text
                .as_deref()
                .zip(made.line)
                .map(|(text, line)| up_to_compaction(text, line as usize));
            let of_hooks = self.commands.iter().map(|command| {
                let Some(cut) = cut else {
                    return Ok(failed(HookFailure::NoTranscript));
                };
                let path = folder.path().join(name);
                std::fs::write(&path, cut).map_err(Failure::failed)?;
                let event = event(&scenario.group_id, &path, cwd);
                let mut run = self.run_one(command, &event, folder.path());
                if std::fs::read(&path).ok().as_deref() != Some(cut.as_bytes()) {
                    run = HookRun {
                        took_ms: run.took_ms,
                        ..failed(HookFailure::WroteTranscript)
                    };
                }
                run.tokens = counter.count_text(&run.context);
                Ok(run)
            });
            runs.push(of_hooks.collect::<Result<_, Failure>>()?);
        }
        Ok(runs)
    }

    /// Of the words of an attacker in the results of tools, how many each hook passes on; nothing of
    /// one that fails.
    pub(super) fn injections(&self) -> Result<Vec<Option<Count>>, Failure> {
        let folder = tempfile::tempdir().map_err(Failure::failed)?;
        let path = folder.path().join("injection.jsonl");
        let event = event("injection", &path, "/srv/shop");
        let counts = self.commands.iter().map(|command| {
            let run = |is_attacked| {
                std::fs::write(&path, injection::session(is_attacked)).map_err(Failure::failed)?;
                let run = self.run_one(command, &event, folder.path());
                Ok::<_, Failure>(run.failure.is_none().then_some(run.context))
            };
            let contexts = run(true)?.zip(run(false)?);
            Ok(contexts.map(|(context, without)| injection::words_in(&context, &without)))
        });
        counts.collect()
    }

    fn run_one(&self, command: &str, event: &str, folder: &Path) -> HookRun {
        let started = Instant::now();
        let printed = self.printed(command, event, folder);
        let took_ms = started.elapsed().as_millis() as u64;
        match printed.and_then(|text| context(&text)) {
            Ok(context) => HookRun {
                context,
                took_ms,
                ..HookRun::default()
            },
            Err(kind) => HookRun {
                took_ms,
                ..failed(kind)
            },
        }
    }

    /// What a command prints if it ends well and in time.
    fn printed(&self, command: &str, event: &str, folder: &Path) -> Result<String, HookFailure> {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .env("CLAUDE_PROJECT_DIR", folder);
        shell
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        let mut child = shell.spawn().map_err(|_| HookFailure::Failed)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        std::thread::scope(|scope| {
            // A hook may end without reading its event.
            scope.spawn(move || input.map(|mut input| input.write_all(event.as_bytes())));
            let reader = scope.spawn(move || {
                let mut bytes = Vec::new();
                let read = output.map(|output| output.take(LONGEST + 1).read_to_end(&mut bytes));
                read.is_some_and(|read| read.is_ok()).then_some(bytes)
            });
            let status = self.wait(&mut child);
            stop(&mut child);
            let bytes = reader.join().ok().flatten().ok_or(HookFailure::Failed)?;
            match status {
                _ if bytes.len() as u64 > LONGEST => Err(HookFailure::TooLong),
                None => Err(HookFailure::TimedOut),
                Some(false) => Err(HookFailure::Failed),
                Some(true) => String::from_utf8(bytes).map_err(|_| HookFailure::BadJson),
            }
        })
    }

    /// Whether a command ended well; nothing if it did not end in time.
    fn wait(&self, child: &mut Child) -> Option<bool> {
        let started = Instant::now();
        while started.elapsed() <= self.limit {
            match child.try_wait() {
                Ok(Some(status)) => return Some(status.success()),
                Err(_) => return Some(false),
                Ok(None) => std::thread::sleep(LOOK),
            }
        }
        None
    }
}

/// The event after a compaction, as programs pass it.
fn event(session: &str, path: &Path, cwd: &str) -> String {
    let event = json!({
        "session_id": session,
        "transcript_path": path,
        "cwd": cwd,
        "hook_event_name": "SessionStart",
        "source": "compact",
        "model": "unknown",
        "permission_mode": "default",
    });
    event.to_string()
}

/// Ends a command and what it started.
fn stop(child: &mut Child) {
    #[cfg(unix)]
    let _ = Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", child.id())])
        .stderr(Stdio::null())
        .status();
    let _ = child.kill();
    let _ = child.wait();
}

fn failed(kind: HookFailure) -> HookRun {
    HookRun {
        failure: Some(kind),
        ..HookRun::default()
    }
}

/// The context in what a hook printed: that of the JSON, or else the text as it is, as programs
/// take it.
fn context(printed: &str) -> Result<String, HookFailure> {
    if !printed.trim_start().starts_with('{') {
        return Ok(printed.trim_end().to_owned());
    }
    let answer: Value = serde_json::from_str(printed).map_err(|_| HookFailure::BadJson)?;
    match &answer["hookSpecificOutput"]["additionalContext"] {
        Value::String(context) => Ok(context.clone()),
        Value::Null => Ok(String::new()),
        _ => Err(HookFailure::BadJson),
    }
}
