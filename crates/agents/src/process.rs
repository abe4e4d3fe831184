//! An agent in a folder of its own: the files that it finds, and its turns.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::process::Command;
use tokio::sync::mpsc;

use crate::child::{Child, Printed};
use crate::definition::{Definition, Tools};
use crate::desk::DeskEvent;
use crate::fill::{FillPlaces, PlaySetting};
use crate::folder::Folder;

/// Variables of the environment that an agent is given, beside its own.
const INHERITED: [&str; 1] = ["TZ"];
/// Where an agent looks for folders of its own, below its home.
const FOLDERS: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
];

/// An agent in a folder of its own.
pub(crate) struct AgentProcess {
    definition: Arc<Definition>,
    install: PathBuf,
    folder: Folder,
    setting: PlaySetting,
    program: String,
    events: mpsc::UnboundedSender<DeskEvent>,
    printed: Printed,
    turns: usize,
    child: Option<Child>,
}

impl AgentProcess {
    /// Writes the files that the agent finds. Nothing runs yet.
    pub(crate) fn new(
        definition: Arc<Definition>,
        cache: &Path,
        setting: PlaySetting,
        events: mpsc::UnboundedSender<DeskEvent>,
        printed: Printed,
    ) -> Result<Self, String> {
        let words = |error: std::io::Error| format!("its folder cannot be made: {error}");
        let folder = Folder::new().map_err(words)?;
        let program = std::env::current_exe().map_err(words)?;
        let agent = AgentProcess {
            install: definition.folder(cache),
            definition,
            folder,
            setting,
            program: program.to_string_lossy().into_owned(),
            events,
            printed,
            turns: 0,
            child: None,
        };
        agent.write_files().map_err(words)?;
        Ok(agent)
    }

    fn write_files(&self) -> std::io::Result<()> {
        let (places, folder) = (self.places(), self.folder.path());
        for name in ["home", "work"] {
            std::fs::create_dir_all(folder.join(name))?;
        }
        for file in &self.definition.files {
            let path = PathBuf::from(places.fill(&file.path));
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(path, places.fill(&file.text))?;
        }
        for (name, text) in self.definition.programs() {
            std::fs::write(folder.join(name), text)?;
        }
        match self.definition.tools {
            Tools::Shell => self.write_command(),
            Tools::Mcp | Tools::Program => Ok(()),
        }
    }

    /// The command that calls of the conversation run in the agent's shell. Its name is short, since
    /// it is in the agent's context with each call.
    fn write_command(&self) -> std::io::Result<()> {
        let folder = self.folder.path().join("bin");
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("play");
        let (program, address) = (&self.program, &self.setting.address);
        std::fs::write(
            &path,
            format!("#!/bin/sh\nexec '{program}' play --at {address} \"$@\"\n"),
        )?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }

    fn places(&self) -> FillPlaces<'_> {
        FillPlaces {
            install: &self.install,
            folder: self.folder.path(),
            setting: &self.setting,
            model: &self.definition.model,
            version: &self.definition.version,
            program: &self.program,
        }
    }

    /// Begins a turn of the user.
    pub(crate) async fn take_turn(&mut self, text: &str) -> Result<(), String> {
        let is_first = self.turns == 0;
        self.turns += 1;
        let Some(next) = &self.definition.next_turn else {
            if is_first {
                self.start(&self.definition.turn, true)
                    .map(|child| self.child = Some(child))?;
            }
            let line = format!("{}\n", serde_json::Value::from(text));
            return self.say(&line).await;
        };
        let command = match is_first {
            true => &self.definition.turn,
            false => next,
        };
        let mut child = self.start(command, false)?;
        child.write(text).await;
        child.close();
        if let Some(before) = self.child.replace(child) {
            before.end().await;
        }
        Ok(())
    }

    async fn say(&mut self, line: &str) -> Result<(), String> {
        let child = self.child.as_mut().ok_or("nothing of it runs")?;
        child.write(line).await;
        Ok(())
    }

    fn start(&self, words: &[String], has_lines: bool) -> Result<Child, String> {
        let copy = |at: usize| self.printed[at].as_ref()?.try_clone().ok();
        let printed = [copy(0), copy(1)];
        Child::start(
            self.command(words)?,
            printed,
            has_lines,
            self.events.clone(),
        )
    }

    fn command(&self, words: &[String]) -> Result<Command, String> {
        let places = self.places();
        let mut words = words.iter().map(|word| places.fill(word));
        let program = words.next().ok_or("its definition has no command")?;
        let (folder, mut command) = (self.folder.path(), Command::new(program));
        let home = folder.join("home");
        command
            .args(words)
            .current_dir(folder.join("work"))
            .env_clear()
            .env("HOME", &home)
            .env("LANG", "C.UTF-8")
            .env("PATH", with_first(folder.join("bin")));
        let inherited = INHERITED.map(|name| (name, std::env::var_os(name)));
        let inherited = inherited
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        command
            .envs(inherited)
            .envs(FOLDERS.map(|(name, folder)| (name, home.join(folder))));
        let own = self.definition.environment.iter();
        command.envs(own.map(|(name, value)| (name, places.fill(value))));
        Ok(command)
    }

    /// Ends what runs of it.
    pub(crate) async fn stop(&mut self) {
        if let Some(child) = self.child.take() {
            child.end().await;
        }
    }
}

/// The path of commands with a folder before it.
fn with_first(folder: PathBuf) -> OsString {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(folder).chain(std::env::split_paths(&paths));
    std::env::join_paths(all).unwrap_or(paths)
}
