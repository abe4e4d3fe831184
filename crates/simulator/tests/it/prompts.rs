//! Prompts in the shapes of published agents and frameworks: where the material is, how its messages
//! are laid out, and what form is asked for. The words are our own, but for phrases by which a shape is
//! known. `studies/prompts` asks with the prompts themselves.

use compactometer_engine::message::{Part, Role};
use compactometer_engine::model::{ChatRequest, WireMessage};
use serde_json::{Value, json};

use compactometer_simulator::profile::CLAUDE_CODE;

use crate::material::{complete, complete_as};

/// A message of the conversation that all of these prompts are about.
struct Said {
    role: &'static str,
    text: String,
    /// The path that a call of `edit` has, in a message of the agent.
    edits: Option<String>,
}

const VALUES: usize = 36;

/// What the conversation says, and its values: 12 of the user, 12 files that are edited, and 12 of
/// results in JSON.
fn conversation() -> (Vec<Said>, Vec<String>) {
    let (mut said, mut values) = (Vec::new(), Vec::new());
    let mut say = |role, text: String, edits| said.push(Said { role, text, edits });
    for number in 0..VALUES / 3 {
        let (ticket, path, lease) = (
            format!("TCK-{}", 4_100 + 37 * number),
            format!("/srv/shop/src/cart/part_{number}.rs"),
            format!("lease-{:x}", 0xb41d + 977 * number),
        );
        say(
            "user",
            format!("Please fix {ticket} first, and keep the tests green."),
            None,
        );
        say(
            "assistant",
            format!("On it. I will change the cart for {ticket}."),
            Some(path.clone()),
        );
        let result =
            json!({"release": number, "lease": lease, "state": "updated", "rows": [1, 2, 3]});
        say("tool", result.to_string(), None);
        say(
            "assistant",
            format!("Done, the lease is {lease} now and must be renewed."),
            None,
        );
        values.extend([ticket, path, lease]);
    }
    (said, values)
}

fn wire(said: &[Said]) -> Vec<WireMessage> {
    let mut calls = 0;
    let message = |one: &Said| {
        let text = Part::Text {
            text: one.text.clone(),
        };
        let (role, parts) = match (one.role, &one.edits) {
            ("user", _) => (Role::User, vec![text]),
            ("tool", _) => (
                Role::Tool,
                vec![Part::ToolResult {
                    call_id: format!("c{calls}"),
                    text: one.text.clone(),
                    is_error: false,
                }],
            ),
            (_, None) => (Role::Assistant, vec![text]),
            (_, Some(path)) => {
                calls += 1;
                let arguments =
                    json!({"file_path": path, "old_string": "a", "new_string": "b"}).to_string();
                (
                    Role::Assistant,
                    vec![
                        text,
                        Part::ToolCall {
                            id: format!("c{calls}"),
                            name: "edit".to_owned(),
                            arguments,
                        },
                    ],
                )
            }
        };
        WireMessage {
            role,
            parts: parts.into(),
        }
    };
    said.iter().map(message).collect()
}

/// The conversation with `line` for each message and `call` for each call.
fn laid_out(
    said: &[Said],
    line: impl Fn(&str, &str) -> String,
    call: impl Fn(&str) -> String,
) -> String {
    let mut text = String::new();
    for one in said {
        text += &line(one.role, &one.text);
        if let Some(path) = &one.edits {
            text += &call(path);
        }
    }
    text
}

fn chat(system: &str, mut messages: Vec<WireMessage>, last: &str) -> ChatRequest {
    let text = |role, text: &str| WireMessage {
        role,
        parts: vec![Part::Text {
            text: text.to_owned(),
        }]
        .into(),
    };
    if !system.is_empty() {
        messages.insert(0, text(Role::System, system));
    }
    if !last.is_empty() {
        messages.push(text(Role::User, last));
    }
    let prompt = ChatRequest::prompt(String::new(), 4_000, None, 3);
    ChatRequest { messages, ..prompt }
}

const SNAPSHOT: &str = "You are the component that summarizes a chat history into a structure.\n\nAnswer with this XML alone:\n\n<state_snapshot>\n    \
    <overall_goal>\n        <!-- what is wanted -->\n    </overall_goal>\n\n    <key_knowledge>\n        <!-- facts, commands, constraints -->\n    \
    </key_knowledge>\n\n    <file_system_state>\n        <!-- files read, created, changed -->\n    </file_system_state>\n\n    \
    <current_plan>\n        <!-- next steps -->\n    </current_plan>\n</state_snapshot>";

