//! Installs packages of npm and PyPI into a folder that has all of them or does not exist.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, anyhow, bail};
use compactometer_disk::{create_folder, write_whole};

/// What a folder is to hold.
pub(super) struct Packages {
    pub(super) npm: Vec<String>,
    /// Into `python`, a virtual environment.
    pub(super) pip: Vec<String>,
    /// The oldest Python that takes these, as major and minor version.
    pub(super) python: (u32, u32),
    /// Names and texts.
    pub(super) files: Vec<(&'static str, &'static str)>,
}

impl Packages {
    /// Installs beside the folder, and gives it its name when it is whole.
    pub(super) fn install(&self, folder: &Path) -> Result<()> {
        let parent = folder.parent().context("a folder without a parent")?;
        create_folder(parent).with_context(|| format!("create `{}`", parent.display()))?;
        let made = tempfile::Builder::new()
            .prefix(".install-")
            .tempdir_in(parent)
            .with_context(|| format!("create a folder in `{}`", parent.display()))?;
        if !self.npm.is_empty() {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--prefix"]);
            npm.arg(made.path()).args(&self.npm);
            run(&mut npm, "install Node 20 or later")?;
        }
        if !self.pip.is_empty() {
            self.install_python(made.path())?;
        }
        self.write_files(made.path())?;
        let named = std::fs::rename(made.path(), folder);
        named.with_context(|| format!("create `{}`", folder.display()))?;
        let _ = made.keep();
        Ok(())
    }

    /// Writes its own files, which a later version of this program may have changed.
    pub(super) fn write_files(&self, folder: &Path) -> Result<()> {
        for (name, text) in &self.files {
            let path = folder.join(name);
            create_folder(path.parent().unwrap_or(folder))
                .and_then(|()| write_whole(&path, |out| out.write_all(text.as_bytes())))
                .with_context(|| format!("write `{}`", path.display()))?;
        }
        Ok(())
    }

    /// The environment's programs hold the name of their folder, so only its interpreter and modules
    /// are used.
    fn install_python(&self, made: &Path) -> Result<()> {
        let environment = made.join("python");
        let mut venv = python(self.python)?;
        run(
            venv.args(["-m", "venv", "--symlinks"]).arg(&environment),
            "install Python",
        )?;
        let mut pip = Command::new(environment.join("bin/python"));
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]);
        run(pip.args(&self.pip), "install Python")
    }
}

/// The first Python that is new enough and can make environments.
fn python((major, least): (u32, u32)) -> Result<Command> {
    let newer = (least..least + 6)
        .rev()
        .map(|minor| format!("python{major}.{minor}"));
    for name in std::iter::once("python3".to_owned()).chain(newer) {
        let check =
            format!("import ensurepip, sys; sys.exit(sys.version_info < ({major}, {least}))");
        let mut tried = Command::new(&name);
        tried
            .args(["-c", &check])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if tried.status().is_ok_and(|status| status.success()) {
            return Ok(Command::new(name));
        }
    }
    bail!(
        "no Python {major}.{least} or later with `venv` is on the path: install one, as with `uv python install {major}.{least}` or `apt install python3-venv`"
    )
}

fn run(command: &mut Command, cure: &str) -> Result<()> {
    let name = Path::new(command.get_program())
        .file_name()
        .unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let done = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| anyhow!("`{name}` cannot be run ({error}): {cure}"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let lines = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect::<Vec<_>>();
    let last = lines[lines.len().saturating_sub(3)..].join(" / ");
    bail!("{name} failed: {last}")
}
