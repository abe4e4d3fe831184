//! A program's process: lines in, lines out, within limits.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use compactometer_engine::model::{ChatError, ChatReply, ChatRequest};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};

use crate::connections;
use crate::mark::ProgramMark;

/// Longest line that is read, in bytes.
const LONGEST: u64 = 64 << 20;
/// How often the memory is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// How much of what it says on stderr is kept, in bytes.
const KEPT_WORDS: usize = 400;
/// The calls of the model that are under way.
pub(crate) type OpenCalls = Arc<AtomicUsize>;

/// The processes that have not been ended yet.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Waits until the programs of all cases that are over have ended, or have been ended.
pub fn finish() {
    const LONGEST: Duration = Duration::from_secs(2);
    let started = std::time::Instant::now();
    while LIVE.load(Ordering::Relaxed) > 0 && started.elapsed() < LONGEST {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What a process does.
pub(crate) enum ProcessEvent {
    /// It wrote a line.
    Line(String),
    /// It asked its model something.
    Request(
        Box<ChatRequest>,
        oneshot::Sender<Result<ChatReply, ChatError>>,
    ),
    /// It broke off, or broke a rule.
    Trouble(ProgramTrouble),
}

/// Why a program cannot be used any more.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ProgramTrouble {
    #[error("the command was not found{0}")]
    NotFound(LastWords),
    #[error("the command cannot be run{0}")]
    NotRun(LastWords),
    #[error("it ended{how}{words}")]
    Ended { how: String, words: LastWords },
    #[error("it did not answer within {0} seconds")]
    Silent(u64),
    #[error("it wrote a line of more than {LONGEST} bytes")]
    TooLong,
    #[error("it used more than {0} MiB of memory")]
    Memory(u64),
    #[error("it wrote a line that is not UTF-8")]
    NotText,
    #[error("it wrote `{line}`, which is not an answer: {why}")]
    NoAnswer { line: String, why: String },
    #[error("it wrote `{0}` before its hello; only answers belong on its standard output")]
    NoHello(String),
    #[error("it speaks version {0} of the protocol, and this program version {ours}", ours = compactometer_formats::strategy_protocol::VERSION)]
    Version(u32),
    #[error("it answered `{got}` to `{asked}`")]
    WrongAnswer {
        got: &'static str,
        asked: &'static str,
    },
    #[error(
        "it is connected to {0}, which is not its model; if it asks another one, its hello has to say `\"unmetered\": true`"
    )]
    PastTheMeter(std::net::SocketAddr),
    #[error("{0}")]
    System(String),
}

/// The last words of a program on its standard error.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LastWords(String);

impl std::fmt::Display for LastWords {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            Ok(())
        } else {
            write!(out, "; its last words: {}", self.0)
        }
    }
}

/// A line for a program, and the limits of its answer. Without limits, no answer is awaited.
pub(crate) struct ProcessLine {
    pub(crate) text: String,
    pub(crate) limits: Option<AnswerLimits>,
    /// Whether the program may be connected to nothing but its model when it answers.
    pub(crate) is_metered: bool,
}

/// What an answer may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AnswerLimits {
    /// Time, in seconds.
    pub(crate) seconds: u64,
    /// Memory of the process and its children, in MiB.
    pub(crate) memory: u64,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        AnswerLimits {
            seconds: 30,
            memory: 4096,
        }
    }
}

/// The channels of a process that runs as a task.
pub(crate) struct Process {
    pub(crate) lines: mpsc::UnboundedSender<ProcessLine>,
    pub(crate) events: mpsc::UnboundedReceiver<ProcessEvent>,
}

impl Process {
    /// Starts a command. `limits` are those of the first line.
    pub(crate) fn start(
        command: &str,
        base_url: &str,
        (sender, events): (
            mpsc::UnboundedSender<ProcessEvent>,
            mpsc::UnboundedReceiver<ProcessEvent>,
        ),
        calls: OpenCalls,
        limits: AnswerLimits,
    ) -> Self {
        let (lines, asked) = mpsc::unbounded_channel();
        let (command, base_url) = (command.to_owned(), base_url.to_owned());
        LIVE.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let outcome = match Running::spawn(&command, &base_url) {
                Ok(mut running) => {
                    let outcome = running.follow(&sender, asked, &calls, limits).await;
                    running.stop().await;
                    outcome
                }
                Err(error) => Err(ProgramTrouble::System(error.to_string())),
            };
            if let Err(trouble) = outcome {
                let _ = sender.send(ProcessEvent::Trouble(trouble));
            }
            LIVE.fetch_sub(1, Ordering::Relaxed);
        });
        Process { lines, events }
    }
}

struct Running {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    words: Arc<Mutex<Vec<u8>>>,
    id: u32,
    /// The address of its model, as the system shows it.
    model: String,
    /// By which all that it started is known.
    mark: ProgramMark,
}

