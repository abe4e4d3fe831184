//! Assigns the rows of a Claude Code session to conversations: the trees that `parentUuid` links
//! form.
//!
//! If a tree branches, the chain to the latest leaf behind the last words is kept, together with
//! the other rows of its messages and the results of its calls on other branches, because parallel
//! calls branch too. All other rows are counted as abandoned, and their compactions as left behind.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::branches::{self, LeftBehind};
use crate::import::error::ImportError;
use crate::import::formats::claude_code::boundary::Boundary;
use crate::import::formats::claude_code::session_row::ClaudeCodeRow;
use crate::import::report::Recorder;

/// One conversation.
pub(in crate::import) struct Tree {
    pub(in crate::import) sidechain: bool,
    /// Whether its first row follows one that the file does not have.
    pub(in crate::import) starts_inside: bool,
    pub(in crate::import) rows: Vec<ChosenRow>,
    pub(in crate::import) left_behind: LeftBehind,
}

/// A row of a conversation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::import) struct ChosenRow {
    pub(in crate::import) row: usize,
    /// Whether only its tool results belong to the conversation.
    pub(in crate::import) results_only: bool,
}

/// The conversations of a file, in the order of their first rows.
pub(in crate::import) fn trees(
    rows: &[ClaudeCodeRow],
    recorder: &mut Recorder,
) -> Result<Vec<Tree>, ImportError> {
    let (parents, roots) = parents(rows, recorder)?;
    let inner = inner(rows, &parents);
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, root) in roots.into_iter().enumerate() {
        if rows[row].uuid.is_some() {
            members.entry(root).or_default().push(row);
        }
    }
    let mut trees = Vec::new();
    for (root, members) in members {
        let begun = |row: &&usize| branches::begins_compaction(rows, &parents, **row);
        let Some(leaf) = branches::leaf(rows, &members, &inner, &parents) else {
            recorder.without_conversation(members.iter().filter(begun).count());
            continue;
        };
        let chosen = choose(rows, &members, chain(leaf, &parents));
        let kept = chosen
            .iter()
            .map(|choice| choice.row)
            .collect::<HashSet<_>>();
        let beside = members.iter().filter(|row| !kept.contains(row));
        let beside = beside.copied().collect::<Vec<_>>();
        for row in beside.iter().filter(|row| rows[**row].message.is_some()) {
            recorder.ignore(&format!("{} of an abandoned branch", rows[*row].kind));
        }
        let starts_inside = rows[root].parent.is_some() && rows[root].boundary.is_none();
        trees.push(Tree {
            sidechain: rows[root].sidechain,
            starts_inside,
            rows: chosen,
            left_behind: branches::left_behind(rows, &parents, &beside),
        });
    }
    Ok(trees)
}

type Linked = (Vec<Option<usize>>, Vec<usize>);

/// Each row's parent, and the first row of its tree. A side conversation starts a new tree, and so
/// does a row whose parent is not in the file if no row of its session comes before it.
fn parents(rows: &[ClaudeCodeRow], recorder: &mut Recorder) -> Result<Linked, ImportError> {
    let by_uuid = by_uuid(rows, recorder)?;
    let mut parents = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let mut parent = row
            .parent
            .as_deref()
            .and_then(|uuid| by_uuid.get(uuid).copied());
        if parent.is_none() && row.parent.is_none() && (row.summary || row.boundary.is_some()) {
            parent = continued(at, rows);
        }
        if let (None, Some(uuid), true) = (parent, &row.parent, row.uuid.is_some()) {
            let taken;
            (parent, taken) = adopted(at, rows, &by_uuid);
            if parent.is_some() || row.message.is_some() || row.boundary.is_some() {
                recorder.repair(
                    row.place,
                    format!("parent `{uuid}` is not in the file: {taken}"),
                )?;
            }
        }
        parents.push(parent.filter(|parent| rows[*parent].sidechain == row.sidechain));
    }
    let index_of = |uuid: &str| by_uuid.get(uuid).copied();
    put_tails_before(rows, &mut parents, index_of);
    continue_after_summaries(rows, &mut parents);
    branches::continue_where_usage_fell(rows, &mut parents);
    let (roots, cut) = roots(&mut parents);
    for at in cut {
        let what = "row is its own ancestor: taken as a start".to_owned();
        recorder.repair(rows[at].place, what)?;
    }
    Ok((parents, roots))
}

