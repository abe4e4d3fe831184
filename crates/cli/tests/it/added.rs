//! `add`: packages of others get a folder and a name, or leave nothing behind.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::hook::program;

/// A folder for all, with programs that take the place of npm and Python.
struct Machine(tempfile::TempDir);

impl Machine {
    fn with(npm: &str) -> Self {
        let machine = Machine(tempfile::tempdir().unwrap());
        let bin = machine.path("bin");
        fs::create_dir(&bin).unwrap();
        let npm_path = bin.join("npm");
        fs::write(&npm_path, format!("#!/bin/sh\n{npm}\n")).unwrap();
        fs::set_permissions(&npm_path, fs::Permissions::from_mode(0o755)).unwrap();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The exit code, and what it prints.
    fn run(&self, args: &str, search: &Path) -> (i32, String) {
        let mut command = program(self.0.path());
        command
            .env("PATH", search)
            .env_remove("COMPACTOMETER_AGENTS");
        command.env("XDG_CONFIG_HOME", self.path("config"));
        let done = command.arg("add").args(args.split(' ')).output().unwrap();
        let said = [done.stdout, done.stderr].concat();
        (
            done.status.code().unwrap(),
            String::from_utf8(said).unwrap(),
        )
    }

    fn add(&self, args: &str) -> (i32, String) {
        let search = format!("{}:/usr/bin:/bin", self.path("bin").display());
        self.run(args, Path::new(&search))
    }

    fn names(&self) -> String {
        fs::read_to_string(self.path("config/compactometer/strategies.toml")).unwrap()
    }

    fn installed(&self) -> Vec<String> {
        let all = ["adapters", "agents"].map(|kind| self.path("compactometer").join(kind));
        let all = all
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flatten();
        let mut names = all
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect::<Vec<_>>();
        names.sort();
        names
    }
}

/// Makes the folder behind `--prefix` as npm does.
const WORKS: &str = r#"while [ "$1" != --prefix ]; do shift; done; mkdir -p "$2/node_modules""#;

#[test]
fn a_package_has_a_folder_and_a_name_until_it_is_removed() {
    let machine = Machine::with(WORKS);
    let config = machine.path("config/compactometer");
    fs::create_dir_all(&config).unwrap();
    fs::write(
        config.join("strategies.toml"),
        "# mine\nother = \"node a.mjs\"\n",
    )
    .unwrap();
    let (code, said) = machine.add("vercel-prune pi@0.1.2");
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("compare -s vercel-prune") && said.contains("--agent pi"),
        "{said}"
    );
    assert_eq!(machine.installed(), ["pi@0.1.2", "vercel-prune@6.0.326"]);
    let folder = machine.path("compactometer/adapters/vercel-prune@6.0.326");
    assert!(folder.join("vercel_prune.mjs").is_file() && folder.join("node_modules").is_dir());
    let line = format!(
        "vercel-prune = \"node {}/vercel_prune.mjs\"\n",
        folder.display()
    );
    assert_eq!(
        machine.names(),
        format!("# mine\nother = \"node a.mjs\"\n{line}")
    );

    // An earlier version of the program left another adapter, and a person another name.
    fs::write(folder.join("vercel_prune.mjs"), "old").unwrap();
    fs::write(
        config.join("strategies.toml"),
        "# mine\nother = \"node a.mjs\"\n\"vercel-prune\" = \"x\"\n",
    )
    .unwrap();
    let (code, said) = machine.add("vercel-prune");
    assert!(code == 0 && said.contains("is installed"), "{said}");
    assert_ne!(
        fs::read_to_string(folder.join("vercel_prune.mjs")).unwrap(),
        "old"
    );
    assert_eq!(
        machine.names(),
        format!("# mine\nother = \"node a.mjs\"\n{line}")
    );
    let (code, said) = machine.add("--remove pi@/../../..");
    assert!(
        code == 2 && said.contains("unknown adapter or agent"),
        "{said}"
    );
    let (code, said) = machine.add("--remove vercel-prune pi@0.1.2");
    assert_eq!(code, 0, "{said}");
    assert_eq!(machine.names(), "# mine\nother = \"node a.mjs\"\n");
    assert!(machine.installed().is_empty());
    let (code, said) = machine.add("--remove pi@0.1.2");
    assert!(code == 0 && said.contains("is not installed"), "{said}");
}

#[test]
fn what_cannot_be_had_leaves_nothing_and_says_why() {
    let machine = Machine::with("mkdir -p \"$5/half\"; echo 'npm error 404 Not Found' >&2; exit 1");
    let (code, said) = machine.add("vercel-prune");
    assert!(
        code == 1 && said.contains("npm error 404 Not Found"),
        "{said}"
    );
    assert!(machine.installed().is_empty());
    assert!(!machine.path("config").exists());
    let (code, said) = machine.run("vercel-prune", &machine.path("nothing"));
    assert!(
        code == 1 && said.contains("install Node 20 or later"),
        "{said}"
    );
    for (package, version) in [
        ("langchain-summary", "3.11"),
        ("openhands-condenser", "3.12"),
    ] {
        let (code, said) = machine.run(package, &machine.path("nothing"));
        let why = format!("no Python {version} or later with `venv` is on the path");
        assert!(code == 1 && said.contains(&why), "{said}");
    }
    assert!(machine.installed().is_empty());
    let (code, said) = machine.add("vercel-prun");
    assert!(
        code == 2 && said.contains("did you mean `vercel-prune`"),
        "{said}"
    );
}
