//! A process of an agent: what it prints is kept, and how it ends is an event.

use std::fs::File;
use std::io::Write;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use compactometer_external::ProgramMark;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::desk::DeskEvent;

/// What a process that takes all turns prints at the end of each.
const ENDED: &[u8] = b"turn ended";
/// How much of its last words an error shows, in bytes.
const WORDS: usize = 400;
/// How much of what it prints is kept in a file, in bytes.
const LONGEST: usize = 16 << 20;
/// How long its streams may stay open after its end: children that go on hold them.
const LINGER: Duration = Duration::from_millis(200);

/// Where what an agent prints is kept, on its two outputs.
pub(crate) type Printed = [Option<File>; 2];

/// A process that runs.
pub(crate) struct Child {
    mark: ProgramMark,
    id: u32,
    input: Option<ChildStdin>,
}

impl Child {
    /// Starts a command. One that `has_lines` takes all turns of the user and prints a line at the
    /// end of each; any other ends with its turn.
    pub(crate) fn start(
        mut command: Command,
        [printed, complaints]: Printed,
        has_lines: bool,
        events: mpsc::UnboundedSender<DeskEvent>,
    ) -> Result<Self, String> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mark = ProgramMark::on(&mut command);
        let mut child = command.spawn().map_err(|error| {
            let program = command.as_std().get_program().to_string_lossy();
            format!("`{program}` cannot be started: {error}")
        })?;
        let (id, input) = (child.id().unwrap_or_default(), child.stdin.take());
        let output = child.stdout.take().ok_or("it has no standard output")?;
        let errors = child.stderr.take().ok_or("it has no standard error")?;
        let lines = has_lines.then(|| events.clone());
        let output = tokio::spawn(keep(output, printed, lines));
        let errors = tokio::spawn(keep(errors, complaints, None));
        tokio::spawn(async move {
            let status = child.wait().await.ok();
            let _ = last_words(output).await;
            let words = last_words(errors).await;
            let _ = events.send(ending(status, has_lines, &words));
        });
        Ok(Child { mark, id, input })
    }

    /// Writes to its standard input; one that does not read is found out when it ends.
    pub(crate) async fn write(&mut self, text: &str) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(text.as_bytes()).await;
            let _ = input.flush().await;
        }
    }

    /// Ends its standard input.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Ends it, and all that it started.
    pub(crate) async fn end(self) {
        self.mark.end(self.id).await;
    }
}

async fn last_words(kept: JoinHandle<String>) -> String {
    let words = tokio::time::timeout(LINGER, kept).await;
    words.ok().and_then(Result::ok).unwrap_or_default()
}

/// What the end of a process is in a play.
fn ending(status: Option<ExitStatus>, has_lines: bool, words: &str) -> DeskEvent {
    let code = status.and_then(|status| status.code());
    if code == Some(0) && !has_lines {
        return DeskEvent::Ended;
    }
    let code = code.map_or("a signal".to_owned(), |code| format!("code {code}"));
    DeskEvent::Trouble(format!("it ended with {code}; its last words: {words}"))
}

/// Reads a stream to its end, keeps it in a file, and returns its last words. A line that says that
/// a turn has ended is an event, if somebody listens.
async fn keep(
    mut stream: impl AsyncRead + Unpin,
    mut file: Option<File>,
    events: Option<mpsc::UnboundedSender<DeskEvent>>,
) -> String {
    let (mut last, mut line, mut piece) = (Vec::new(), Vec::new(), [0; 8192]);
    let mut room = LONGEST;
    while let Ok(read @ 1..) = stream.read(&mut piece).await {
        let read = &piece[..read];
        if let Some(file) = &mut file {
            let _ = file.write_all(&read[..read.len().min(room)]);
            room = room.saturating_sub(read.len());
        }
        last.extend_from_slice(read);
        last.drain(..last.len().saturating_sub(WORDS));
        for byte in events.iter().flat_map(|_| read) {
            match byte {
                b'\n' if std::mem::take(&mut line) == ENDED => {
                    let _ = events.as_ref().map(|events| events.send(DeskEvent::Ended));
                }
                b'\n' => {}
                _ if line.len() <= ENDED.len() => line.push(*byte),
                _ => {}
            }
        }
    }
    String::from_utf8_lossy(&last).trim().replace('\n', " / ")
}
