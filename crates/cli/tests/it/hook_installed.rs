//! `hook --install` and `--uninstall`: what they change in settings, and what they refuse.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::hook::{program, session};

const BEFORE: &str = "{\n\t\"model\": \"opus\",\n\t\"big\": 12345678901234567890123,\n\t\"hooks\": {\"Stop\": []}\n}\n";
/// The same with the entry of somebody else.
const OTHER: &str =
    r#"{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo hi"}]}]}}"#;

/// A home with a folder of Claude Code.
struct Home(tempfile::TempDir);

impl Home {
    fn with(settings: Option<&str>) -> Self {
        let home = Home(tempfile::tempdir().unwrap());
        fs::create_dir(home.0.path().join(".claude")).unwrap();
        if let Some(settings) = settings {
            fs::write(home.settings(), settings).unwrap();
        }
        home
    }

    fn settings(&self) -> PathBuf {
        self.0.path().join(".claude/settings.json")
    }

    fn read(&self) -> String {
        fs::read_to_string(self.settings()).unwrap()
    }

    fn run(&self, args: &str) -> Output {
        let mut command = program(self.0.path());
        command.env("HOME", self.0.path());
        for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME"] {
            command.env_remove(variable);
        }
        command.arg("hook").args(args.split(' ')).output().unwrap()
    }

    /// What it prints.
    fn works(&self, args: &str) -> String {
        let done = self.run(args);
        let [out, err] = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(done.status.success(), "{args}: {err}");
        out
    }

    fn fails(&self, args: &str, why: &str) {
        let done = self.run(args);
        let err = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{args}: {err}");
        assert!(err.contains(why), "{args}: {err}");
    }

    fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.0.path().join(".claude")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names = names.collect::<Vec<_>>();
        names.sort();
        names
    }
}