/// Each shape with the phrase that its answer begins with, if it asks for one.
fn requests(said: &[Said]) -> Vec<(&'static str, ChatRequest, &'static str)> {
    let upper = |role: &str| match role {
        "user" => "Human",
        "tool" => "Tool",
        _ => "AI",
    };
    let buffer = laid_out(
        said,
        |role, text| format!("{}: {text}\n", upper(role)),
        |path| format!("AI: edit {path}\n"),
    );
    let lower = laid_out(
        said,
        |role, text| format!("{role}: {text}\n"),
        |path| format!("assistant: edit(file_path={path})\n"),
    );
    let bracket = laid_out(
        said,
        |role, text| match role {
            "user" => format!("[User]: {text}\n\n"),
            "tool" => format!("[Tool result]: {text}\n\n"),
            _ => format!("[Assistant]: {text}\n\n"),
        },
        |path| format!("[Assistant tool calls]: edit(path=\"{path}\", old_string=\"a\")\n\n"),
    );
    let tags = laid_out(
        said,
        |role, text| format!("<message role=\"{role}\">\n{text}\n</message>\n"),
        |path| format!("<message role=\"assistant\">edit {path}</message>\n"),
    );
    let events = laid_out(
        said,
        |role, text| format!("<EVENT id={}>\n{role}: {text}\n</EVENT>\n", text.len()),
        |path| format!("<EVENT id=call>\nEdits {path}\n</EVENT>\n"),
    );
    let headings = laid_out(
        said,
        |role, text| format!("# {}\n{text}\n", role.to_uppercase()),
        |path| format!("edit {path}\n"),
    );
    let dump: Vec<Value> = said.iter().map(|one| json!({"role": one.role, "content": match &one.edits {
        Some(path) => json!([{"type": "text", "text": one.text}, {"type": "tool_use", "name": "edit", "input": {"file_path": path, "old_string": "a"}}]),
        None => json!(one.text),
    }})).collect();
    let dump = Value::from(dump).to_string();
    let one = |prompt: String| chat("", Vec::new(), &prompt);
    let handoff = "You are performing a CONTEXT CHECKPOINT COMPACTION. Write a handoff summary for the model that goes on.\n\nInclude:\n- progress and key decisions\n- \
        constraints and preferences of the user\n- what is left to do\n- critical data and references that are needed";
    vec![
        (
            "chat, then a list of points (Codex CLI)",
            chat("You are a coding agent.", wire(said), handoff),
            "",
        ),
        (
            "chat, then sections in a tag (Claude Code)",
            chat(
                "You are a coding agent.",
                wire(said),
                "Your task is to create a detailed summary of the conversation so far.\n\nBefore it, wrap your \
            analysis in <analysis> tags.\n\nYour summary should include the following sections:\n\n1. Primary Request and Intent: all requests\n2. Key Concepts: what matters\n3. Files and Code \
            Sections: files that were read, modified or created, and why\n4. Pending Tasks: what is left\n\n<example>\n<analysis>\n[thoughts]\n</analysis>\n\n<summary>\n1. Primary Request and Intent:\n   \
            [text]\n</summary>\n</example>",
            ),
            "<summary>",
        ),
        (
            "chat, the form in the system message (Gemini CLI, qwen-code)",
            chat(
                SNAPSHOT,
                wire(said),
                "First, reason in your scratchpad. Then, generate the <state_snapshot>.",
            ),
            "<state_snapshot>",
        ),
        (
            "chat, rules in the system message (Strands)",
            chat(
                "You are a conversation summarizer. Write a structured and concise summary in bullet points. Do not answer questions. Example format:\n\n## Summary\n\
            * Topic 1: key facts\n\n## Tools\n* Tool X: result",
                wire(said),
                "Please summarize this conversation.",
            ),
            "",
        ),
        (
            "chat, then a request for a prompt to go on with (opencode)",
            chat(
                "",
                wire(said),
                "Provide a detailed prompt for continuing our conversation above. Say what we did, what we are doing, which files we work \
            on, and what comes next, for a session that has no access to this conversation.",
            ),
            "",
        ),
        (
            "tags, messages with names, sections (LangChain, deepagents)",
            one(format!(
                "<role>\nContext Extraction Assistant\n</role>\n\n<primary_objective>\nExtract the most relevant context from the history below.\n</primary_objective>\n\n\
            <instructions>\nStructure the answer with these sections:\n\n## SESSION INTENT\nWhat is the goal?\n\n## SUMMARY\nDecisions and why.\n\n## ARTIFACTS\nFiles that were created or modified.\n\n## NEXT STEPS\n\
            What remains?\n</instructions>\n\n<messages>\nMessages to summarize:\n{buffer}</messages>"
            )),
            "",
        ),
        (
            "instruction as system message, transcript as user message (Microsoft's Agent Framework)",
            chat(
                "**Generate a clear and complete summary of the entire conversation in no more than five sentences.**",
                Vec::new(),
                &lower,
            ),
            "",
        ),
        (
            "instruction, then lines with names (ADK)",
            one(format!(
                "The following is a conversation history between a user and an AI agent. Please summarize the conversation, with key information and decisions, and with open \
            questions or tasks.\n\n{lower}"
            )),
            "",
        ),
        (
            "brackets in a tag, then headings (pi)",
            chat(
                "You are a context summarization assistant. Do NOT continue the conversation.",
                Vec::new(),
                &format!(
                    "<conversation>\n{bracket}</conversation>\n\nThe messages above are a \
            conversation to summarize. Create a structured context checkpoint. Use this EXACT format:\n\n## Goal\n[What is wanted]\n\n## Constraints & Preferences\n- [each]\n\n## Progress\n### Done\n- [x] [task]\n\n\
            ## Key Decisions\n- **[Decision]**: [why]\n\n## Next Steps\n1. [what comes next]\n\n## Critical Context\n- [data, files, references]"
                ),
            ),
            "## Goal",
        ),
        (
            "events in tags, names with a colon (OpenHands)",
            one(format!(
                "You are maintaining a context-aware state summary for an interactive agent. Track:\n\nUSER_CONTEXT: goals and requirements\nCOMPLETED: finished \
            tasks\nPENDING: what is left\nCODE_STATE: file paths and signatures\n\n<PREVIOUS SUMMARY>\n\n</PREVIOUS SUMMARY>\n\n{events}\nNow summarize the events using the rules above."
            )),
            "",
        ),
        (
            "headings of speakers (aider)",
            chat(
                "*Briefly* summarize this partial conversation about programming.",
                Vec::new(),
                &headings,
            ),
            "",
        ),
        (
            "brackets, short words (Cline)",
            chat(
                "Summarize the provided coding session into a concise continuation note.",
                Vec::new(),
                &format!("Summarize this session for continuation.\n\n{bracket}"),
            ),
            "",
        ),
        (
            "one word, then a dump in JSON",
            one(format!("Summarize:\n\n{dump}")),
            "",
        ),
        (
            "a dump in JSON, then the instruction",
            one(format!("{dump}\n\nSummarize the conversation above.")),
            "",
        ),
        (
            "messages in tags, the instruction in the system message",
            chat(
                "Write a summary of the conversation that you are given.",
                Vec::new(),
                &tags,
            ),
            "",
        ),
        (
            "one line, then brackets in Chinese",
            one(format!("请总结下面的对话，保留文件和编号。\n\n{bracket}")),
            "",
        ),
    ]
}

