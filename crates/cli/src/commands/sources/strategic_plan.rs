//! What the strategic plan says beside its numbers.

use anyhow::{Result, ensure};

use super::desk::{SourcesDesk, list};
use super::sourced_row::SourceCheck::{Assumed, Dropped, Holds};
use super::sourced_row::SourceClaim;

pub(super) const CLAIMS: &[SourceClaim] = &[
    SourceClaim {
        section: "part 2, approach A",
        claim: "one answer has a [SUMMARY] and a [CHECKPOINT] in JSON, and both are read",
        check: Holds(|desk| {
            let run = desk.default_run()?;
            let read = run.metric("prompt-checkpoint", "extraction_success")?;
            ensure!(read > 0.95, "{read}");
            Ok(format!("{:.0} % of the checkpoints", 100.0 * read))
        }),
    },
    SourceClaim {
        section: "part 5, unit tests",
        claim: "where the JSON is malformed, the summary is kept without a checkpoint",
        check: Holds(|desk| {
            let saved =
                |desk: &mut SourcesDesk, name: &str, model: &str| -> Result<(usize, usize)> {
                    let run = desk.run(
                        name,
                        &["small.toml", "-s", "prompt-checkpoint", "--model", model],
                    )?;
                    let contexts = run
                        .records
                        .iter()
                        .flat_map(|record| list(&record["contexts"]));
                    let saved = contexts.flat_map(|context| list(&context["saved"]));
                    let checkpoints = saved.filter(|row| row["kind"] == "checkpoint").count();
                    Ok((run.applied("prompt-checkpoint").len(), checkpoints))
                };
            let (_, read) = saved(desk, "parsed", "mock")?;
            let (summaries, unread) = saved(desk, "malformed", "mock+broken-json=1")?;
            ensure!(
                read > 0 && summaries > 0 && unread == 0,
                "{read}, {summaries}, {unread}"
            );
            Ok(format!(
                "{summaries} summaries, no checkpoint; {read} checkpoints where it is not"
            ))
        }),
    },
    SourceClaim {
        section: "part 5, manual testing",
        claim: "a checkpoint is extracted at 80 % of the trigger, before the compaction",
        check: Holds(|desk| {
            let run = desk.run("early", &["small.toml", "-s", "middleware-checkpoint"])?;
            let due = run
                .of("middleware-checkpoint")
                .flat_map(|record| list(&record["checkpoints"]));
            let sizes = due
                .filter_map(|one| one["tokens"].as_f64())
                .collect::<Vec<_>>();
            let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
            // The suite's trigger is 4,800 tokens.
            ensure!((3_840.0..4_800.0).contains(&least), "the first at {least}");
            Ok(format!(
                "{} checkpoints, from {least} of 4,800 tokens on",
                sizes.len()
            ))
        }),
    },
    SourceClaim {
        section: "part 3",
        claim: "a compaction shows the checkpoint as a section of the system prompt",
        check: Holds(|desk| {
            let run = desk.default_run()?;
            let shown = run
                .texts
                .values()
                .filter(|text| text.contains("Active Context Checkpoint"))
                .count();
            ensure!(shown > 0, "no context has the section");
            Ok(format!("{shown} sections"))
        }),
    },
    SourceClaim {
        section: "part 3",
        claim: "a checkpoint is shown again when the user was away",
        check: Holds(|desk| {
            let rows = "middleware-checkpoint,never=middleware-checkpoint:absence=0";
            let run = desk.compare("absence", &["absence.toml", "-s", rows, "--sample", "4"])?;
            let (shown, never) = (
                run.metric("middleware-checkpoint", "recoveries_shown")?,
                run.metric("never", "recoveries_shown")?,
            );
            ensure!(shown > 0.0 && never == 0.0, "{shown} and {never}");
            Ok(format!("{shown:.1} times a conversation"))
        }),
    },
    SourceClaim {
        section: "part 3",
        claim: "a thread has a folder with checkpoint files, latest.json and an index",
        check: Holds(|desk| {
            let folder = desk.store("kept")?;
            let mut names = Vec::new();
            for thread in std::fs::read_dir(folder)? {
                if let Ok(files) = std::fs::read_dir(thread?.path().join("checkpoints")) {
                    names
                        .extend(files.filter_map(|file| file.ok()?.file_name().into_string().ok()));
                }
            }
            let has = |name: &str| names.iter().any(|file| file == name);
            ensure!(has("latest.json") && has(".checkpoint_index"), "{names:?}");
            let dated = names
                .iter()
                .filter(|name| name.starts_with("checkpoint_") && name.ends_with(".json"))
                .count();
            ensure!(dated > 0, "{names:?}");
            Ok(format!("{dated} checkpoint files"))
        }),
    },
    SourceClaim {
        section: "part 7",
        claim: "threads are apart, and their ids are checked",
        check: Holds(|desk| {
            desk.store("kept")?;
            let (code, told) = desk.fails(&[
                "checkpoint",
                "show",
                "--store",
                "kept",
                "--thread",
                "../kept",
            ])?;
            ensure!(
                code != Some(0) && told.contains("walks through folders"),
                "{told}"
            );
            Ok(format!(
                "`../kept` is refused with exit code {}",
                code.unwrap_or(-1)
            ))
        }),
    },
    SourceClaim {
        section: "part 9",
        claim: "a fast model extracts checkpoints",
        check: Holds(|desk| {
            let arguments = [
                "-s",
                "middleware-checkpoint",
                "--sample",
                "2",
                "--checkpointer",
                "mock:weak",
            ];
            let run = desk.compare("checkpointer", &arguments)?;
            ensure!(
                run.records
                    .iter()
                    .all(|record| record["case"]["checkpointer"] == "mock:weak"),
                "another wrote them"
            );
            let cost = run.metric("middleware-checkpoint", "cost_usd_checkpoint")?;
            ensure!(cost > 0.0, "they cost nothing");
            Ok(format!("${cost:.3} a conversation"))
        }),
    },
    SourceClaim {
        section: "part 7",
        claim: "asynchronous extraction lowers the latency",
        check: Holds(|desk| {
            let rows = "middleware-checkpoint,beside=middleware-checkpoint:background=on";
            let run = desk.compare("background", &["-s", rows, "--sample", "4"])?;
            let metric = |metric: &str| {
                Ok::<_, anyhow::Error>((
                    run.metric("middleware-checkpoint", metric)?,
                    run.metric("beside", metric)?,
                ))
            };
            let (waited, beside) = metric("wait_ms_total")?;
            let (paid, paid_beside) = metric("cost_usd_checkpoint")?;
            ensure!(beside < 0.75 * waited, "{waited:.0} and {beside:.0} ms");
            ensure!(
                paid_beside > 0.5 * paid,
                "it writes fewer: ${paid_beside:.3}"
            );
            Ok(format!(
                "{:.1} s a conversation are waited instead of {:.1}",
                beside / 1e3,
                waited / 1e3
            ))
        }),
    },
    SourceClaim {
        section: "part 8",
        claim: "a hybrid extracts with the summary and before the trigger",
        check: Holds(|desk| {
            let run = desk.default_run()?;
            let written = |row: &str| run.metric(row, "checkpoints_written");
            let (both, before) = (
                written("hybrid-checkpoint")?,
                written("middleware-checkpoint")?,
            );
            ensure!(both > before && before > 0.0, "{both} and {before}");
            Ok(format!(
                "{both:.1} checkpoints a conversation, {before:.1} before the trigger only"
            ))
        }),
    },
    SourceClaim {
        section: "the eight strategies",
        claim: "no compaction leaves more than its budget",
        check: Holds(|desk| {
            let run = desk.default_run()?;
            let all = run
                .records
                .iter()
                .flat_map(|record| list(&record["compactions"]));
            let over = all
                .map(|made| made["over_budget"] == true)
                .collect::<Vec<_>>();
            let (all, over) = (over.len(), over.into_iter().filter(|over| *over).count());
            ensure!(over == 0, "{over} do");
            Ok(format!("{all} compactions"))
        }),
    },
    SourceClaim {
        section: "part 3",
        claim: "how long an absence is, and when an agent appears lost",
        check: Assumed(
            "eight hours, `absence=HOURS`; an agent appears lost by a rule over English words",
        ),
    },
    SourceClaim {
        section: "part 2, approach B",
        claim: "its code runs as printed",
        check: Dropped("it does not; the published form follows the nearest reading that does"),
    },
    SourceClaim {
        section: "part 2",
        claim: "a flag enables each part",
        check: Dropped(
            "a host calls `Session::compact` or not, and the control `full` is the run without compaction",
        ),
    },
    SourceClaim {
        section: "part 9",
        claim: "users say whether it remembered correctly",
        check: Dropped(
            "it needs a user; `answered_given_checkpointed` measures what is recalled, and a host can ask with `recovery::check`",
        ),
    },
    SourceClaim {
        section: "part 8",
        claim: "embeddings match a checkpoint to the query",
        check: Dropped("a host brings its own model; without one words are compared"),
    },
    SourceClaim {
        section: "part 8",
        claim: "checkpoints are shared across threads",
        check: Dropped("part 9 recommends against it by default; a host opts in"),
    },
    SourceClaim {
        section: "part 3",
        claim: "a checkpoint is shown to an agent that appears lost in a replay",
        check: Dropped(
            "recorded turns do not react to what was lost, so nobody is helped; a session of a host does it",
        ),
    },
];
