//! The conversation's tools, as an agent's processes meet them: by a number on a command line, or
//! by a server of MCP on standard input and output. Both ask the play's server.

use std::io::{BufRead, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

/// Asks the play at an address.
///
/// # Errors
/// Why it did not answer.
pub fn ask(address: &str, path: &str, body: &Value) -> Result<Value, String> {
    let no_play = |error: std::io::Error| format!("no play answers at {address}: {error}");
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let answer = exchanged(address, &(head + &body)).map_err(no_play)?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
    body.and_then(|body| serde_json::from_str(body).ok())
        .ok_or_else(|| format!("what answers at {address} is no play"))
}

/// What comes back for some bytes.
fn exchanged(address: &str, sent: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(sent.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// What a call's tool answered, and whether that was an error.
///
/// # Errors
/// As [`ask`].
pub fn call(address: &str, asked: &Value) -> Result<(String, bool), String> {
    let answer = ask(address, "/play/call", asked)?;
    let text = answer["text"].as_str().unwrap_or_default().to_owned();
    Ok((text, answer["is_error"].as_bool().unwrap_or(false)))
}

/// Serves the tools by the Model Context Protocol until the input ends.
///
/// # Errors
/// Where the play does not answer or the output is closed.
pub fn serve_mcp(address: &str, input: impl BufRead, mut output: impl Write) -> Result<(), String> {
    for line in input.lines() {
        let line = line.map_err(|error| error.to_string())?;
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let Some(id) = message.get("id") else {
            continue;
        };
        let result = answer(address, &message)?;
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        writeln!(output, "{answer}")
            .and_then(|()| output.flush())
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn answer(address: &str, message: &Value) -> Result<Value, String> {
    let asked = &message["params"];
    Ok(match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": asked["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "suite", "version": env!("CARGO_PKG_VERSION")},
        }),
        Some("tools/list") => {
            let found = ask(address, "/play/tools", &json!({}))?;
            let tools = found["tools"].as_array().into_iter().flatten();
            let tools = tools.map(|tool| {
                json!({
                    "name": tool["name"],
                    "description": tool["description"],
                    "inputSchema": tool["parameters"],
                })
            });
            json!({"tools": tools.collect::<Vec<_>>()})
        }
        Some("tools/call") => {
            let asked = json!({"name": asked["name"], "arguments": asked["arguments"]});
            let (text, is_error) = call(address, &asked)?;
            json!({"content": [{"type": "text", "text": text}], "isError": is_error})
        }
        _ => json!({}),
    })
}
