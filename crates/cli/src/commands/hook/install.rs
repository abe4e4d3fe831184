//! Puts the hook into a program's settings, and takes it out again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use compactometer_disk::input::{InputKind, read_text};
use compactometer_disk::user::USER;
use compactometer_disk::{copy_whole, write_whole};
use serde_json::{Value, json};

use super::program_settings::{HookProgram, PLACE};
use super::splice::{appended, removed};
use crate::output::failure::Failure;
use crate::output::terminal::{agrees, can_ask, note, say};

/// A file of settings: its content, or none if there is no such file.
struct SettingsFile {
    path: PathBuf,
    before: Option<String>,
}

/// Adds the hook, or replaces another version of it.
pub(super) fn install(
    program: &HookProgram,
    settings: Option<&Path>,
    command: &str,
    is_agreed: bool,
) -> Result<(), Failure> {
    let file = SettingsFile::open(program, settings).map_err(Failure::usage)?;
    let before = file.before.as_deref().unwrap_or_default();
    let after = file
        .naming_file(with_hook(program, before, command))
        .map_err(Failure::usage)?;
    if after == before {
        return say(&format!("`{}` has the hook already\n", file.path.display()));
    }
    let is_first = file
        .naming_file(without_hook(program, before, true))
        .map_err(Failure::usage)?
        == before;
    let copy = copy_of(&file.path);
    if !file.change(Some(&after), is_agreed)? {
        return Ok(());
    }
    // The copy is of before the first installation.
    let mut kept = String::new();
    if file.before.is_some() && is_first {
        copy_whole(&file.path, &copy)
            .with_context(|| format!("write `{}`", copy.display()))
            .map_err(Failure::failed)?;
        kept = format!(" What it was before is in {}.", copy.display());
    }
    file.write(Some(&after)).map_err(Failure::failed)?;
    say(&format!(
        "The hook is in {}.{kept}\n{}\nTo remove it: compactometer hook --uninstall {}\n",
        file.path.display(),
        program.after,
        program.name
    ))
}

/// Takes the hook out. If nothing else has changed, the file is then what it was before.
pub(super) fn uninstall(
    program: &HookProgram,
    settings: Option<&Path>,
    is_agreed: bool,
) -> Result<(), Failure> {
    let file = SettingsFile::open(program, settings).map_err(Failure::usage)?;
    let now = file.before.as_deref().unwrap_or_default();
    let cut = file
        .naming_file(without_hook(program, now, true))
        .map_err(Failure::usage)?;
    if cut == now {
        return say(&format!(
            "`{}` does not have the hook\n",
            file.path.display()
        ));
    }
    let copy = copy_of(&file.path);
    let first = read_text(&copy, InputKind::SETTINGS).ok();
    let command = command_in(program, now).unwrap_or_default();
    let was_made = |from: &str| with_hook(program, from, &command).is_ok_and(|with| with == now);
    let after = match &first {
        Some(first) if was_made(first) => Some(first.as_str()),
        None if was_made("") => None,
        _ => Some(cut.as_str()),
    };
    if !file.change(after, is_agreed)? {
        return Ok(());
    }
    file.write(after).map_err(Failure::failed)?;
    if first.is_some() {
        fs::remove_file(&copy)
            .with_context(|| format!("remove `{}`", copy.display()))
            .map_err(Failure::failed)?;
    }
    say(&format!(
        "The hook is no longer in {}.\n",
        file.path.display()
    ))
}

/// Writes a folder that Claude Code takes as a marketplace with one plugin, which is the hook.
pub(super) fn plugin(program: &HookProgram, folder: &Path, command: &str) -> Result<(), Failure> {
    if program.name != "claude-code" {
        let what = anyhow!("{} has no plugins: use `hook --install {0}`", program.name);
        return Err(Failure::usage(what));
    }
    let files = plugin_files(program, command);
    for (name, content) in &files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        compactometer_disk::create_folder(parent)
            .and_then(|()| write_whole(&path, |out| writeln!(out, "{content:#}")))
            .with_context(|| format!("write `{}`", path.display()))
            .map_err(Failure::usage)?;
    }
    say(&format!(
        "The plugin is in {0}. In Claude Code: /plugin marketplace add {0}, then /plugin install compactometer-ledger@compactometer\n",
        folder.display()
    ))
}

fn plugin_files(program: &HookProgram, command: &str) -> [(&'static str, Value); 3] {
    let about = "Adds a ledger of exact values after each compaction";
    let version = env!("CARGO_PKG_VERSION");
    [
        (
            ".claude-plugin/marketplace.json",
            json!({
                "name": "compactometer",
                "owner": {"name": "Compactometer"},
                "plugins": [{"name": "compactometer-ledger", "source": "./ledger", "description": about, "version": version}],
            }),
        ),
        (
            "ledger/.claude-plugin/plugin.json",
            json!({
                "name": "compactometer-ledger", "description": about, "version": version,
            }),
        ),
        (
            "ledger/hooks/hooks.json",
            json!({"hooks": {"SessionStart": [program.entry(command)]}}),
        ),
    ]
}

/// A program in a cache that its tool empties would leave a hook that fails.
pub(super) fn must_stay(executable: &Path) -> Result<()> {
    let path = executable.to_string_lossy().replace('\\', "/");
    let passes = ["/uv/archive-v", "/uv/builds-v", "/_npx/", "/pipx/.cache/"];
    if passes.iter().any(|part| path.contains(part)) {
        bail!(
            "`{path}` is in a cache that its tool empties, and the hook would fail then: install the program first, \
             as with `uv tool install compactometer` or `pipx install compactometer`"
        );
    }
    Ok(())
}

fn with_hook(program: &HookProgram, text: &str, command: &str) -> Result<String> {
    if command_in(program, text).is_some_and(|there| there == command) {
        return Ok(text.to_owned());
    }
    appended(
        &without_hook(program, text, false)?,
        PLACE,
        &program.entry(command),
    )
}

/// Takes out the entries that run the hook; `and_empty`, with lists that are empty then.
fn without_hook(program: &HookProgram, text: &str, and_empty: bool) -> Result<String> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let is_hook = |hook: &Value| {
        hook["command"]
            .as_str()
            .is_some_and(|command| program.runs(command))
    };
    let is_own = |entry: &Value| {
        let hooks = entry["hooks"].as_array();
        hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(is_hook))
    };
    let without = removed(text, PLACE, and_empty, &is_own)?;
    if command_in(program, &without).is_some() {
        let place = PLACE.join(".");
        bail!("an entry of `{place}` runs the hook beside other commands: take it out by hand");
    }
    Ok(without)
}