/// The row that takes the place of a missing parent, and what was done.
fn adopted(
    at: usize,
    rows: &[ClaudeCodeRow],
    by_uuid: &HashMap<&str, usize>,
) -> (Option<usize>, String) {
    if let Some(above) = above_nameless(at, rows, by_uuid) {
        return (
            Some(above),
            format!(
                "linked to {}, which the row before it follows",
                rows[above].place
            ),
        );
    }
    match continued(at, rows) {
        Some(before) => (
            Some(before),
            format!("joined to {} of the same session", rows[before].place),
        ),
        None => (None, "taken as a start".to_owned()),
    }
}

/// The last turn of the same session before a row.
fn continued(at: usize, rows: &[ClaudeCodeRow]) -> Option<usize> {
    let row = &rows[at];
    let of_session =
        |other: &ClaudeCodeRow| other.sidechain == row.sidechain && other.session == row.session;
    let session = row.session.as_ref()?;
    if session.is_empty() {
        return None;
    }
    rows[..at]
        .iter()
        .rposition(|other| other.message.is_some() && other.uuid.is_some() && of_session(other))
}

/// Where messages stay after a compaction, the last of them may be written under the summary only.
/// It was said before the compaction.
fn put_tails_before(
    rows: &[ClaudeCodeRow],
    parents: &mut [Option<usize>],
    index_of: impl Fn(&str) -> Option<usize>,
) {
    for (boundary, row) in rows.iter().enumerate() {
        let tail = row.boundary.as_ref().and_then(Boundary::tail);
        let tail = tail.and_then(&index_of).filter(|tail| *tail > boundary);
        if let (Some(tail), Some(before)) = (tail, continued(boundary, rows)) {
            parents[tail] = Some(before);
            parents[boundary] = Some(tail);
        }
    }
}

/// Where messages stay after a compaction, the next row may name the last of them as its parent,
/// which comes before the compaction. Such a row follows the summary.
fn continue_after_summaries(rows: &[ClaudeCodeRow], parents: &mut [Option<usize>]) {
    for (boundary, before) in rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| Some((at, row.boundary.as_ref()?.tail()?)))
    {
        let follows = |at: usize| parents[at] == Some(boundary) && rows[at].summary;
        let Some(summary) = (boundary + 1..rows.len()).find(|at| follows(*at)) else {
            continue;
        };
        let names_tail = |at: &usize| {
            parents[*at].is_some_and(|parent| rows[parent].uuid.as_deref() == Some(before))
        };
        if let Some(next) = (summary + 1..rows.len()).find(names_tail) {
            parents[next] = Some(summary);
        }
    }
}

/// Rows by uuid. If rows share a uuid, a row that could be read takes precedence over a broken one.
fn by_uuid<'r>(
    rows: &'r [ClaudeCodeRow],
    recorder: &mut Recorder,
) -> Result<HashMap<&'r str, usize>, ImportError> {
    let mut by_uuid = HashMap::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| !row.broken) {
        match &row.uuid {
            Some(uuid) => drop(by_uuid.entry(uuid.as_str()).or_insert(at)),
            None if row.message.is_some() => {
                let what = format!("row of type `{}` without a uuid: dropped", row.kind);
                recorder.repair(row.place, what)?;
            }
            None => {}
        }
    }
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.broken) {
        if let Some(uuid) = &row.uuid {
            by_uuid.entry(uuid.as_str()).or_insert(at);
        }
    }
    Ok(by_uuid)
}

/// The parent of the rows directly before, if they lost their uuid. The missing parent must be one
/// of these rows.
fn above_nameless(
    at: usize,
    rows: &[ClaudeCodeRow],
    by_uuid: &HashMap<&str, usize>,
) -> Option<usize> {
    let before = rows[..at].iter().rev();
    let mut nameless =
        before.take_while(|row| row.uuid.is_none() && (row.broken || row.message.is_some()));
    nameless.find_map(|row| by_uuid.get(row.parent.as_deref()?).copied())
}

