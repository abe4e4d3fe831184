//! What the agent loop says beside its numbers.

use anyhow::{Context, ensure};
use serde_json::Value;

use super::desk::{least, list};
use super::sourced_row::SourceCheck::{Assumed, Dropped, Holds};
use super::sourced_row::SourceClaim;

pub(super) const CLAIMS: &[SourceClaim] = &[
    SourceClaim {
        section: "section 2",
        claim: "200,000 reported tokens start a compaction",
        check: Holds(|desk| {
            let run = desk.published()?;
            let least = least(&run.applied("handoff"), "tokens_before")?;
            ensure!((195_000..210_000).contains(&least), "{least}");
            Ok(format!("first at {least} of our own count"))
        }),
    },
    SourceClaim {
        section: "section 2",
        claim: "a threshold of 0 switches it off",
        check: Holds(|desk| {
            let run = desk.run(
                "zero",
                &[
                    "small.toml",
                    "-s",
                    "handoff,off=handoff:threshold=0",
                    "--protocol",
                    "matched,published",
                    "--scale",
                    ".18",
                ],
            )?;
            ensure!(
                run.applied("off").is_empty() && !run.applied("handoff").is_empty(),
                "it compacts"
            );
            Ok("no compaction under limits of the run and of the document".to_owned())
        }),
    },
    SourceClaim {
        section: "section 3",
        claim: "the context becomes the system prompt and one message with summary and last request",
        check: Holds(|desk| {
            let run = desk.default_run()?;
            let made = run.applied("handoff");
            let one = made
                .iter()
                .filter(|made| list(&made["inserted"]).count() == 1)
                .count();
            ensure!(one == made.len() && one > 0, "{one} of {}", made.len());
            let present = run.metric("handoff", "live_request_present")?;
            ensure!(present > 0.99, "the last request is there after {present}");
            Ok(format!("after {one} of {} compactions", made.len()))
        }),
    },
    SourceClaim {
        section: "section 3",
        claim: "one call writes the summary",
        check: Holds(|desk| {
            let run = desk.default_run()?;
            let made = run.applied("handoff");
            let one = made
                .iter()
                .filter(|made| list(&made["calls"]).count() == 1)
                .count();
            ensure!(20 * one >= 19 * made.len(), "{one} of {}", made.len());
            Ok(format!("for {one} of {} compactions", made.len()))
        }),
    },
    SourceClaim {
        section: "section 4",
        claim: "the prompt has seven sections",
        check: Holds(|desk| {
            for name in ["handoff", "handoff-faithful"] {
                let prompt = desk.prints(&["prompt", name])?;
                let missing = (1..=7).find(|number| !prompt.contains(&format!("{number}. ")));
                ensure!(missing.is_none(), "`{name}` has no section {missing:?}");
            }
            Ok("in both forms".to_owned())
        }),
    },
    SourceClaim {
        section: "section 6",
        claim: "every call has a result, and requests are valid",
        check: Holds(|desk| {
            let run = desk.default_run()?;
            let valid = run.metric("handoff", "request_validity")?;
            ensure!(valid > 0.999, "{valid}");
            Ok(format!("{:.1} % of the requests", 100.0 * valid))
        }),
    },
    SourceClaim {
        section: "section 8",
        claim: "fragments of memory are found by a search, and a memory document is kept",
        check: Holds(|desk| {
            desk.run(
                "kept-notes",
                &["-s", "handoff", "--sample", "1", "--store", "notes.db"],
            )?;
            std::fs::write(desk.folder().join("MEMORY.md"), "- call Ada\n")?;
            desk.prints(&[
                "checkpoint",
                "memory",
                "--set",
                "MEMORY.md",
                "--store",
                "notes.db",
            ])?;
            let kept = desk.prints(&["checkpoint", "memory", "--store", "notes.db"])?;
            ensure!(kept == "- call Ada\n", "{kept}");
            let found = desk.prints(&[
                "checkpoint",
                "search",
                "the rows of the mirror",
                "--store",
                "notes.db",
                "--json",
            ])?;
            let found =
                serde_json::from_str::<Value>(&found).context("the search prints no JSON")?;
            let notes = list(&found["notes"]).count();
            ensure!(notes > 0, "nothing is found");
            Ok(format!("{notes} notes found"))
        }),
    },
    SourceClaim {
        section: "section 8",
        claim: "what memory holds survives compaction",
        check: Holds(|desk| {
            let run = desk.compare(
                "memory",
                &["memory.toml", "-s", "handoff,summarize", "--sample", "6"],
            )?;
            let document = run.metric("handoff", "memory_document_recall")?;
            let (notes, without) = (
                run.metric("handoff", "memory_note_recall")?,
                run.metric("summarize", "memory_note_recall")?,
            );
            ensure!(
                document > 0.99 && notes > 0.8 && without < 0.01,
                "{document}, {notes}, {without}"
            );
            Ok(format!(
                "the document in every request, {:.0} % of the notes where they are searched",
                100.0 * notes
            ))
        }),
    },
    SourceClaim {
        section: "section 8",
        claim: "how the search ranks fragments",
        check: Assumed("by BM25 over the words of the session's notes"),
    },
    SourceClaim {
        section: "section 6",
        claim: "the agent answers \"Understood.\" after tool results at the end",
        check: Dropped(
            "only what the summarizer reads has it, since the agent's own turn follows anyway",
        ),
    },
];