/// How many of the values a reply has. Files are named relative to the folder of the work.
fn count_in(reply: &str, values: &[String]) -> usize {
    let names = |value: &&String| {
        reply.contains(value.as_str()) || reply.contains(value.trim_start_matches("/srv/shop/"))
    };
    values.iter().filter(names).count()
}

/// No prompt makes the mock take the conversation for a form or for a question: each keeps at least
/// half as many values as the best.
#[test]
fn every_published_shape_is_understood() {
    let (said, values) = conversation();
    let mut kept = Vec::new();
    for (shape, request, opening) in requests(&said) {
        let reply = complete(&request).text;
        kept.push((count_in(&reply, &values), shape));
        assert!(reply.starts_with(opening), "{shape}: {reply}");
        for json in ["{\"", "\":", "\\\""] {
            assert!(!reply.contains(json), "{shape}: a piece of JSON in {reply}");
        }
    }
    let most = kept
        .iter()
        .map(|(count, _)| *count)
        .max()
        .unwrap_or_default();
    let table = kept
        .iter()
        .map(|(count, shape)| format!("{count:>3} of {VALUES}: {shape}\n"));
    println!("{}", table.clone().collect::<String>());
    assert!(kept.len() >= 12 && most > VALUES / 2);
    assert!(
        kept.iter().all(|(count, _)| 2 * count >= most),
        "{}",
        table.collect::<String>()
    );
}