/// The first row of each row's tree. Cuts one link of each cycle; also returns the rows that lost
/// their parent.
fn roots(parents: &mut [Option<usize>]) -> (Vec<usize>, Vec<usize>) {
    let mut roots: Vec<Option<usize>> = vec![None; parents.len()];
    let mut walk_of = vec![0_usize; parents.len()];
    let mut cut = Vec::new();
    for start in 0..parents.len() {
        let (walk, mut at, mut walked) = (start + 1, start, Vec::new());
        let root = loop {
            if let Some(root) = roots[at] {
                break root;
            }
            walk_of[at] = walk;
            walked.push(at);
            match parents[at] {
                Some(parent) if walk_of[parent] == walk => {
                    parents[parent] = None;
                    cut.push(parent);
                    break parent;
                }
                Some(parent) => at = parent,
                None => break at,
            }
        };
        walked.into_iter().for_each(|row| roots[row] = Some(root));
    }
    (roots.into_iter().flatten().collect(), cut)
}

/// Whether any descendant of each row has a message.
fn inner(rows: &[ClaudeCodeRow], parents: &[Option<usize>]) -> Vec<bool> {
    let mut inner = vec![false; rows.len()];
    for (row, _) in rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.message.is_some())
    {
        let mut at = parents[row];
        while let Some(above) = at.filter(|above| !inner[*above]) {
            inner[above] = true;
            at = parents[above];
        }
    }
    inner
}

/// The path from the root to the leaf.
fn chain(leaf: usize, parents: &[Option<usize>]) -> Vec<usize> {
    let mut chain = std::iter::successors(Some(leaf), |row| parents[*row]).collect::<Vec<_>>();
    chain.reverse();
    chain
}

/// The chain, the other rows of its messages, and results of its calls on other branches.
fn choose(rows: &[ClaudeCodeRow], members: &[usize], chain: Vec<usize>) -> Vec<ChosenRow> {
    let on_chain = chain.iter().copied().collect::<HashSet<_>>();
    let ids = chain
        .iter()
        .filter_map(|row| message_id(&rows[*row]))
        .collect::<HashSet<_>>();
    let mut chosen = chain
        .iter()
        .map(|row| ChosenRow {
            row: *row,
            results_only: false,
        })
        .collect::<Vec<_>>();
    let beside = || {
        members
            .iter()
            .copied()
            .filter(|row| !on_chain.contains(row))
    };
    let same = beside().filter(|row| message_id(&rows[*row]).is_some_and(|id| ids.contains(id)));
    chosen.extend(same.map(|row| ChosenRow {
        row,
        results_only: false,
    }));
    let mut open = chosen
        .iter()
        .flat_map(|choice| block_ids(&rows[choice.row], "tool_use", "id"))
        .collect::<HashSet<_>>();
    for row in &chain {
        for answered in block_ids(&rows[*row], "tool_result", "tool_use_id") {
            open.remove(answered);
        }
    }
    for row in beside() {
        let found = block_ids(&rows[row], "tool_result", "tool_use_id")
            .filter(|id| open.remove(id))
            .count();
        if found > 0 {
            chosen.push(ChosenRow {
                row,
                results_only: true,
            });
        }
    }
    // If the file is not in the order of the chain, the chain's order counts.
    if chain.is_sorted() {
        chosen.sort();
    }
    chosen
}

fn message_id(row: &ClaudeCodeRow) -> Option<&str> {
    row.message.as_ref().filter(|_| row.kind == "assistant")?["id"].as_str()
}

fn block_ids<'r>(
    row: &'r ClaudeCodeRow,
    kind: &'static str,
    key: &'static str,
) -> impl Iterator<Item = &'r str> {
    let blocks = row
        .message
        .as_ref()
        .and_then(|message| message["content"].as_array());
    blocks
        .into_iter()
        .flatten()
        .filter(move |block| block["type"] == kind)
        .filter_map(move |block| block[key].as_str())
}
