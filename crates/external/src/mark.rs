//! What a program started, in whatever session it is, so that all of it can be ended; and what no
//! program is given.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::process::Command;

/// The variable by which what a process started is known.
const VARIABLE: &str = "COMPACTOMETER_PROCESS";
/// Parts of the names of environment variables that a program does not get.
const SECRET: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];
/// Numbers of marks.
static STARTED: AtomicUsize = AtomicUsize::new(0);
/// How often processes are looked for that have left the group.
const ROUNDS: usize = 5;

/// What is in the environment of all that a command starts.
#[derive(Debug)]
pub struct ProgramMark(String);

impl ProgramMark {
    /// Marks a command, makes it the head of a process group, takes the variables from it whose
    /// names sound secret, and excepts this machine from the network's proxy, which does not know
    /// its addresses.
    pub fn on(command: &mut Command) -> Self {
        #[cfg(unix)]
        command.process_group(0);
        for (name, _) in std::env::vars_os() {
            let upper = name.to_string_lossy().to_ascii_uppercase();
            if SECRET.iter().any(|part| upper.contains(part)) {
                command.env_remove(&name);
            }
        }
        let excepted = std::env::var("NO_PROXY")
            .or_else(|_| std::env::var("no_proxy"))
            .unwrap_or_default();
        let excepted = format!("127.0.0.1,localhost,{excepted}");
        command
            .env("NO_PROXY", &excepted)
            .env("no_proxy", excepted.trim_end_matches(','));
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}-{number}", std::process::id());
        command.env(VARIABLE, &mark);
        ProgramMark(format!("{VARIABLE}={mark}"))
    }

    /// Ends the group of that process, and then what has left the group.
    pub async fn end(&self, id: u32) {
        let kill = |ids: Vec<String>| {
            Command::new("kill")
                .args(["-KILL", "--"])
                .args(ids)
                .stderr(Stdio::null())
                .status()
        };
        if cfg!(unix) {
            let _ = kill(vec![format!("-{id}")]).await;
        }
        // What began a session of its own has left the group. It may start others meanwhile.
        for _ in 0..ROUNDS {
            let left = marked(|variable| variable == self.0.as_bytes());
            if left.is_empty() {
                return;
            }
            let _ = kill(left.iter().map(u32::to_string).collect()).await;
        }
    }
}

/// Ends all that this process has started, for a process that is about to end itself.
pub fn end_all() {
    let own = format!("{VARIABLE}={}-", std::process::id());
    for _ in 0..ROUNDS {
        let left = marked(|variable| variable.starts_with(own.as_bytes()));
        if left.is_empty() {
            return;
        }
        let _ = std::process::Command::new("kill")
            .args(["-KILL", "--"])
            .args(left.iter().map(u32::to_string))
            .stderr(Stdio::null())
            .status();
    }
}

/// The processes that have such a variable in their environment, except those that have ended. Only
/// Linux says so.
fn marked(is_mark: impl Fn(&[u8]) -> bool) -> Vec<u32> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_marked = |id: &u32| {
        std::fs::read(format!("/proc/{id}/environ"))
            .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(&is_mark))
    };
    ids.filter(is_marked).collect()
}
