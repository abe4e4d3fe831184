//! A program that runs: it is asked and answers, and its calls go to the model of whoever asks.

use compactometer_engine::meter::Purpose;
use compactometer_engine::model::{ChatError, ChatRequest};
use compactometer_engine::strategy::decision_meter::DecisionMeter;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::bridge::{self, Address};
use crate::process::{AnswerLimits, OpenCalls, Process, ProcessEvent, ProcessLine, ProgramTrouble};
use crate::runtime::runtime;
use compactometer_formats::strategy_protocol::{Ask, Reply, VERSION};

/// How long a program may take to say hello, in seconds: packages of an interpreter load slowly.
const HELLO_SECONDS: u64 = 60;
/// How much of a line errors show, in characters.
const SHOWN: usize = 80;

/// A program that has said hello.
pub(crate) struct RunningProgram {
    process: Process,
    pub(crate) address: Address,
    pub(crate) hello: Reply,
    limits: AnswerLimits,
    /// Whether it was asked anything, and so has to be told that the case ends.
    was_asked: bool,
}

impl RunningProgram {
    /// Starts a command and reads its hello.
    pub(crate) async fn start(command: &str, limits: AnswerLimits) -> Result<Self, ProgramTrouble> {
        let (events, calls) = (mpsc::unbounded_channel(), OpenCalls::default());
        let command = command.to_owned();
        let started = runtime()
            .map_err(ProgramTrouble::System)?
            .spawn(async move {
                let address = bridge::serve(events.0.clone(), OpenCalls::clone(&calls)).await;
                let address = address.map_err(|error| {
                    ProgramTrouble::System(format!("no address for its model: {error}"))
                })?;
                let process = Process::start(
                    &command,
                    &address.base_url,
                    events,
                    calls,
                    AnswerLimits {
                        seconds: HELLO_SECONDS,
                        ..limits
                    },
                );
                Ok::<_, ProgramTrouble>((process, address))
            });
        let (mut process, address) = started
            .await
            .map_err(|error| ProgramTrouble::System(error.to_string()))??;
        let line = loop {
            match process.events.recv().await {
                Some(ProcessEvent::Line(line)) => break line,
                Some(ProcessEvent::Trouble(trouble)) => return Err(trouble),
                // Nobody can answer yet.
                Some(ProcessEvent::Request(..)) => {}
                None => return Err(ended()),
            }
        };
        let hello = hello(&line)?;
        Ok(RunningProgram {
            process,
            address,
            hello,
            limits,
            was_asked: false,
        })
    }

    /// Asks, and answers the calls of the model that come before the answer. Without a model they
    /// are refused, so that no call is made which no compaction accounts for; with it, each request
    /// that was answered is noted.
    pub(crate) async fn ask(
        &mut self,
        ask: &Ask,
        mut model: Option<(&DecisionMeter<'_>, &mut Vec<ChatRequest>)>,
    ) -> Result<Reply, ProgramTrouble> {
        self.was_asked = true;
        let text = serde_json::to_string(ask)
            .map_err(|error| ProgramTrouble::System(error.to_string()))?;
        let is_metered = !matches!(
            self.hello,
            Reply::Hello {
                unmetered: true,
                ..
            }
        );
        self.process
            .lines
            .send(ProcessLine {
                text,
                limits: Some(self.limits),
                is_metered,
            })
            .map_err(|_| ended())?;
        loop {
            match self.process.events.recv().await {
                Some(ProcessEvent::Line(line)) => return reply(&line),
                Some(ProcessEvent::Trouble(trouble)) => return Err(trouble),
                None => return Err(ended()),
                Some(ProcessEvent::Request(request, answer)) => {
                    let Some((model, heard)) = &mut model else {
                        let message =
                            "the model answers only while a compaction is under way".to_owned();
                        let _ = answer.send(Err(ChatError::Refused { message }));
                        continue;
                    };
                    let request = ChatRequest {
                        seed: model.seed(),
                        ..*request
                    };
                    let outcome = model.complete(Purpose::Compaction, request.clone()).await;
                    heard.extend(outcome.is_ok().then_some(request));
                    let _ = answer.send(outcome);
                }
            }
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        if self.was_asked {
            let text = serde_json::to_string(&Ask::Bye).unwrap_or_default();
            let _ = self.process.lines.send(ProcessLine {
                text,
                limits: None,
                is_metered: false,
            });
        }
    }
}

fn ended() -> ProgramTrouble {
    ProgramTrouble::System("it ended".to_owned())
}

fn hello(line: &str) -> Result<Reply, ProgramTrouble> {
    let value =
        serde_json::from_str::<Value>(line).map_err(|_| ProgramTrouble::NoHello(short(line)))?;
    match value["protocol"].as_u64() {
        _ if value["type"] != "hello" => Err(ProgramTrouble::NoHello(short(line))),
        Some(version) if version != u64::from(VERSION) => Err(ProgramTrouble::Version(
            version.try_into().unwrap_or(u32::MAX),
        )),
        _ => reply(line),
    }
}

fn reply(line: &str) -> Result<Reply, ProgramTrouble> {
    serde_json::from_str(line).map_err(|error| ProgramTrouble::NoAnswer {
        line: short(line),
        why: error.to_string(),
    })
}

/// The beginning of a line.
fn short(line: &str) -> String {
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    /// A call that belongs to no compaction would be in no cost.
    #[test]
    fn the_model_answers_only_while_a_compaction_is_under_way() {
        let script = r#"echo '{"type":"hello","protocol":1,"name":"t","version":"1"}'; read -r l; sleep 1; echo '{"type":"ok"}'"#;
        let ran = runtime().expect("a runtime").block_on(async {
            let mut running = RunningProgram::start(script, AnswerLimits::default())
                .await
                .expect("it starts");
            let address = running
                .address
                .base_url
                .trim_start_matches("http://")
                .trim_end_matches("/v1")
                .to_owned();
            let called = std::thread::spawn(move || {
                let body =
                    r#"{"model":"compactometer","messages":[{"role":"user","content":"Hi."}]}"#;
                let mut stream = std::net::TcpStream::connect(&address).expect("it listens");
                let head = format!(
                    "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n"
                );
                let length = body.len();
                let rest = format!(
                    "content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
                );
                stream
                    .write_all((head + &rest).as_bytes())
                    .expect("it is sent");
                let mut answer = String::new();
                stream.read_to_string(&mut answer).expect("it answers");
                answer
            });
            let reply = running
                .ask(
                    &Ask::BeforeTurn {
                        messages: Vec::new(),
                    },
                    None,
                )
                .await;
            (reply, called.join().expect("it ends"))
        });
        assert_eq!(ran.0, Ok(Reply::Ok));
        assert!(
            ran.1.contains("only while a compaction is under way"),
            "{}",
            ran.1
        );
    }
}
