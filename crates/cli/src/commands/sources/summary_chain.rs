//! What the summary chain says beside its numbers.

use anyhow::ensure;

use super::desk::{least, list};
use super::sourced_row::SourceCheck::{Dropped, Holds};
use super::sourced_row::SourceClaim;

pub(super) const CLAIMS: &[SourceClaim] = &[
    SourceClaim {
        section: "constants",
        claim: "a compaction starts at 93,600 of 128,000 tokens",
        check: Holds(|desk| {
            let rows =
                "chained,quarter=chained:estimator=characters,careful=chained:estimator=classes";
            let long = [
                "long.toml",
                "-s",
                rows,
                "--protocol",
                "published",
                "--sample",
                "4",
            ];
            let run = desk.compare("estimators", &long)?;
            let first = |row: &str| least(&run.applied(row), "tokens_before");
            let (exact, quarter, careful) =
                (first("chained")?, first("quarter")?, first("careful")?);
            ensure!((92_600..97_000).contains(&exact), "{exact}");
            ensure!(
                quarter > exact && careful < exact,
                "{quarter} and {careful}"
            );
            Ok(format!(
                "counted exactly at {exact} tokens beside the definitions of tools; by the document's quarter of the characters at {quarter}, \
                 by an estimate that is never too low at {careful}"
            ))
        }),
    },
    SourceClaim {
        section: "message selection",
        claim: "a call is never parted from its result",
        check: Holds(|desk| {
            let run = desk.default_run()?;
            let valid = run.metric("chained", "request_validity")?;
            ensure!(valid > 0.999, "{valid}");
            Ok(format!("{:.1} % of the requests are valid", 100.0 * valid))
        }),
    },
    SourceClaim {
        section: "summary structure",
        claim: "the summary has the document's sections and the number of its round",
        check: Holds(|desk| {
            let run = desk.rounds()?;
            let of_round = |round: usize| {
                let heading = format!("Session Summary (Compaction Round {round})");
                run.inserted("chained").any(|text| text.contains(&heading))
            };
            ensure!(
                (1..=100).all(of_round),
                "a round has no summary with its number"
            );
            Ok("rounds 1 to 100".to_owned())
        }),
    },
    SourceClaim {
        section: "chaining rules",
        claim: "each summary takes in the one before it, and only one is shown",
        check: Holds(|desk| {
            let run = desk.rounds()?;
            let made = run.applied("chained");
            let one = made
                .iter()
                .filter(|made| list(&made["inserted"]).count() == 1)
                .count();
            ensure!(one == made.len(), "{one} of {}", made.len());
            Ok(format!(
                "one summary after {one} of {} compactions",
                made.len()
            ))
        }),
    },
    SourceClaim {
        section: "edge cases",
        claim: "a huge tool result is cut before it is summarized",
        check: Holds(|desk| {
            let rows = "chained,whole=chained:result_limit=100000:message_limit=100000";
            let run = desk.run("huge", &["small.toml", "-s", rows])?;
            let read = |row: &str| {
                let calls = run
                    .applied(row)
                    .into_iter()
                    .flat_map(|made| list(&made["calls"]));
                calls
                    .filter_map(|call| call["usage"]["input"].as_u64())
                    .sum::<u64>()
            };
            let (cut, whole) = (read("chained"), read("whole"));
            ensure!(cut < whole, "{cut} of {whole}");
            Ok(format!("{cut} tokens read in place of {whole}"))
        }),
    },
    SourceClaim {
        section: "edge cases",
        claim: "where all messages are recent, nothing changes",
        check: Holds(|desk| {
            let rows = "chained,all=chained:tail=10000";
            let run = desk.run(
                "recent",
                &[
                    "small.toml",
                    "-s",
                    rows,
                    "--protocol",
                    "published",
                    "--scale",
                    ".18",
                ],
            )?;
            ensure!(
                run.applied("all").is_empty() && !run.applied("chained").is_empty(),
                "it compacts"
            );
            Ok("no compaction with a tail of 10,000 messages".to_owned())
        }),
    },
    SourceClaim {
        section: "edge cases",
        claim: "where the summarizer fails, the messages stay as they were",
        check: Holds(|desk| {
            let run = desk.down()?;
            let tried = run
                .of("chained")
                .flat_map(|record| list(&record["compactions"]))
                .count();
            ensure!(
                tried > 0 && run.applied("chained").is_empty(),
                "a context changed"
            );
            Ok(format!("after {tried} of {tried} tries"))
        }),
    },
    SourceClaim {
        section: "edge cases",
        claim: "an empty or short conversation is left as it is",
        check: Holds(|desk| {
            let run = desk.run(
                "little",
                &["small.toml", "-s", "chained", "--protocol", "published"],
            )?;
            ensure!(run.applied("chained").is_empty(), "it compacts");
            Ok("no compaction of a conversation of 80,000 tokens".to_owned())
        }),
    },
    SourceClaim {
        section: "performance",
        claim: "one call a compaction",
        check: Holds(|desk| {
            let run = desk.default_run()?;
            let made = run.applied("chained");
            let one = made
                .iter()
                .filter(|made| list(&made["calls"]).count() == 1)
                .count();
            ensure!(10 * one >= 9 * made.len(), "{one} of {}", made.len());
            Ok(format!("for {one} of {} compactions", made.len()))
        }),
    },
    SourceClaim {
        section: "performance",
        claim: "writes are batched by the strategy",
        check: Dropped("the store takes records and context in one commit"),
    },
];
