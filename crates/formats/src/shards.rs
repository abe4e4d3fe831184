//! A run in parts: `plan.json`, and the lines of attempts and parts in a plan's folder.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, Value};

use crate::manifest::Manifest;
use crate::record::{Record, TextRow, text_hash};
use crate::timings::CaseTimings;

/// The version of plans, attempts and parts. Another version's cannot be read: a plan is carried
/// out by the program that made it.
pub const VERSION: u32 = 1;

/// Which cases a shard has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShardRule {
    /// A hash of the case decides: a case has the same shard in every plan with as many shards.
    #[default]
    Hash,
    /// Cases are dealt out in turn, in the order of their hashes: the sizes of shards differ by at
    /// most one.
    Slice,
}

/// The number of shards and the rule: `N`, `hash:N` or `slice:N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shards {
    /// How cases are dealt out.
    pub rule: ShardRule,
    /// How many shards there are.
    pub count: NonZeroU32,
}

/// The most shards of a plan. Engines limit job arrays, and each shard costs a process start.
pub const MOST_SHARDS: u32 = 100_000;

impl FromStr for Shards {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (rule, count) = match text.split_once(':') {
            Some(("hash", count)) => (ShardRule::Hash, count),
            Some(("slice", count)) => (ShardRule::Slice, count),
            Some(_) => return Err("expected `N`, `hash:N` or `slice:N`".to_owned()),
            None => (ShardRule::Hash, text),
        };
        let count = count
            .parse::<NonZeroU32>()
            .ok()
            .filter(|count| count.get() <= MOST_SHARDS);
        let count =
            count.ok_or_else(|| format!("expected a number of shards from 1 to {MOST_SHARDS}"))?;
        Ok(Shards { rule, count })
    }
}

/// One of a plan's shards, from 1: `3/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// Its number, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text
            .split_once('/')
            .and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            _ => Err("expected a shard and the number of shards, from `1/N` to `N/N`".to_owned()),
        }
    }
}

/// As users type it.
impl fmt::Display for Shard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// Its name in file names: `3-of-24`.
    pub fn file_name(&self) -> String {
        format!("{}-of-{}", self.number, self.of)
    }
}

/// `plan.json`: cases that several processes run, and how they are dealt out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardPlan {
    /// Always [`VERSION`].
    pub version: u32,
    /// A hash of everything below except the arguments, which the keys depend on. Attempts and
    /// parts carry it.
    pub id: String,
    /// The number of shards.
    pub shards: u32,
    /// How cases are dealt out.
    pub rule: ShardRule,
    /// Cases of each shard, in order of the shards.
    pub cases: Vec<u32>,
    /// blake3 of all case keys in the plan's order.
    pub keys_hash: String,
    /// The manifest that the merged run will have.
    pub manifest: Manifest,
    /// What the run was asked for, in the form of the program that made the plan.
    pub arguments: Value,
}

impl ShardPlan {
    /// What its identity is computed from.
    pub fn identity(&self) -> String {
        let manifest = Manifest {
            command: Vec::new(),
            ..self.manifest.clone()
        };
        let identity = serde_json::json!([
            self.version,
            self.shards,
            self.rule,
            self.cases,
            self.keys_hash,
            manifest
        ]);
        text_hash(&identity.to_string())
    }
}

/// A line of an attempt or a part, without its checksum.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShardLine {
    /// The first line of both.
    Begin(Begin),
    /// A finished case.
    Case(CaseLine),
    /// The last line of an attempt that ended by itself, and of a part.
    End(End),
}

/// Whose lines follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// [`VERSION`] of the program that wrote it.
    pub version: u32,
    /// [`ShardPlan::id`].
    pub plan: String,
    /// The shard.
    pub shard: Shard,
    /// Threads of an attempt: the most calls that can be in flight.
    pub jobs: u32,
}

/// A finished case with everything that a run's folder holds of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct CaseLine {
    /// Its key.
    pub key: String,
    /// Its line of `records.jsonl`.
    pub record: Box<RawValue>,
    /// All texts that it names, as lines of `texts.jsonl`, in their order there.
    pub texts: Vec<Box<RawValue>>,
    /// Measured times.
    pub timings: CaseTimings,
}

/// How many cases precede it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Cases in the file.
    pub cases: u32,
}

/// The hash of a line of texts, without its text.
#[derive(Deserialize)]
pub struct TextName<'l> {
    /// The text's hash.
    #[serde(borrow)]
    pub hash: Cow<'l, str>,
}

impl CaseLine {
    /// The line of a finished case; `texts` in the order of their hashes.
    ///
    /// # Errors
    /// If a number in it has no JSON form.
    pub fn new<'t>(
        record: &Record,
        texts: impl Iterator<Item = (&'t String, &'t String)>,
        timings: CaseTimings,
    ) -> serde_json::Result<Self> {
        let row = |(hash, text): (&String, &String)| {
            let row = TextRow {
                hash: hash.clone(),
                text: text.clone(),
            };
            serde_json::value::to_raw_value(&row)
        };
        Ok(CaseLine {
            key: record.key.clone(),
            record: RawValue::from_string(record.to_line()?)?,
            texts: texts.map(row).collect::<Result<_, _>>()?,
            timings,
        })
    }
}

#[derive(Deserialize)]
struct Checked<'l> {
    checksum: Cow<'l, str>,
    #[serde(borrow)]
    line: &'l RawValue,
}

impl ShardLine {
    /// The line with a checksum of its bytes and its end.
    ///
    /// # Errors
    /// If a number in it has no JSON form.
    pub fn to_line(&self) -> serde_json::Result<String> {
        let json = serde_json::to_string(self)?;
        Ok(format!(
            "{{\"checksum\":\"{}\",\"line\":{json}}}\n",
            text_hash(&json)
        ))
    }

    /// Reads a line that [`ShardLine::to_line`] wrote.
    ///
    /// # Errors
    /// What is wrong, if the line is torn or edited.
    pub fn parse(line: &str) -> Result<Self, String> {
        let malformed = |error: serde_json::Error| format!("expected a line of a shard: {error}");
        let checked: Checked<'_> = serde_json::from_str(line).map_err(malformed)?;
        if text_hash(checked.line.get()) != checked.checksum {
            return Err("the checksum does not match: the line was edited or damaged".to_owned());
        }
        serde_json::from_str(checked.line.get()).map_err(malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_read_as_people_write_them() {
        let shards = |text: &str| {
            text.parse::<Shards>()
                .ok()
                .map(|shards| (shards.rule, shards.count.get()))
        };
        assert_eq!(shards("24"), Some((ShardRule::Hash, 24)));
        assert_eq!(shards("hash:24"), Some((ShardRule::Hash, 24)));
        assert_eq!(shards("slice:3"), Some((ShardRule::Slice, 3)));
        for text in ["0", "", "slice:", "sliced:3", "-1", "100001", "3/24"] {
            assert_eq!(shards(text), None, "{text}");
        }
        assert_eq!(
            "3/24".parse::<Shard>().map(|shard| shard.file_name()),
            Ok("3-of-24".to_owned())
        );
        for text in ["0/24", "25/24", "3", "3/", "/3", "3/24/1"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_edited_line_is_noticed() {
        let line = ShardLine::End(End { cases: 12 })
            .to_line()
            .expect("it has a JSON form");
        assert!(matches!(
            ShardLine::parse(line.trim_end()),
            Ok(ShardLine::End(End { cases: 12 }))
        ));
        let edited = line.replace("12", "13");
        assert!(ShardLine::parse(edited.trim_end()).is_err_and(|error| error.contains("checksum")));
    }
}
