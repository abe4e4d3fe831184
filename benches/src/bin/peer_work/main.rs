//! Our side of `studies/peers`: the same work as a peer on the same input, and the inputs that both
//! read.
//!
//! ```text
//! peer-work suite CONVERSATIONS TURNS              plain conversations, as a suite, on stdout
//! peer-work texts KIND BYTES                       text of a kind, or of all that are `hard` to count, on stdout
//! peer-work hook SUITE MESSAGES TRIGGER            the decision before each message of the first conversation
//! peer-work cases SUITE STRATEGIES ROUNDS MODEL    rounds of compaction with every fact looked for after each
//! peer-work count ENCODING FILE                    exact tokens of each chunk of a text
//! ```
//!
//! The last three print one JSON object. Absent on purpose: peers, ratios and verdicts, which
//! belong to the scripts.

mod cases;
mod count;
mod hook;

use std::error::Error;
use std::io::{BufWriter, Write, stdout};

use compactometer_benches::conversations::{dialogue, suite};
use compactometer_benches::texts::{Kind, hard};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    #[expect(
        clippy::disallowed_methods,
        reason = "a tool of this repository with trusted inputs"
    )]
    let mut out = BufWriter::new(stdout().lock());
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["suite", conversations, turns] => {
            let turns = turns.parse()?;
            suite(0..conversations.parse()?, |seed| dialogue(seed, turns)).write(&mut out)?;
        }
        ["texts", kind, bytes] => {
            out.write_all(text(kind, bytes.parse()?)?.as_bytes())?;
        }
        ["hook", path, messages, trigger] => {
            writeln!(
                out,
                "{}",
                hook::measure(path.as_ref(), messages.parse()?, trigger.parse()?)?
            )?;
        }
        ["cases", path, strategies, rounds, model] => {
            writeln!(
                out,
                "{}",
                cases::run(path.as_ref(), strategies, rounds.parse()?, model)?
            )?;
        }
        ["count", encoding, path] => writeln!(out, "{}", count::measure(encoding, path.as_ref())?)?,
        _ => {
            return Err(
                "expected `suite`, `texts`, `hook`, `cases` or `count`; see the head of peer_work"
                    .into(),
            );
        }
    }
    Ok(())
}

/// Text of about `bytes` bytes.
fn text(kind: &str, bytes: usize) -> Result<String, String> {
    if kind == "hard" {
        let kinds = hard(0).len();
        return Ok(hard(bytes / kinds)
            .into_iter()
            .map(|(_, text)| text)
            .collect());
    }
    let kind = Kind::by_name(kind).ok_or_else(|| format!("unknown kind of text `{kind}`"))?;
    Ok(kind.text(7, bytes))
}
