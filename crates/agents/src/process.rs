//! The agent's processes: one for each turn of the user, or one for all.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use compactometer_external::Mark;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{Mutex, mpsc};

use crate::definition::{Definition, Tools};
use crate::desk::Event;
use crate::fill::Places;

/// What a process that takes all turns prints at the end of each.
const ENDED: &[u8] = b"turn ended";
/// How much of its last words an error shows, in bytes.
const WORDS: usize = 400;
/// Variables of the environment that an agent is given.
const INHERITED: [&str; 1] = ["TZ"];

/// An agent in a folder of its own.
pub(crate) struct Agent {
    definition: Arc<Definition>,
    install: PathBuf,
    folder: tempfile::TempDir,
    address: String,
    window: u32,
    trigger: u32,
    system: String,
    program: String,
    events: mpsc::UnboundedSender<Event>,
    /// Where what it prints is kept, on its two outputs.
    printed: (Option<File>, Option<File>),
    turns: usize,
    running: Option<Running>,
}

struct Running {
    mark: Mark,
    id: u32,
    input: Option<ChildStdin>,
    /// It is waited for by a task.
    child: Arc<Mutex<Child>>,
}

impl Agent {
    /// Writes the files that the agent finds. Nothing runs yet.
    pub(crate) fn new(
        definition: Arc<Definition>,
        cache: &Path,
        address: String,
        (window, trigger, system): (u32, u32, String),
        events: mpsc::UnboundedSender<Event>,
        printed: (Option<File>, Option<File>),
    ) -> Result<Self, String> {
        let install = definition.folder(cache);
        let words = |error: std::io::Error| error.to_string();
        let folder = tempfile::Builder::new()
            .prefix("compactometer-play-")
            .tempdir()
            .map_err(words)?;
        let program = std::env::current_exe().map_err(words)?;
        let agent = Agent {
            definition,
            install,
            folder,
            address,
            window,
            trigger,
            system,
            program: program.to_string_lossy().into_owned(),
            events,
            printed,
            turns: 0,
            running: None,
        };
        let places = agent.places();
        for name in ["home", "work"] {
            std::fs::create_dir_all(agent.folder.path().join(name)).map_err(words)?;
        }
        for file in &agent.definition.files {
            let path = PathBuf::from(places.fill(&file.path));
            let text = places.fill(&file.text);
            path.parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(&path, text))
                .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        }
        if agent.definition.tools == Tools::Shell {
            agent.write_command().map_err(words)?;
        }
        for (name, text) in agent.definition.programs() {
            std::fs::write(agent.folder.path().join(name), text).map_err(words)?;
        }
        Ok(agent)
    }

    /// The command that calls of the conversation run in the agent's shell. Its name is short, since
    /// it is in the agent's context with each call.
    fn write_command(&self) -> std::io::Result<()> {
        let folder = self.folder.path().join("bin");
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("play");
        let (program, address) = (&self.program, &self.address);
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

    fn places(&self) -> Places<'_> {
        Places {
            install: &self.install,
            folder: self.folder.path(),
            address: &self.address,
            window: self.window,
            trigger: self.trigger,
            model: &self.definition.model,
            version: &self.definition.version,
            system: &self.system,
            program: &self.program,
        }
    }

    /// Begins a turn of the user.
    pub(crate) async fn take_turn(&mut self, text: &str) -> Result<(), String> {
        let is_first = self.turns == 0;
        self.turns += 1;
        let Some(next) = &self.definition.next_turn else {
            if is_first {
                let command = self.definition.turn.clone();
                self.start(&command, true)?;
            }
            let line = serde_json::Value::from(text).to_string() + "\n";
            return self.write(&line).await;
        };
        let command = if is_first {
            &self.definition.turn
        } else {
            next
        }
        .clone();
        self.stop().await;
        self.start(&command, false)?;
        self.write(text).await?;
        if let Some(running) = &mut self.running {
            running.input = None;
        }
        Ok(())
    }

    async fn write(&mut self, text: &str) -> Result<(), String> {
        let input = self
            .running
            .as_mut()
            .and_then(|running| running.input.as_mut());
        let input = input.ok_or("it has no standard input")?;
        // One that does not read is found out when it ends.
        let _ = input.write_all(text.as_bytes()).await;
        let _ = input.flush().await;
        Ok(())
    }

    fn start(&mut self, command: &[String], has_lines: bool) -> Result<(), String> {
        let places = self.places();
        let words = command
            .iter()
            .map(|word| places.fill(word))
            .collect::<Vec<_>>();
        let [program, arguments @ ..] = words.as_slice() else {
            return Err("its definition has no command".to_owned());
        };
        let home = self.folder.path().join("home");
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.folder.path().join("work"))
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let own = [self.folder.path().join("bin")].into_iter();
        if let Ok(paths) = std::env::join_paths(own.chain(std::env::split_paths(&paths))) {
            command.env("PATH", paths);
        }
        command.env("HOME", &home).env("LANG", "C.UTF-8");
        for (name, folder) in [
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_STATE_HOME", ".local/state"),
            ("XDG_CACHE_HOME", ".cache"),
        ] {
            command.env(name, home.join(folder));
        }
        for (name, value) in &self.definition.environment {
            command.env(name, places.fill(value));
        }
        let mark = Mark::on(&mut command);
        let mut child = command
            .spawn()
            .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
        let id = child.id().unwrap_or_default();
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("it has no standard output")?;
        let mut errors = child.stderr.take().ok_or("it has no standard error")?;
        let copy = |file: &Option<File>| file.as_ref().and_then(|file| file.try_clone().ok());
        let (mut kept_output, mut kept_errors) = (copy(&self.printed.0), copy(&self.printed.1));
        let last = tokio::spawn(async move {
            let (mut kept, mut piece) = (Vec::new(), [0; 4096]);
            while let Ok(read @ 1..) = errors.read(&mut piece).await {
                if let Some(file) = &mut kept_errors {
                    let _ = file.write_all(&piece[..read]);
                }
                kept.extend_from_slice(&piece[..read]);
                let excess = kept.len().saturating_sub(WORDS);
                kept.drain(..excess);
            }
            String::from_utf8_lossy(&kept).trim().replace('\n', " / ")
        });
        let events = self.events.clone();
        let lines = tokio::spawn(async move {
            let mut lines = BufReader::new(output).split(b'\n');
            while let Ok(Some(line)) = lines.next_segment().await {
                if let Some(file) = &mut kept_output {
                    let _ = file.write_all(&[&line[..], b"\n"].concat());
                }
                if has_lines && line == ENDED {
                    let _ = events.send(Event::Ended);
                }
            }
        });
        let child = Arc::new(Mutex::new(child));
        let (events, waited) = (self.events.clone(), Arc::clone(&child));
        tokio::spawn(async move {
            let status = waited.lock().await.wait().await;
            // Children that go on hold its streams open.
            let _ = tokio::time::timeout(Duration::from_millis(200), lines).await;
            let words = tokio::time::timeout(Duration::from_millis(200), last).await;
            let words = words.ok().and_then(Result::ok).unwrap_or_default();
            let code = status.ok().and_then(|status| status.code());
            let event = match code {
                Some(0) if !has_lines => Event::Ended,
                code => {
                    let code = code.map_or("a signal".to_owned(), |code| format!("code {code}"));
                    Event::Trouble(format!("it ended with {code}; its last words: {words}"))
                }
            };
            let _ = events.send(event);
        });
        self.running = Some(Running {
            mark,
            id,
            input,
            child,
        });
        Ok(())
    }

    /// Ends what runs of it.
    pub(crate) async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.mark.end(running.id).await;
            drop(running.child);
        }
    }
}
