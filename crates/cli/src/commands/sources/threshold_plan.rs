//! What the threshold plan says beside its numbers.

use std::path::Path;

use anyhow::{Result, ensure};
use rusqlite::{Connection, OpenFlags};

use super::desk::{least, list};
use super::sourced_row::SourceCheck::{Dropped, Holds};
use super::sourced_row::SourceClaim;

pub(super) const CLAIMS: &[SourceClaim] = &[
    SourceClaim {
        section: "test cases",
        claim: "80,000 tokens start a compaction, and fewer do not",
        check: Holds(|desk| {
            let run = desk.published()?;
            let least = least(&run.applied("threshold-summary"), "tokens_before")?;
            ensure!((79_000..84_000).contains(&least), "{least}");
            Ok(format!(
                "first at {least} tokens beside the definitions of tools"
            ))
        }),
    },
    SourceClaim {
        section: "step 3",
        claim: "the prompt asks for decisions, facts, state and preferences, in bullet points",
        check: Holds(|desk| {
            let prompt = desk.prints(&["prompt", "threshold-summary-faithful"])?;
            let prompt = prompt.to_lowercase();
            let points = [
                "1. key decisions",
                "2. ",
                "3. ",
                "4. ",
                "fact",
                "state",
                "preferences",
                "bullet points",
            ];
            let missing = points.iter().find(|point| !prompt.contains(**point));
            ensure!(missing.is_none(), "no {missing:?}");
            Ok("four points".to_owned())
        }),
    },
    SourceClaim {
        section: "step 1, tests from end to end",
        claim: "a row per checkpoint with its sizes and cost, and the three queries have answers",
        check: Holds(|desk| {
            let path = desk.store("kept.db")?;
            let ask = |sql: &str| ask(&path, sql);
            let rows = ask("SELECT COUNT(*) FROM checkpoint_summaries")?.parse::<u32>()?;
            ensure!(rows > 5, "{rows} rows");
            let size =
                ask("SELECT compressed_tokens FROM checkpoint_summaries ORDER BY id DESC LIMIT 1")?;
            ensure!((1..20_000).contains(&size.parse::<u32>()?), "{size} tokens");
            ensure!(
                ask("SELECT SUM(summary_cost_usd) FROM checkpoint_summaries")?.parse::<f64>()?
                    > 0.0,
                "no cost"
            );
            let empty = "SELECT COUNT(*) FROM checkpoint_summaries WHERE summary_cost_usd IS NULL OR created_at IS NULL";
            ensure!(ask(empty)? == "0", "rows without a cost or a time");
            Ok(format!("{rows} rows, the newest of {size} tokens"))
        }),
    },
    SourceClaim {
        section: "risk mitigation 1",
        claim: "key facts are kept as JSON",
        check: Holds(|desk| {
            let path = desk.store("kept.db")?;
            let rows = ask(
                &path,
                "SELECT COUNT(*) FROM checkpoint_summaries WHERE key_facts LIKE '[\"%'",
            )?;
            ensure!(rows.parse::<u32>()? > 0, "no row has any");
            Ok(format!(
                "in {rows} rows; the corrected prompt asks for them"
            ))
        }),
    },
    SourceClaim {
        section: "test cases",
        claim: "sessions are apart from each other",
        check: Holds(|desk| {
            let path = desk.store("kept.db")?;
            let sessions = ask(
                &path,
                "SELECT COUNT(DISTINCT session_id) FROM checkpoint_summaries",
            )?;
            let doubled = "SELECT COUNT(*) FROM (SELECT session_id, checkpoint_num FROM checkpoint_summaries GROUP BY 1, 2 HAVING COUNT(*) > 1)";
            ensure!(
                sessions.parse::<u32>()? >= 2 && ask(&path, doubled)? == "0",
                "{sessions} sessions"
            );
            Ok(format!("{sessions} sessions, each with numbers of its own"))
        }),
    },
    SourceClaim {
        section: "risk mitigation 4",
        claim: "two writers at once corrupt nothing",
        check: Holds(|desk| {
            let out = "at-once";
            desk.run(
                out,
                &[
                    "small.toml",
                    "-s",
                    "threshold-summary,chained,progressive",
                    "--jobs",
                    "3",
                    "--store",
                    "once.db",
                ],
            )?;
            let sound = ask(&desk.folder().join("once.db"), "PRAGMA integrity_check")?;
            ensure!(sound == "ok", "{sound}");
            Ok("three at once, and the database is sound".to_owned())
        }),
    },
    SourceClaim {
        section: "risk mitigation 2",
        claim: "a summarizer that fails leads to truncation",
        check: Holds(|desk| {
            let run = desk.down()?;
            let made = run.applied("threshold-summary");
            let truncate = made
                .iter()
                .filter(|made| !made["fallback"].is_null())
                .count();
            ensure!(
                truncate > 0 && truncate == made.len(),
                "{truncate} of {}",
                made.len()
            );
            Ok(format!("{truncate} of {truncate} compactions truncate"))
        }),
    },
    SourceClaim {
        section: "risk mitigation 3",
        claim: "a session asks at most five times, and truncates from then on",
        check: Holds(|desk| {
            let run = desk.published()?;
            let asked = run.of("threshold-summary").map(|record| {
                let made = list(&record["compactions"]);
                made.filter(|made| list(&made["calls"]).count() > 0).count()
            });
            let most = asked.max().unwrap_or_default();
            ensure!((1..=5).contains(&most), "{most}");
            Ok(format!("{most} at most"))
        }),
    },
    SourceClaim {
        section: "configuration, rollout",
        claim: "a flag switches it off",
        check: Holds(|desk| {
            let run = desk.run(
                "flag",
                &[
                    "small.toml",
                    "-s",
                    "threshold-summary,off=threshold-summary:enabled=false",
                    "--protocol",
                    "matched,published",
                    "--scale",
                    ".18",
                ],
            )?;
            ensure!(
                run.applied("off").is_empty() && !run.applied("threshold-summary").is_empty(),
                "it compacts"
            );
            Ok("no compaction under limits of the run and of the document".to_owned())
        }),
    },
    SourceClaim {
        section: "step 2",
        claim: "a cheap model summarizes, and its price is known",
        check: Holds(|desk| {
            let listed = desk.prints(&["list", "prices", "--json"])?;
            let models = ["claude-haiku-4-5", "gpt-5.6", "gemini-3.1-pro-preview"];
            ensure!(
                models.iter().all(|model| listed.contains(model)),
                "{listed}"
            );
            ensure!(
                listed.contains("above 272000 tokens: input 8"),
                "long prompts have no price of their own"
            );
            Ok("prices of three providers, long prompts with theirs".to_owned())
        }),
    },
    SourceClaim {
        section: "step 4",
        claim: "the threshold is checked whenever a request is built",
        check: Dropped(
            "a session asks when the context has outgrown its trigger, so the published form loses somewhat less than the document would",
        ),
    },
];

/// The first column of the first row that a query of a database gives.
fn ask(path: &Path, sql: &str) -> Result<String> {
    let store = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    Ok(match store.query_row(sql, [], |row| row.get(0))? {
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Real(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        _ => String::new(),
    })
}
