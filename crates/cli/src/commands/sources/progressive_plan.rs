//! What the progressive plan says beside its numbers.

use anyhow::{Result, anyhow, ensure};
use serde_json::Value;

use super::desk::{SourcesDesk, least, list};
use super::sourced_row::SourceCheck::{Assumed, Dropped, Holds, Misses};
use super::sourced_row::SourceClaim;

pub(super) const CLAIMS: &[SourceClaim] = &[
    SourceClaim {
        section: "additive checkpoints",
        claim: "each compaction adds a summary, and at most ten stay after a hundred",
        check: Holds(|desk| {
            let run = desk.rounds()?;
            let made = run.applied("progressive");
            ensure!(made.len() > 100, "{} compactions", made.len());
            let totals = made
                .iter()
                .map(|made| made["journey"]["total"].as_u64())
                .collect::<Vec<_>>();
            ensure!(
                totals.iter().all(|total| *total <= Some(10)) && totals.contains(&Some(10)),
                "{totals:?}"
            );
            Ok(format!("{} compactions, 10 summaries at most", made.len()))
        }),
    },
    SourceClaim {
        section: "compression levels",
        claim: "a summary is detailed for 4 compactions, moderate from the fifth, compact from the tenth",
        check: Holds(|desk| {
            let run = desk.rounds()?;
            for made in run.applied("progressive") {
                let summaries = list(&made["journey"]["summaries"]).collect::<Vec<_>>();
                for (age, summary) in summaries.iter().rev().enumerate() {
                    let is_merged = list(&summary["members"]).count() > 1;
                    let level = if is_merged || age >= 10 {
                        "compact"
                    } else if age >= 5 {
                        "moderate"
                    } else {
                        "detailed"
                    };
                    ensure!(summary["level"] == level, "age {age}: {summary}");
                }
            }
            Ok("in every context".to_owned())
        }),
    },
    SourceClaim {
        section: "compression levels",
        claim: "a detailed summary has some 500 to 1,000 tokens",
        check: Holds(|desk| {
            let detailed = median(desk, "detailed")?;
            ensure!((500..=1_000).contains(&detailed), "{detailed}");
            Ok(format!("{detailed} in the median at the document's limits"))
        }),
    },
    SourceClaim {
        section: "compression levels",
        claim: "a moderate summary has some 200 to 400 tokens",
        check: Misses(
            |desk| {
                Ok(format!(
                    "{} in the median at the document's limits",
                    median(desk, "moderate")?
                ))
            },
            "the first five sentences and the decisions that a simulated model writes are shorter; a size is a bound, and nothing is made up to fill it",
        ),
    },
    SourceClaim {
        section: "compression levels",
        claim: "a compact summary has some 50 to 100 tokens",
        check: Dropped(
            "of ten summaries none is ten compactions old, so that only merged ones are compact; these share the size of a moderate one",
        ),
    },
    SourceClaim {
        section: "compression levels",
        claim: "ages decide what a context shows",
        check: Holds(|desk| {
            let rows = "progressive,flat=progressive:moderate_age=1000:compact_age=1000";
            let run = desk.run(
                "ages",
                &["agentic", "-s", rows, "--window", "32000", "--sample", "4"],
            )?;
            let views = |name: &str| run.of(name).map(contexts).collect::<Vec<_>>();
            let (aged, flat) = (views("progressive"), views("flat"));
            let differ = aged
                .iter()
                .zip(&flat)
                .filter(|(one, other)| one != other)
                .count();
            ensure!(differ == aged.len(), "{differ} of {}", aged.len());
            Ok(format!(
                "without them {differ} of {} conversations differ",
                aged.len()
            ))
        }),
    },
    SourceClaim {
        section: "compression flow",
        claim: "beyond ten summaries the oldest are merged, and what is merged is named",
        check: Holds(|desk| {
            let run = desk.rounds()?;
            let merged = run
                .inserted("progressive")
                .filter(|text| text.contains("Earlier parts:"));
            let lines = merged
                .map(|text| text.matches("\n- ").count())
                .collect::<Vec<_>>();
            let many = lines.iter().filter(|lines| **lines > 1).count();
            ensure!(
                10 * many > 9 * lines.len() && !lines.is_empty(),
                "{many} of {} name more than one",
                lines.len()
            );
            Ok(format!(
                "{many} of {} merged summaries name several parts",
                lines.len()
            ))
        }),
    },
    SourceClaim {
        section: "compression flow",
        claim: "compaction starts at 80 % of the window, 25,600 of 32,000 tokens",
        check: Holds(|desk| {
            let run = desk.published()?;
            let least = least(&run.applied("progressive"), "tokens_before")?;
            ensure!((25_000..28_000).contains(&least), "{least}");
            Ok(format!(
                "first at {least} tokens beside the definitions of tools"
            ))
        }),
    },
    SourceClaim {
        section: "data structures, monitoring",
        claim: "levels, merges and what is left out are told, and drawn on a timeline",
        check: Holds(|desk| {
            let explain = ["explain", "rounds.toml", "-s", "progressive"];
            let told = desk.prints(&explain)?;
            for part in ["detailed -> moderate", "merged", "no longer shown"] {
                ensure!(told.contains(part), "no line has `{part}`");
            }
            desk.prints(&[&explain[..], &["--html", "levels.html"]].concat())?;
            let page = std::fs::read_to_string(desk.folder().join("levels.html"))?;
            ensure!(page.contains("a summary, detailed"), "no timeline");
            Ok("in every round".to_owned())
        }),
    },
    SourceClaim {
        section: "phase 2",
        claim: "task definition and architecture decisions are never compressed",
        check: Holds(|desk| {
            let run = desk.rounds()?;
            let mut seen = 0;
            for record in run.of("progressive") {
                let saved = list(&record["contexts"]).flat_map(|context| list(&context["saved"]));
                let pins = saved
                    .filter(|row| row["kind"] == "pinned")
                    .filter_map(|row| run.texts.get(row["text"].as_str()?));
                let pins = pins
                    .map(|text| serde_json::from_str::<Value>(text))
                    .collect::<Result<Vec<_>, _>>()?;
                let lists = pins
                    .iter()
                    .map(|pins| list(&pins["architecture_decisions"]).collect::<Vec<_>>());
                let lists = lists.collect::<Vec<_>>();
                ensure!(
                    lists.windows(2).all(|pair| pair[1].starts_with(&pair[0])),
                    "a decision changed"
                );
                seen += lists.last().map_or(0, Vec::len);
            }
            ensure!(seen > 1, "no decision in the run");
            Ok(format!("{seen} decisions, word for word to the end"))
        }),
    },
    SourceClaim {
        section: "phase 3",
        claim: "related checkpoints are merged by meaning",
        check: Holds(|desk| {
            let rows = "progressive,alike=progressive:merge=similar";
            let run = desk.run("alike", &["rounds.toml", "-s", rows, "--sample", "1"])?;
            let view = |name: &str| run.of(name).map(contexts).collect::<Vec<_>>();
            ensure!(
                view("progressive") != view("alike"),
                "the contexts are the same"
            );
            Ok("by words; a host may bring an embedding model".to_owned())
        }),
    },
    SourceClaim {
        section: "compression timeline",
        claim: "a moderate summary keeps its decisions and first lines, and neither files nor next steps",
        check: Assumed(
            "a line of prose is a sentence; a comment of the document keeps files and steps, its table does not, and the record has both at every level",
        ),
    },
    SourceClaim {
        section: "compression flow",
        claim: "how summaries are merged",
        check: Assumed(
            "the document does not say: a sentence of each, together in the size of a moderate summary",
        ),
    },
    SourceClaim {
        section: "token budget example",
        claim: "all summaries are shown at the sizes of their ages",
        check: Dropped(
            "ten of them would take 5,500 tokens where 3,000 are planned, so all shrink in the proportion of their levels; `unbounded=faithful` shows them whole",
        ),
    },
    SourceClaim {
        section: "compression flow",
        claim: "a snapshot is taken for recovery",
        check: Dropped(
            "a strategy only proposes changes, and a context changes after they were checked; a failure changes nothing",
        ),
    },
];

/// The tokens of a summary at that level under the document's limits, in the median.
fn median(desk: &mut SourcesDesk, level: &str) -> Result<u64> {
    let run = desk.published()?;
    let made = run.applied("progressive");
    let all = made
        .iter()
        .flat_map(|made| list(&made["journey"]["summaries"]));
    let single = all.filter(|one| one["level"] == level && list(&one["members"]).count() == 1);
    let mut sizes = single
        .filter_map(|one| one["tokens"].as_u64())
        .collect::<Vec<_>>();
    sizes.sort_unstable();
    let middle = sizes.get(sizes.len() / 2).copied();
    middle.ok_or_else(|| anyhow!("no summary is {level}"))
}

/// What each compaction put into the context.
fn contexts(record: &Value) -> Vec<Value> {
    list(&record["compactions"])
        .map(|made| made["inserted"].clone())
        .collect()
}