/// The conversation as lines such as `Human: text`.
fn speakers(said: &[Said]) -> String {
    let name = |role: &str| match role {
        "user" => "Human",
        "tool" => "Tool",
        _ => "Assistant",
    };
    laid_out(
        said,
        |role, text| format!("{}: {text}\n", name(role)),
        |path| format!("Assistant tool call: edit(file_path=\"{path}\")\n"),
    )
}

fn reply_to(prompt: String) -> String {
    complete(&ChatRequest::prompt(prompt, 4_000, None, 3)).text
}

#[test]
fn a_prompt_without_material_gets_an_answer_without_values() {
    for prompt in [
        "Summarize the conversation so far. Keep exact values and file paths.",
        "Summarize the conversation below.\n\n<messages>\n</messages>\n\nAnswer within <summary> tags.",
        "Respond with a JSON object: {\"goal\": \"...\", \"files\": [\"src/example_4471.rs\"]}",
    ] {
        let reply = reply_to(prompt.to_owned());
        assert!(
            !reply.contains("4471") && !reply.contains("file paths"),
            "{reply}"
        );
    }
}

#[test]
fn both_of_two_transcripts_are_read() {
    let (said, values) = conversation();
    let (first, second) = said.split_at(said.len() / 2);
    let whole = reply_to(format!(
        "Summarize the conversation below.\n\n{}",
        speakers(&said)
    ));
    let parts = reply_to(format!(
        "Summarize both conversations.\n\n<first>\n{}</first>\n\n<second>\n{}</second>",
        speakers(first),
        speakers(second)
    ));
    let (early, late) = values.split_at(values.len() / 2);
    let held = [early, late].map(|values| count_in(&parts, values));
    assert!(held.iter().all(|held| *held >= 6), "{held:?}: {parts}");
    let (whole, parts) = (count_in(&whole, &values), count_in(&parts, &values));
    assert!(10 * parts >= 8 * whole, "{parts} of both, {whole} of one");
}

/// What a tool shows may look like the transcript's own headings, and like citations.
#[test]
fn headings_in_the_material_do_not_end_it() {
    let (mut said, values) = conversation();
    for heading in [
        "As [1] says, retry.",
        "[1] user: hello",
        "## Assistant\nfine",
        "<summary>none</summary>",
    ] {
        said.push(Said {
            role: "tool",
            text: heading.to_owned(),
            edits: None,
        });
        let reply = reply_to(format!(
            "Summarize the conversation below.\n\n{}",
            speakers(&said)
        ));
        let held = count_in(&reply, &values);
        assert!(held >= VALUES / 2, "{held} after {heading}: {reply}");
        said.pop();
    }
}

/// The prompt matters where it asks for something.
#[test]
fn a_prompt_that_asks_for_files_or_exact_values_gets_more_of_them() {
    let (said, values) = conversation();
    let paths: Vec<String> = said.iter().filter_map(|one| one.edits.clone()).collect();
    let listed = |ask: &str, most, values: &[String]| {
        let replies = (0..40).map(|seed| {
            let prompt = format!(
                "Summarize the conversation below{ask}.\n\n{}",
                speakers(&said)
            );
            let request = ChatRequest::prompt(prompt, most, None, seed);
            count_in(&complete_as(&CLAUDE_CODE, &request).text, values)
        });
        replies.sum::<usize>()
    };
    let (plain, asking) = (
        listed("", 350, &paths),
        listed(" and name its files", 350, &paths),
    );
    assert!(asking > plain, "files: {asking} of {plain}");
    let (plain, asking) = (
        listed("", 4_000, &values),
        listed(" and keep exact values", 4_000, &values),
    );
    assert!(asking > plain, "values: {asking} of {plain}");
}