fn commands(settings: &str) -> Vec<String> {
    let settings: Value = serde_json::from_str(settings).unwrap();
    let entries = settings["hooks"]["SessionStart"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let hooks = entries
        .iter()
        .flat_map(|entry| entry["hooks"].as_array().cloned().unwrap());
    hooks
        .map(|hook| hook["command"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn settings_are_what_they_were_after_the_hook_is_gone() {
    for before in [
        BEFORE,
        OTHER,
        "{}",
        "",
        "{\"hooks\": {\"SessionStart\": []}}",
    ] {
        let home = Home::with(Some(before));
        let shown = home.works("--install claude-code --yes");
        assert!(
            shown.contains("  + ") && shown.contains(".before-compactometer"),
            "{shown}"
        );
        assert_eq!(
            home.files(),
            ["settings.json", "settings.json.before-compactometer"]
        );
        let installed = commands(&home.read());
        let own = installed.last().unwrap();
        assert!(own.ends_with("compactometer hook claude-code"), "{own}");
        assert_eq!(installed.len(), 1 + usize::from(before == OTHER));

        let with = home.read();
        assert!(home.works("--install claude-code").contains("already"));
        assert_eq!(home.read(), with);
        home.works("--install claude-code --yes --budget 300");
        let replaced = commands(&home.read());
        assert!(replaced.last().unwrap().ends_with("--budget 300"));
        assert_eq!(replaced.len(), installed.len());

        home.works("--uninstall claude-code --yes");
        assert_eq!(home.read(), before);
        assert_eq!(home.files(), ["settings.json"]);
        assert!(
            home.works("--uninstall claude-code")
                .contains("does not have")
        );
    }
}

#[test]
fn a_file_that_was_not_there_goes_again() {
    let home = Home::with(None);
    home.works("--install claude-code --yes");
    assert_eq!(home.files(), ["settings.json"]);
    home.works("--uninstall claude-code --yes");
    assert!(home.files().is_empty());
}

#[test]
fn what_changed_since_stays() {
    let home = Home::with(Some(BEFORE));
    home.works("--install claude-code --yes");
    fs::write(home.settings(), home.read().replace("opus", "sonnet")).unwrap();
    home.works("--uninstall claude-code --yes");
    let after: Value = serde_json::from_str(&home.read()).unwrap();
    let mut expected: Value = serde_json::from_str(BEFORE).unwrap();
    expected["model"] = "sonnet".into();
    assert_eq!(after, expected);
    assert_eq!(home.files(), ["settings.json"]);
}

/// Two commands to a hook that works.
#[test]
fn the_installed_command_answers_a_compaction() {
    use std::io::Write as _;
    let home = Home::with(None);
    home.works("--install claude-code --yes");
    let transcript = home.0.path().join("s-1.jsonl");
    fs::write(&transcript, session()).unwrap();
    let event = json!({"hook_event_name": "SessionStart", "source": "compact", "transcript_path": transcript, "session_id": "s-1"});
    let mut shell = std::process::Command::new("sh")
        .args(["-c", &commands(&home.read())[0]])
        .env("XDG_CACHE_HOME", home.0.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    write!(shell.stdin.take().unwrap(), "{event}").unwrap();
    let answer = shell.wait_with_output().unwrap().stdout;
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let added = answer["hookSpecificOutput"]["additionalContext"].as_str();
    assert!(added.unwrap().contains("48213"), "{answer}");
}

#[test]
fn settings_that_cannot_be_changed_are_refused_and_stay() {
    let mixed = r#"{"hooks": {"SessionStart": [{"hooks": [{"command": "x"}, {"command": "compactometer hook claude-code"}]}]}}"#;
    for (text, why) in [
        ("{\n  // mine\n}", "line 2"),
        ("[]", "it is no JSON object"),
        ("{\"hooks\": []}", "`hooks` is no object"),
        (
            "{\"hooks\": {\"SessionStart\": 1}}",
            "`hooks.SessionStart` is no list",
        ),
        ("\u{feff}{}", "line 1"),
        (mixed, "beside other commands"),
    ] {
        let home = Home::with(Some(text));
        home.fails("--install claude-code --yes --budget 7", why);
        assert_eq!(home.read(), text);
        assert_eq!(home.files(), ["settings.json"]);
    }
    let home = Home::with(Some(BEFORE));
    home.fails("--install claude-code", "add --yes");
    home.fails("--install codex --yes", "there is no folder");
    home.fails("--install", "PROGRAM");
    home.fails("claude-code --yes", "go with --install");
    home.fails("--install --uninstall claude-code", "cannot be used with");
    home.fails("--plugin there codex", "no plugins");
    let read_only = fs::metadata(home.settings()).unwrap().permissions();
    let mut changed = read_only.clone();
    changed.set_readonly(true);
    fs::set_permissions(home.settings(), changed).unwrap();
    home.fails("--install claude-code --yes", "read-only");
    fs::set_permissions(home.settings(), read_only).unwrap();
    assert_eq!(
        (home.read(), home.files()),
        (BEFORE.to_owned(), vec!["settings.json".to_owned()])
    );
}

#[cfg(unix)]
#[test]
fn a_link_stays_one() {
    let home = Home::with(None);
    let real = home.0.path().join("dotfiles.json");
    fs::write(&real, BEFORE).unwrap();
    std::os::unix::fs::symlink(&real, home.settings()).unwrap();
    home.works("--install claude-code --yes");
    assert!(fs::symlink_metadata(home.settings()).unwrap().is_symlink());
    assert_eq!(commands(&fs::read_to_string(&real).unwrap()).len(), 1);
    home.works("--uninstall claude-code --yes");
    assert_eq!(fs::read_to_string(&real).unwrap(), BEFORE);
    fs::remove_file(&real).unwrap();
    home.fails("--install claude-code --yes", "leads nowhere");
}

#[test]
fn a_project_and_a_plugin_have_the_same_hook() {
    let home = Home::with(None);
    let project = home.0.path().join("project.json");
    home.works("--install claude-code --yes --settings project.json");
    let installed = commands(&fs::read_to_string(project).unwrap());
    assert_eq!(installed.len(), 1);
    let shown = home.works("--plugin team claude-code --budget 300");
    assert!(shown.contains("/plugin marketplace add team"), "{shown}");
    let read =
        |name: &str| fs::read_to_string(Path::new(home.0.path()).join("team").join(name)).unwrap();
    assert_eq!(
        commands(&read("ledger/hooks/hooks.json")),
        ["compactometer hook claude-code --budget 300"]
    );
    let market: Value = serde_json::from_str(&read(".claude-plugin/marketplace.json")).unwrap();
    let plugin: Value = serde_json::from_str(&read("ledger/.claude-plugin/plugin.json")).unwrap();
    assert_eq!(market["plugins"][0]["name"], plugin["name"]);
}
