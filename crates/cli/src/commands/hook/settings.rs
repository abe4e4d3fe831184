//! The settings that make a program run the hook.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use compactometer_text::shell::shell_word;
use serde_json::{Value, json};

use super::super::ledger::BUDGET;
use super::log;

/// Seconds after which a program stops the hook.
const SECONDS: u32 = 10;

/// Where the hook is in a program's settings.
pub(super) const PLACE: &[&str] = &["hooks", "SessionStart"];

/// A program that runs hooks.
pub(super) struct Program {
    pub(super) name: &'static str,
    /// The variable that names its folder, and where that is otherwise, below the user's own.
    variable: &'static str,
    folder: &'static str,
    file: &'static str,
    /// What a user has to know.
    paste: &'static str,
    pub(super) after: &'static str,
}

pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "claude-code",
        variable: "CLAUDE_CONFIG_DIR",
        folder: ".claude",
        file: "settings.json",
        paste: CLAUDE_CODE,
        after: "To check it, run `/compact` and ask the agent which exact values it was given after the compaction: some versions run the \
hook and drop what it says (anthropics/claude-code, issues 15174 and 28305).",
    },
    Program {
        name: "codex",
        variable: "CODEX_HOME",
        folder: ".codex",
        file: "hooks.json",
        paste: CODEX,
        after: "Trust the hook when Codex asks. Versions before May 2026 also need `codex_hooks = true` under `[features]` in `config.toml`. \
If a compaction happens in the middle of a turn, some versions add the context only with the next turn (openai/codex, issue 28736).",
    },
];

impl Program {
    /// The user's own settings.
    pub(super) fn settings(&self) -> Result<PathBuf> {
        let named = |variable| env::var_os(variable).filter(|value| !value.is_empty());
        let folder = match named(self.variable) {
            Some(folder) => PathBuf::from(folder),
            None => env::home_dir()
                .context("there is no home folder: name the file with --settings")?
                .join(self.folder),
        };
        Ok(folder.join(self.file))
    }

    /// The entry of the list of hooks.
    pub(super) fn entry(&self, command: &str) -> Value {
        let hook = json!({"type": "command", "command": command, "timeout": SECONDS});
        json!({"matcher": "compact", "hooks": [hook]})
    }

    /// What the program runs.
    pub(super) fn command(&self, executable: &Path, budget: u32) -> String {
        let budget = match budget.to_string() {
            budget if budget == BUDGET => String::new(),
            budget => format!(" --budget {budget}"),
        };
        let executable = shell_word(&executable.display().to_string());
        format!("{executable} hook {}{budget}", self.name)
    }

    /// Whether a command is this hook, of any version and with any budget.
    pub(super) fn runs(&self, command: &str) -> bool {
        let call = format!(" hook {}", self.name);
        let Some((executable, rest)) = command.split_once(&call) else {
            return false;
        };
        let stem = Path::new(executable.trim_matches(['\'', '"', ' '])).file_stem();
        stem.is_some_and(|stem| stem == "compactometer")
            && (rest.is_empty() || rest.starts_with(' '))
    }
}

/// What to paste for each program, or for the one that is named.
pub(super) fn text(program: Option<&str>, executable: &Path, budget: u32) -> String {
    let chosen = PROGRAMS
        .iter()
        .filter(|one| program.is_none_or(|wanted| wanted == one.name));
    let sections = chosen.map(|program| {
        let entry = program.entry(&program.command(executable, budget));
        let settings = json!({"hooks": {"SessionStart": [entry]}});
        let (head, after) = (program.paste, program.after);
        format!("{head}\n\n{settings:#}\n\nTo remove it, delete the entry. {after}\n")
    });
    let log = log::path().map_or(String::new(), |path| {
        format!("Errors are logged in {}.\n", path.display())
    });
    sections.collect::<Vec<_>>().join("\n") + "\n" + &log
}

const CLAUDE_CODE: &str = "\
Claude Code
-----------
`compactometer hook --install claude-code` does this. By hand, add it to `.claude/settings.json` of a project, or to
`~/.claude/settings.json` for all. If the file has `hooks` already, add the entry to its `SessionStart` list.";

const CODEX: &str = "\
Codex CLI
---------
`compactometer hook --install codex` does this. By hand, add it to `~/.codex/hooks.json`, or to `.codex/hooks.json` of a project.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hook_is_known_by_its_command() {
        let claude = &PROGRAMS[0];
        let own = claude.command(Path::new("/my files/compactometer"), 300);
        assert_eq!(
            own,
            "'/my files/compactometer' hook claude-code --budget 300"
        );
        for command in [
            &own[..],
            "compactometer hook claude-code",
            r"C:/bin/compactometer.exe hook claude-code",
        ] {
            assert!(claude.runs(command), "{command}");
        }
        for command in [
            "compactometer hook codex",
            "echo hook claude-code",
            "x/compactometer hook claude-codex",
            "other",
        ] {
            assert!(!claude.runs(command), "{command}");
        }
    }
}
