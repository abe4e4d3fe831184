//! What the agent can call, and what its results say: files, commands, builds and tests.

use crate::generate::domains::{Style, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "read_file",
        about: "Reads a source file.",
        arguments: &[("path", "{path}")],
        style: Style::Code(CODE),
        items: &[
            "called once per batch, from {function}",
            "the caller holds {symbol}; see {ticket}",
            "falls back to {function} when the buffer is empty",
            "{person} measured {ms} here on the old runner",
            "keep in step with {path}",
            "the size was {mb} before {hash}",
            "returns early when {symbol} has been closed",
            "order matters: {function} reads what this writes",
        ],
        failures: &["no such file", "permission denied", "file is not valid UTF-8"],
    },
    Tool {
        name: "run_tests",
        about: "Runs the tests that match a filter and returns their output.",
        arguments: &[("filter", "{function}"), ("revision", "{hash}")],
        style: Style::Log,
        items: &[
            "test {function} ok in {ms}",
            "test {function}_{n} ok in {ms}",
            "test {function} FAILED: left {n}, right {n}",
            "test {function}_rejects_empty ok",
            "seed {code} replayed for {function}",
            "fixture {word} loaded from {path}",
            "{symbol} dropped after {ms}",
            "retry {n} of {n} for {function}",
            "leaked handle in {symbol} reported by the harness",
        ],
        failures: &["no test matches the filter", "compilation failed with {n} errors", "timed out after {sec}"],
    },
    Tool {
        name: "search_code",
        about: "Searches the repository for a text.",
        arguments: &[("query", "{symbol}"), ("limit", "{n}")],
        style: Style::Json(&[("file", "{path}"), ("line", "{n}"), ("author", "{person}")]),
        items: &[
            "let state = {symbol}::open({n})?;",
            "impl Drop for {symbol}",
            "self.{function}(batch).await?",
            "use of {function} behind cfg(test)",
            "// see {ticket}",
            "assert!({function}(&rows).is_ok())",
            "const LIMIT: usize = {n};",
            "matches {symbol} in a doc comment",
        ],
        failures: &["the index is being rebuilt", "query too short"],
    },
    Tool {
        name: "git_history",
        about: "Lists commits that touched a revision's files.",
        arguments: &[("revision", "{hash}"), ("limit", "{n}")],
        style: Style::Table(&[("commit", "{hash}"), ("author", "{person}"), ("when", "{date} {clock}")]),
        items: &[
            "split {function} out of {symbol}",
            "bump the lock file",
            "fix {trouble} ({ticket})",
            "rename {symbol}, no change in behaviour",
            "revert {hash}",
            "add a benchmark for {function}: {ms}",
            "drop unused branch {word}",
            "document {symbol}",
            "{subject}: log at debug level",
        ],
        failures: &["unknown revision", "shallow clone: history is cut at {hash}"],
    },
    Tool {
        name: "tail_log",
        about: "Returns recent log lines that mention a ticket, worker or key.",
        arguments: &[("match", "{ticket}"), ("lines", "{n}")],
        style: Style::Log,
        items: &[
            "request {code} served in {ms}",
            "pool grew to {n} connections",
            "job {ticket} queued behind {n} others",
            "host {word} joined, weight {n}",
            "checkpointed {rows} to segment {hash}",
            "slow call to {function}: {ms}",
            "memory at {mb}, limit not reached",
            "cache hit rate {pct}",
            "connection from {word} closed by peer",
            "rotated {path}",
            "lease {code} renewed for {n} s",
        ],
        failures: &["log backend unavailable", "no line matches"],
    },
    Tool {
        name: "lookup_key",
        about: "Shows what a licence, lease or session key belongs to.",
        arguments: &[("key", "{code}")],
        style: Style::Json(&[("key", "{code}"), ("owner", "{person}"), ("since", "{date}")]),
        items: &[
            "held by {component} on {word}",
            "expired {n} days ago",
            "rotated with {ticket}",
            "used {n} times, last at {clock}",
            "bound to revision {hash}",
        ],
        failures: &["unknown key"],
    },
];

const CODE: &[&str] = &[
    "pub fn {function}(&mut self, batch: &[Row]) -> Result<usize, {symbol}> {\n    let mut done = 0;\n    for row in \
     batch {\n        self.buffer.push(row.encode()?);\n        done += 1;\n    }\n    self.flush_if(done > {n})?;\n    \
     Ok(done)\n}",
    "async fn {function}(state: Arc<{symbol}>) -> Option<Page> {\n    let guard = state.lock().await;\n    \
     guard.pages.get(guard.next).cloned()\n}",
    "impl {symbol} {\n    fn {function}(&self, key: u64) -> bool {\n        self.slots[(key % {n}) as \
     usize].load(Ordering::Acquire) == key\n    }\n}",
    "#[test]\nfn {function}_keeps_order() {\n    let rows = sample({n});\n    let out = \
     {function}(&rows).expect(\"encodes\");\n    assert!(out.windows(2).all(|pair| pair[0] <= pair[1]));\n}",
    "match self.{function}(attempt).await {\n    Ok(page) => return Ok(page),\n    Err(error) if attempt < {n} => \
     self.sleep(backoff(attempt)).await,\n    Err(error) => return Err(error.into()),\n}",
    "struct {symbol} {\n    rows: Vec<Row>,\n    seen: BTreeSet<u64>,\n    limit: usize,\n}",
    "while let Some(frame) = reader.next_frame()? {\n    if frame.len() < {n} {\n        continue;\n    }\n    \
     {function}(&frame, &mut out)?;\n}",
    "let total: u64 = parts.iter().map({symbol}::len).sum();\nif total > u64::from(limit) * {n} {\n    return \
     self.{function}(total);\n}",
    "fn {function}<'a>(rows: &'a [Row], scope: &{symbol}) -> impl Iterator<Item = &'a Row> {\n    \
     rows.iter().filter(move |row| scope.allows(row.tenant))\n}",
    "tokio::select! {\n    job = queue.recv() => self.{function}(job).await?,\n    () = shutdown.changed() => \
     break,\n}",
];