/// The command of the hook that the settings have.
fn command_in(program: &HookProgram, text: &str) -> Option<String> {
    let settings: Value = serde_json::from_str(text).ok()?;
    let entries = settings["hooks"]["SessionStart"].as_array()?;
    let hooks = entries.iter().filter_map(|entry| entry["hooks"].as_array());
    let commands = hooks.flatten().filter_map(|hook| hook["command"].as_str());
    commands
        .filter(|command| program.runs(command))
        .map(str::to_owned)
        .next()
}

fn copy_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-compactometer");
    path.with_file_name(name)
}

fn write(path: &Path, text: &str) -> Result<()> {
    write_whole(path, |out| out.write_all(text.as_bytes()))
        .with_context(|| format!("write `{}`", path.display()))
}

impl SettingsFile {
    fn open(program: &HookProgram, named: Option<&Path>) -> Result<Self> {
        let path = named.map_or_else(|| program.settings(&USER), |path| Ok(path.to_owned()))?;
        let name = path.display().to_string();
        let Ok(entry) = fs::symlink_metadata(&path) else {
            let folder = path.parent().filter(|folder| *folder != "");
            let folder = folder.unwrap_or(Path::new("."));
            if !folder.is_dir() {
                bail!(
                    "there is no folder `{}`: start {} once, or name its settings with --settings",
                    folder.display(),
                    program.name
                );
            }
            return Ok(SettingsFile { path, before: None });
        };
        // A link stays one: what it leads to is changed.
        let path = match entry.is_symlink() {
            true => path
                .canonicalize()
                .with_context(|| format!("`{name}` is a link that leads nowhere: mend it, or name another file with --settings"))?,
            false => path,
        };
        let text =
            read_text(&path, InputKind::SETTINGS).with_context(|| format!("read `{name}`"))?;
        if fs::metadata(&path)?.permissions().readonly() {
            bail!("`{name}` is read-only: make it writable, or name another file with --settings");
        }
        Ok(SettingsFile {
            path,
            before: Some(text),
        })
    }

    /// An error with the file and what to do.
    fn naming_file<T>(&self, result: Result<T>) -> Result<T> {
        result.with_context(|| {
            format!(
                "`{}` is not changed: mend it, or add by hand what `hook --print` prints",
                self.path.display()
            )
        })
    }

    /// Shows a change and asks. Whether it is to be made.
    fn change(&self, after: Option<&str>, is_agreed: bool) -> Result<bool, Failure> {
        let before = self.before.as_deref().unwrap_or_default();
        let path = self.path.display();
        let shown = difference(before, after.unwrap_or_default());
        let removal = ["", ", which is removed"][usize::from(after.is_none())];
        say(&format!("{path}{removal}:\n{shown}"))?;
        if is_agreed {
            return Ok(true);
        }
        if !can_ask() {
            let why =
                anyhow!("nobody can be asked here, so nothing is changed: add --yes to agree");
            return Err(Failure::usage(why));
        }
        let yes = agrees("Make this change?").map_err(Failure::failed)?;
        if !yes {
            note("nothing is changed");
        }
        Ok(yes)
    }

    fn write(&self, after: Option<&str>) -> Result<()> {
        let now = fs::read_to_string(&self.path).ok();
        if now != self.before {
            bail!(
                "`{}` has changed in the meantime, so nothing is written: try again",
                self.path.display()
            );
        }
        match after {
            Some(after) => write(&self.path, after),
            None => fs::remove_file(&self.path)
                .with_context(|| format!("remove `{}`", self.path.display())),
        }
    }
}

/// The lines that go, then those that come, with two of those around them.
fn difference(before: &str, after: &str) -> String {
    const AROUND: usize = 2;
    let [old, new] = [before, after].map(|text| text.lines().collect::<Vec<_>>());
    let front = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - front;
    let ends = old.iter().rev().zip(new.iter().rev()).take(most);
    let back = ends.take_while(|(a, b)| a == b).count();
    let lines = |sign: char, lines: &[&str]| {
        lines
            .iter()
            .map(|line| format!("  {sign} {line}\n"))
            .collect::<String>()
    };
    let end = old.len() - back;
    lines(' ', &old[front.saturating_sub(AROUND)..front])
        + &lines('-', &old[front..end])
        + &lines('+', &new[front..new.len() - back])
        + &lines(' ', &old[end..(end + AROUND).min(old.len())])
}
