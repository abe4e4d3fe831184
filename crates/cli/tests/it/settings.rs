//! `compactometer.toml`, `config` and `init` as a user meets them.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

/// The program in that folder; of its variables only these are set.
fn program(dir: &Path, args: &[&str], set: &[(&str, &str)]) -> Output {
    let mut command = Command::cargo_bin("compactometer").unwrap();
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("COMPACTOMETER_")) {
        command.env_remove(name);
    }
    command
        .current_dir(dir)
        .args(args)
        .envs(set.iter().copied())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The row of one setting in what `config` prints.
fn row(dir: &Path, key: &str, set: &[(&str, &str)]) -> Vec<String> {
    let told = program(dir, &["config"], set);
    assert!(told.status.success(), "{}", text(&told.stderr));
    let rows = text(&told.stdout)
        .lines()
        .map(|line| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect::<Vec<_>>();
    rows.into_iter().find(|row| row[0] == key).unwrap()
}

#[test]
fn flags_go_before_the_environment_and_that_before_the_file() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(row(dir.path(), "seed", &[]), ["seed", "0", "default"]);
    std::fs::write(
        dir.path().join("compactometer.toml"),
        "seed = 7\nstrategy = [\"null\", \"full\"]\n",
    )
    .unwrap();
    assert_eq!(
        row(dir.path(), "seed", &[]),
        ["seed", "7", "compactometer.toml"]
    );
    assert_eq!(
        row(dir.path(), "seed", &[("COMPACTOMETER_SEED", "8")]),
        ["seed", "8", "COMPACTOMETER_SEED"]
    );
    std::fs::write(
        dir.path().join("tiny.toml"),
        "name = \"tiny\"\nseed = 4\nwindow = 2000\ndomains = [\"service\"]\nconversations = 1\nlengths = [6000]\nfacts = [12, 12]\npoints = [2, 2]\n",
    )
    .unwrap();
    let manifest = |out: &str, more: &[&str], set: &[(&str, &str)]| {
        let ran = program(
            dir.path(),
            &[&["run", "tiny.toml", "--out", out, "-q"], more].concat(),
            set,
        );
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        let manifest = std::fs::read(dir.path().join(out).join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        (manifest["seed"].clone(), manifest["strategies"].clone())
    };
    let both = serde_json::json!(["full", "null"]);
    assert_eq!(manifest("file", &[], &[]), (7.into(), both.clone()));
    assert_eq!(
        manifest("variable", &[], &[("COMPACTOMETER_SEED", "8")]),
        (8.into(), both.clone())
    );
    assert_eq!(
        manifest("flag", &["--seed", "9"], &[("COMPACTOMETER_SEED", "8")]),
        (9.into(), both)
    );
}

#[test]
fn a_file_that_cannot_be_used_is_named_and_help_is_given_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    for (file, expected) in [
        ("sed = 1", "unknown setting `sed` (did you mean `seed`?)"),
        ("seed = ", "line 1"),
        ("seed = true", "`seed` must be a word, a number or a list"),
        (
            "window = \"wide\"",
            "`compactometer.toml`: invalid value 'wide' for '--window <TOKENS>'",
        ),
        (
            "max_cost = 5",
            "`max_cost`, which only a flag or the environment may",
        ),
        (
            "model = \"openai-compatible:m@https://models.example/v1\"",
            "sends requests to `models.example",
        ),
        (
            "judge = \"openai-compatible:m@https://models.example/v1\"",
            "by `--judge` or COMPACTOMETER_JUDGE instead",
        ),
        (
            "strategy = \"a=chained:prompt=/etc/hostname\"",
            "`strategy` names `/etc/hostname`, which is outside its folder",
        ),
        (
            "strategy = [\"full\", \"a=chained:prompt=../secret.md\"]",
            "names `../secret.md`",
        ),
        (
            "prices = \"../prices.toml\"",
            "name it with `--prices` or COMPACTOMETER_PRICES instead",
        ),
        ("store = \"/tmp/store\"", "`store` names `/tmp/store`"),
    ] {
        std::fs::write(dir.path().join("compactometer.toml"), file).unwrap();
        let refused = program(dir.path(), &["run", "-q"], &[]);
        assert_eq!(
            refused.status.code(),
            Some(2),
            "{file}: {}",
            text(&refused.stderr)
        );
        assert!(
            text(&refused.stderr).contains(expected),
            "{expected}: {}",
            text(&refused.stderr)
        );
        assert!(
            program(dir.path(), &["--help"], &[]).status.success(),
            "{file}"
        );
    }
    std::fs::write(
        dir.path().join("compactometer.toml"),
        "model = \"openai-compatible:m@http://127.0.0.1:9/v1\"",
    )
    .unwrap();
    assert_eq!(
        row(dir.path(), "model", &[])[2],
        "compactometer.toml",
        "this machine may be named"
    );
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_settings_out_of_their_folder() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("secret.md"), "private").unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("link")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("absent"), dir.path().join("dangling")).unwrap();
    for file in [
        "strategy = \"a=chained:prompt=link/secret.md\"",
        "prices = \"link/prices.toml\"",
        "store = \"link/new\"",
        "store = \"dangling\"",
        "model = \"cassette:../tape\"",
    ] {
        std::fs::write(dir.path().join("compactometer.toml"), file).unwrap();
        let refused = program(dir.path(), &["run", "-q"], &[]);
        let told = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{file}: {told}");
        assert!(
            told.contains("which is outside its folder"),
            "{file}: {told}"
        );
    }
    std::fs::write(
        dir.path().join("compactometer.toml"),
        "store = \"kept/here\"",
    )
    .unwrap();
    assert_eq!(row(dir.path(), "store", &[])[1], "kept/here");
}

#[test]
fn init_writes_what_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let before = text(&program(dir.path(), &["config"], &[]).stdout);
    assert!(program(dir.path(), &["init"], &[]).status.success());
    assert_eq!(text(&program(dir.path(), &["config"], &[]).stdout), before);
    let again = program(dir.path(), &["init"], &[]);
    assert_eq!(again.status.code(), Some(2));
    assert!(
        text(&again.stderr).contains("`compactometer.toml` exists"),
        "{}",
        text(&again.stderr)
    );
}
