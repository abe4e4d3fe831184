//! One name for each thing: what a reader meets has no word of the program's inside.

use std::path::Path;

use compactometer_report::vocabulary::avoided_in;

use crate::common::succeeds;

const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 4000\ndomains = [\"research\", \"service\"]\n\
                    conversations = 6\nlengths = [9000, 10000]\nfacts = [24, 24]\npoints = [2, 3]\n";

#[track_caller]
fn is_plain(what: &str, text: &str) {
    let found = avoided_in(text);
    assert!(!text.trim().is_empty(), "{what} is empty");
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

/// The text of a page as a reader sees it, without what is code.
fn seen(page: &str) -> String {
    let mut text = page.to_owned();
    for element in ["script", "style", "code", "pre", "desc"] {
        let (open, close) = (format!("<{element}"), format!("</{element}>"));
        while let Some(from) = text.find(&open) {
            let to = text[from..].find(&close).expect(element) + from + close.len();
            text.replace_range(from..to, " ");
        }
    }
    let mut parts = text.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('>').map_or("", |(_, text)| text));
    std::iter::once(first.as_str())
        .chain(rest)
        .collect::<Vec<_>>()
        .join("\n")
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path.as_ref()).unwrap()
}

#[test]
fn screens_pages_and_plots_of_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let rows = "summarize,middleware-checkpoint,no-tail=summarize:tail=0,@controls";
    let screen = succeeds(
        dir,
        &[
            "compare",
            "tiny.toml",
            "-s",
            rows,
            "--sweep",
            "-o",
            "run",
            "-q",
        ],
    );
    is_plain("the screen", &screen);
    is_plain(
        "the screen with notes",
        &succeeds(dir, &["report", "run", "--notes", "--all"]),
    );
    for page in ["index.html", "details.html", "report.md"] {
        is_plain(page, &seen(&read(dir.join("run").join(page))));
    }
    for plot in std::fs::read_dir(dir.join("run/plots")).unwrap() {
        let path = plot.unwrap().path();
        if path.extension().is_some_and(|end| end == "svg") {
            is_plain(&path.display().to_string(), &seen(&read(&path)));
        }
    }
    let lists = dir.join("run/cases/matched-summarize/index.html");
    is_plain("a list of conversations", &seen(&read(lists)));
    // The other lines quote the conversation.
    let explained = succeeds(dir, &["explain", "tiny.toml", "-s", "summarize"]);
    let changes = explained.lines().filter(|line| line.contains(" -> "));
    is_plain("explain", &changes.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_gate_and_its_notes() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let run = |out: &str, row: &str| {
        let controls = "null,oracle,full,random-drop";
        let rows = format!("{row},{controls}");
        succeeds(dir, &["run", "tiny.toml", "-s", &rows, "-o", out, "-q"])
    };
    run("old", "mine=summarize");
    run("new", "mine=summarize:written=1");
    succeeds(dir, &["gate", "old", "--baseline", "base.json", "--update"]);
    let gate = |args: &[&str]| {
        let output = assert_cmd::Command::cargo_bin("compactometer")
            .unwrap()
            .current_dir(dir)
            .args([
                "gate",
                "new",
                "--baseline",
                "base.json",
                "--markdown",
                "gate.md",
            ])
            .args(args)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    is_plain("the gate", &gate(&[]));
    is_plain("its notes", &gate(&["--notes"]));
    is_plain("its Markdown", &seen(&read(dir.join("gate.md"))));
}

#[test]
fn losses_help_and_lists() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let session = root.join("datasets/sample-session.jsonl");
    let session = session.to_str().unwrap();
    let losses = succeeds(
        dir,
        &[
            "losses",
            session,
            "--by",
            "version",
            "--html",
            "losses.html",
            "-q",
        ],
    );
    is_plain("losses", &losses);
    is_plain("its page", &seen(&read(dir.join("losses.html"))));
    let help = succeeds(dir, &["--help-all"]);
    // Names of commands are code.
    let about = |line: &str| {
        line.strip_prefix("  ")
            .and_then(|line| Some(line.split_once(' ')?.1.to_owned()))
    };
    let prose = help
        .lines()
        .map(|line| about(line).unwrap_or_else(|| line.to_owned()));
    is_plain("help", &prose.collect::<Vec<_>>().join("\n"));
    let commands = help
        .lines()
        .skip_while(|line| !line.ends_with(':'))
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|word| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase()))
        .collect::<std::collections::BTreeSet<_>>();
    assert!(
        commands.contains("compare") && commands.contains("gate"),
        "{commands:?}"
    );
    for command in commands {
        let output = assert_cmd::Command::cargo_bin("compactometer")
            .unwrap()
            .args([command, "--help-all"])
            .output()
            .unwrap();
        if output.status.success() {
            let help = String::from_utf8(output.stdout).unwrap();
            let help = help.replace(&format!("Usage: compactometer {command}"), "");
            is_plain(&format!("help of {command}"), &help);
        }
    }
    for kind in [
        "strategies",
        "controls",
        "suites",
        "metrics",
        "targets",
        "formats",
    ] {
        is_plain(kind, &succeeds(dir, &["list", kind]));
    }
}

#[test]
fn pages_for_users() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for page in [
        "README.md",
        "docs/tour.md",
        "docs/losses.md",
        "docs/ledger.md",
    ] {
        let text = read(root.join(page));
        let mut is_code = false;
        let prose = text.lines().filter(|line| {
            let is_fence = line.trim_start().starts_with("```");
            let is_mark = line.trim_start().starts_with("<!--");
            is_code ^= is_fence;
            !is_code && !is_fence && !is_mark
        });
        is_plain(page, &prose.collect::<Vec<_>>().join("\n"));
    }
}