impl Running {
    fn spawn(command: &str, base_url: &str) -> std::io::Result<Self> {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mark = ProgramMark::on(&mut shell);
        // What the providers' clients read. Anthropic's adds the version to the path by itself.
        shell
            .env("OPENAI_BASE_URL", base_url)
            .env("OPENAI_API_KEY", "none")
            .env("PYTHONUNBUFFERED", "1");
        shell
            .env("ANTHROPIC_BASE_URL", base_url.trim_end_matches("/v1"))
            .env("ANTHROPIC_API_KEY", "none");
        let mut child = shell.spawn()?;
        let missing = || std::io::Error::other("the program has no standard streams");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let mut errors = child.stderr.take().ok_or_else(missing)?;
        let words = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&words);
        tokio::spawn(async move {
            let mut piece = [0; 4096];
            while let Ok(read @ 1..) = errors.read(&mut piece).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&piece[..read]);
                let excess = kept.len().saturating_sub(KEPT_WORDS);
                kept.drain(..excess);
            }
        });
        let id = child.id().unwrap_or_default();
        let model = base_url
            .trim_start_matches("http://")
            .trim_end_matches("/v1")
            .to_owned();
        Ok(Running {
            child,
            input: Some(input),
            output,
            words,
            id,
            model,
            mark,
        })
    }

    /// Passes lines on in both directions until one side ends.
    async fn follow(
        &mut self,
        events: &mpsc::UnboundedSender<ProcessEvent>,
        mut asked: mpsc::UnboundedReceiver<ProcessLine>,
        calls: &OpenCalls,
        first: AnswerLimits,
    ) -> Result<(), ProgramTrouble> {
        let line = self.line(first, calls).await?;
        let _ = events.send(ProcessEvent::Line(line));
        while let Some(ProcessLine {
            text,
            limits,
            is_metered,
        }) = asked.recv().await
        {
            // A program that has ended is found out when it is read.
            if let Some(input) = &mut self.input {
                let _ = tokio::time::timeout(
                    Duration::from_secs(limits.map_or(1, |limits| limits.seconds)),
                    async {
                        input.write_all(text.as_bytes()).await?;
                        input.write_all(b"\n").await?;
                        input.flush().await
                    },
                )
                .await;
            }
            if let Some(limits) = limits {
                let line = self.line(limits, calls).await?;
                let past = if is_metered {
                    connections::past(self.id, &self.model)
                } else {
                    Vec::new()
                };
                if let Some(peer) = past.into_iter().next() {
                    return Err(ProgramTrouble::PastTheMeter(peer));
                }
                let _ = events.send(ProcessEvent::Line(line));
            }
        }
        Ok(())
    }

    /// The next line, if it comes in time. While a call of the model is under way, no time passes.
    async fn line(
        &mut self,
        AnswerLimits {
            seconds,
            memory: most,
        }: AnswerLimits,
        calls: &OpenCalls,
    ) -> Result<String, ProgramTrouble> {
        let limit = Duration::from_secs(seconds);
        let mut deadline = tokio::time::Instant::now() + limit;
        let mut bytes = Vec::new();
        let mut output = (&mut self.output).take(LONGEST + 1);
        let read = output.read_until(b'\n', &mut bytes);
        tokio::pin!(read);
        let read = loop {
            tokio::select! {
                biased;
                read = &mut read => break read,
                () = tokio::time::sleep_until(deadline.min(tokio::time::Instant::now() + LOOK)) => {
                    if calls.load(Ordering::Relaxed) > 0 {
                        deadline = tokio::time::Instant::now() + limit;
                    }
                    if tokio::time::Instant::now() >= deadline {
                        return Err(ProgramTrouble::Silent(seconds));
                    }
                    if memory(self.id) > most << 20 {
                        return Err(ProgramTrouble::Memory(most));
                    }
                }
            }
        };
        match read {
            Ok(_) if bytes.len() as u64 > LONGEST => Err(ProgramTrouble::TooLong),
            Ok(_) if bytes.ends_with(b"\n") => {
                bytes.pop();
                String::from_utf8(bytes).map_err(|_| ProgramTrouble::NotText)
            }
            _ => Err(self.ended().await),
        }
    }

    async fn ended(&mut self) -> ProgramTrouble {
        self.input = None;
        let status = tokio::time::timeout(Duration::from_secs(1), self.child.wait()).await;
        // What it said last may still be on its way.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let kept = self
            .words
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let words = LastWords(String::from_utf8_lossy(&kept).trim().replace('\n', " / "));
        let code = status
            .ok()
            .and_then(Result::ok)
            .and_then(|status| status.code());
        match code {
            Some(127) => ProgramTrouble::NotFound(words),
            Some(126) => ProgramTrouble::NotRun(words),
            Some(code) => ProgramTrouble::Ended {
                how: format!(" with code {code}"),
                words,
            },
            None => ProgramTrouble::Ended {
                how: String::new(),
                words,
            },
        }
    }

    /// Ends the process and what it started: at once if it broke a rule, else it has a moment.
    async fn stop(&mut self) {
        self.input = None;
        let _ = tokio::time::timeout(Duration::from_millis(200), self.child.wait()).await;
        self.mark.end(self.id).await;
        let _ = self.child.kill().await;
    }
}

/// The memory of a process and its children, in bytes; 0 where the system does not say.
fn memory(id: u32) -> u64 {
    const PAGE: u64 = 4096;
    let resident = |id: u32| -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{id}/statm")).ok()?;
        Some(text.split(' ').nth(1)?.parse::<u64>().ok()? * PAGE)
    };
    connections::family(id)
        .into_iter()
        .filter_map(resident)
        .sum()
}
