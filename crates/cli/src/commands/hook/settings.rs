//! The settings that make a program run the hook.

use anyhow::Context;
use compactometer_text::shell::shell_word;
use serde_json::json;

use super::super::ledger::BUDGET;
use super::log;
use crate::output::failure::Failure;

/// Seconds after which a program stops the hook.
const SECONDS: u32 = 10;

/// What to paste for each program, or for the one that is named.
pub(super) fn text(program: Option<&str>, budget: u32) -> Result<String, Failure> {
    let executable = std::env::current_exe()
        .context("find the path of this program")
        .map_err(Failure::failed)?;
    let executable = executable.display().to_string();
    let sections = [("claude-code", CLAUDE_CODE), ("codex", CODEX)];
    let chosen = sections
        .iter()
        .filter(|(name, _)| program.is_none_or(|wanted| wanted == *name));
    let sections = chosen.map(|(name, about)| {
        let budget = if budget.to_string() == BUDGET {
            String::new()
        } else {
            format!(" --budget {budget}")
        };
        let command = format!("{} hook {name}{budget}", shell_word(&executable));
        let hook = json!({"type": "command", "command": command, "timeout": SECONDS});
        let settings =
            json!({"hooks": {"SessionStart": [{"matcher": "compact", "hooks": [hook]}]}});
        about.replace("{settings}", &format!("{settings:#}"))
    });
    let log = log::path().map_or(String::new(), |path| {
        format!("Errors are logged in {}.\n", path.display())
    });
    Ok(sections.collect::<Vec<_>>().join("\n") + "\n" + &log)
}

const CLAUDE_CODE: &str = "\
Claude Code
-----------
Add this to `.claude/settings.json` of a project, or to `~/.claude/settings.json` for all. If the file has `hooks` already, add the
entry to its `SessionStart` list.

{settings}

To remove it, delete the entry. To check it, run `/compact` and ask the agent which exact values it was given after the compaction:
some versions run the hook and drop what it says (anthropics/claude-code, issues 15174 and 28305).
";

const CODEX: &str = "\
Codex CLI
---------
Add this to `~/.codex/hooks.json`, or to `.codex/hooks.json` of a project, and trust the hook when Codex asks. Versions from May 2026 on
run it after a compaction; older ones also need `codex_hooks = true` under `[features]` in `config.toml`.

{settings}

To remove it, delete the entry. If a compaction happens in the middle of a turn, some versions add the context only with the next turn
(openai/codex, issue 28736).
";
