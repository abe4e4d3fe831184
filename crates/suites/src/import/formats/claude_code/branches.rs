//! Which branch of a session is the conversation, and what the others leave behind.
//!
//! A late row may hang on an early one: a failed request for a permission, or a session that was
//! resumed from before its compaction. The branch on which a model or a person spoke last is the
//! conversation. Where the reply after a compaction hangs on the row before it, the recorded usage
//! says whether the compaction took effect.

use std::collections::{HashMap, HashSet};

use crate::import::formats::claude_code::session_row::ClaudeCodeRow;

/// What is on branches that the conversation left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::import) struct LeftBehind {
    /// The rows where compactions begin.
    pub(in crate::import) compactions: Vec<usize>,
    /// The messages behind them.
    pub(in crate::import) messages: usize,
}

/// A request with less than this share of the tokens of the one before follows a compaction.
const FALL: f64 = 0.8;

/// The latest leaf behind the last words of a model or a person, or else the latest leaf. It is also
/// the latest if it is a summary: nobody has spoken yet since the program compacted.
pub(super) fn leaf(
    rows: &[ClaudeCodeRow],
    members: &[usize],
    inner: &[bool],
    parents: &[Option<usize>],
) -> Option<usize> {
    let is_leaf = |row: &&usize| rows[**row].message.is_some() && !inner[**row];
    let latest = || members.iter().rev().find(is_leaf).copied();
    if let Some(summary) = latest().filter(|row| rows[*row].summary) {
        return Some(summary);
    }
    let last = members.iter().rev().find(|row| speaks(&rows[**row]));
    let behind = |start: usize| {
        let below = below(start, members, parents);
        let leaf = members
            .iter()
            .rev()
            .find(|row| below.contains(row) && is_leaf(row));
        leaf.copied()
    };
    last.and_then(|last| behind(*last)).or_else(latest)
}

/// Whether a model or a person wrote words in the row.
fn speaks(row: &ClaudeCodeRow) -> bool {
    let content = row.message.as_ref().map(|message| &message["content"]);
    let has_words = |content: &serde_json::Value| {
        let mut blocks = content.as_array().into_iter().flatten();
        content.is_string() || blocks.any(|block| block["type"] == "text")
    };
    let is_by_person = row.kind == "user" && !row.by_program && !row.summary;
    is_answer(row) || (is_by_person && content.is_some_and(has_words))
}

/// Whether a model wrote the row, and not the program in its name.
fn is_answer(row: &ClaudeCodeRow) -> bool {
    let model = |message: &serde_json::Value| message["model"].as_str().map(str::to_owned);
    let written = row
        .message
        .as_ref()
        .filter(|_| row.kind == "assistant")
        .map(model);
    written.is_some_and(|model| model.is_none_or(|model| !model.starts_with('<')))
}

/// A row and all that follow it.
fn below(start: usize, members: &[usize], parents: &[Option<usize>]) -> HashSet<usize> {
    let mut below = HashSet::from([start]);
    for row in members.iter().filter(|row| **row > start) {
        if parents[*row].is_some_and(|parent| below.contains(&parent)) {
            below.insert(*row);
        }
    }
    below
}

/// Whether a compaction begins with a row: a boundary, or a summary without one.
pub(super) fn begins_compaction(
    rows: &[ClaudeCodeRow],
    parents: &[Option<usize>],
    at: usize,
) -> bool {
    let above = std::iter::successors(parents[at], |row| parents[*row]);
    let mut silent = above.take_while(|row| rows[*row].message.is_none());
    let is_written = rows[at].summary && !silent.any(|row| rows[row].boundary.is_some());
    rows[at].boundary.is_some() || is_written
}

/// What the rows beside the conversation hold of compactions.
pub(super) fn left_behind(
    rows: &[ClaudeCodeRow],
    parents: &[Option<usize>],
    beside: &[usize],
) -> LeftBehind {
    let compactions = beside
        .iter()
        .copied()
        .filter(|row| begins_compaction(rows, parents, *row))
        .collect::<Vec<_>>();
    let begun = compactions.iter().collect::<HashSet<_>>();
    let mut behind = HashSet::new();
    for row in beside {
        let follows = parents[*row].is_some_and(|parent| behind.contains(&parent));
        if follows || begun.contains(row) {
            behind.insert(*row);
        }
    }
    let is_turn = |row: &&usize| rows[**row].message.is_some() && !rows[**row].summary;
    LeftBehind {
        messages: behind.iter().filter(is_turn).count(),
        compactions,
    }
}

/// Where the next turn hangs on the row before a compaction, although its request was so much
/// shorter that the compaction took effect: the turn follows the summary.
pub(super) fn continue_where_usage_fell(rows: &[ClaudeCodeRow], parents: &mut [Option<usize>]) {
    let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
    for (row, parent) in parents.iter().enumerate() {
        parent
            .iter()
            .for_each(|parent| children.entry(*parent).or_default().push(row));
    }
    let children = |row: usize| children.get(&row).into_iter().flatten().copied();
    for boundary in (0..rows.len()).filter(|at| rows[*at].boundary.is_some()) {
        let Some(before) = parents[boundary] else {
            continue;
        };
        let Some(summary) = children(boundary).find(|at| rows[*at].summary) else {
            continue;
        };
        let is_next = |at: &usize| *at > summary && rows[*at].message.is_some();
        let Some(next) = children(before).find(is_next) else {
            continue;
        };
        // Rows that name each other as parents are told apart later.
        let earlier = std::iter::successors(Some(before), |row| parents[*row]).take(rows.len());
        let mut earlier = earlier.filter_map(|row| request_tokens(&rows[row]));
        let earlier = earlier.next();
        let later = (next..rows.len())
            .scan(HashSet::new(), |below, row| {
                let follows = parents[row].is_some_and(|parent| below.contains(&parent));
                if row == next || follows {
                    below.insert(row);
                }
                Some(below.contains(&row).then_some(row))
            })
            .flatten();
        let later = later.filter_map(|row| request_tokens(&rows[row])).next();
        if let (Some(earlier), Some(later)) = (earlier, later)
            && (later as f64) < FALL * earlier as f64
        {
            parents[next] = Some(summary);
        }
    }
}

/// The reported tokens of the request that the row answers.
fn request_tokens(row: &ClaudeCodeRow) -> Option<u64> {
    let usage = &row.message.as_ref().filter(|_| is_answer(row))?["usage"];
    let tokens = [
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    ]
    .iter()
    .filter_map(|key| usage[*key].as_u64());
    Some(tokens.fold(0, u64::saturating_add)).filter(|tokens| *tokens > 0)
}
