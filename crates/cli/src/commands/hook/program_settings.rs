//! The settings that make a program run the hook.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use compactometer_disk::user::{USER, UserFolders};
use compactometer_text::shell::shell_word;
use serde_json::{Value, json};

use super::super::ledger::BUDGET;
use super::hook_log;

/// Seconds after which a program stops the hook.
const SECONDS: u32 = 10;

/// Where the hook is in a program's settings.
pub(super) const PLACE: &[&str] = &["hooks", "SessionStart"];

/// A program that runs hooks.
pub(super) struct HookProgram {
    pub(super) name: &'static str,
    /// The variable that names its folder, and where that is otherwise, below the user's own.
    variable: &'static str,
    folder: &'static str,
    file: &'static str,
    /// What a user has to know.
    paste: &'static str,
    pub(super) after: &'static str,
}

pub(super) const PROGRAMS: &[HookProgram] = &[
    HookProgram {
        name: "claude-code",
        variable: "CLAUDE_CONFIG_DIR",
        folder: ".claude",
        file: "settings.json",
        paste: CLAUDE_CODE,
        after: "To check it, run `/compact` and ask the agent which exact values it was given after the compaction: some versions run the \
hook and drop what it says (anthropics/claude-code, issues 15174 and 28305).",
    },
    HookProgram {
        name: "codex",
        variable: "CODEX_HOME",
        folder: ".codex",
        file: "hooks.json",
        paste: CODEX,
        after: "Trust the hook when Codex asks. Versions before May 2026 also need `codex_hooks = true` under `[features]` in `config.toml`. \
If a compaction happens in the middle of a turn, some versions add the context only with the next turn (openai/codex, issue 28736).",
    },
];

impl HookProgram {
    /// The user's own settings.
    pub(super) fn settings<F: Fn(&str) -> Option<OsString>>(
        &self,
        user: &UserFolders<F>,
    ) -> Result<PathBuf> {
        let folder = user.of_program(Some(self.variable), self.folder);
        let folder = folder.context("there is no home folder: name the file with --settings")?;
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
        let executable = as_command(&executable.display().to_string(), USER.is_windows);
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

/// The program as the shell of hooks takes it. On Windows that is Git Bash, `cmd` or PowerShell:
/// each takes slashes, a Bash no backslashes, and `cmd` no single quotes.
fn as_command(executable: &str, is_windows: bool) -> String {
    if !is_windows {
        return shell_word(executable);
    }
    let slashes = executable.replace('\\', "/");
    match shell_word(&slashes) == slashes {
        true => slashes,
        false => format!("\"{slashes}\""),
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
    let log = hook_log::path().map_or(String::new(), |path| {
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
    use compactometer_disk::user::with;

    use super::*;

    /// Variables, whether it is Windows, and the settings of Claude Code and Codex.
    #[test]
    fn settings_are_where_each_system_has_them() {
        let rows = [
            (
                &[("HOME", "/home/ann")][..],
                false,
                [
                    "/home/ann/.claude/settings.json",
                    "/home/ann/.codex/hooks.json",
                ],
            ),
            (
                &[("HOME", "/Users/ann"), ("CODEX_HOME", "/codex")],
                false,
                ["/Users/ann/.claude/settings.json", "/codex/hooks.json"],
            ),
            (
                &[("HOME", "/c/Users/ann"), ("USERPROFILE", "C:/Users/ann")],
                true,
                [
                    "C:/Users/ann/.claude/settings.json",
                    "C:/Users/ann/.codex/hooks.json",
                ],
            ),
            (
                &[
                    ("USERPROFILE", "C:/Users/ann"),
                    ("CLAUDE_CONFIG_DIR", "D:/claude"),
                ],
                true,
                ["D:/claude/settings.json", "C:/Users/ann/.codex/hooks.json"],
            ),
        ];
        for (variables, is_windows, expected) in rows {
            let user = with(variables, is_windows);
            for (program, expected) in PROGRAMS.iter().zip(expected) {
                let found = program.settings(&user).expect("there is a home");
                assert_eq!(found, PathBuf::from(expected), "{variables:?}");
            }
        }
    }

    #[test]
    fn each_shell_of_windows_takes_the_command() {
        let rows = [
            (r"C:\bin\compactometer.exe", "C:/bin/compactometer.exe"),
            (
                r"C:\Users\Ann Lee\compactometer.exe",
                "\"C:/Users/Ann Lee/compactometer.exe\"",
            ),
        ];
        for (executable, expected) in rows {
            assert_eq!(as_command(executable, true), expected);
            assert!(PROGRAMS[0].runs(&format!("{expected} hook claude-code")));
        }
    }

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
