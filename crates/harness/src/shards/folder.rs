//! A plan's folder: `plan.json`, the list of its cases, the suite, and the folders of attempts and
//! parts.

use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use compactometer_disk::input::{self, InputKind, read_text};
use compactometer_disk::{create_folder, is_part, write_whole};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::shards::{Shard, ShardPlan, Shards, VERSION};
use serde::{Deserialize, Serialize};

use super::{ShardError, deal};

const PLAN: &str = "plan.json";
const CASES: &str = "cases.csv";
/// The conversations of a plan.
const SUITE: &str = "suite.jsonl";
const ATTEMPTS: &str = "attempts";
const PARTS: &str = "parts";

/// A plan and its folder.
pub struct PlanFolder {
    pub(super) dir: PathBuf,
    /// The plan.
    pub plan: ShardPlan,
}

/// A case as the list of cases names it.
#[derive(Clone, Copy, Serialize)]
pub struct Named<'c> {
    /// Its key.
    pub key: &'c str,
    /// How its limits are set.
    pub protocol: &'c str,
    /// Its conversation's id.
    pub conversation: &'c str,
    /// Its strategy's name.
    pub strategy: &'c str,
}

#[derive(Serialize)]
struct ShardRow<'c> {
    shard: u32,
    key: &'c str,
    protocol: &'c str,
    conversation: &'c str,
    strategy: &'c str,
}

/// Whether a folder holds no more than what is written before a plan is complete; also one that is
/// empty or missing.
fn is_half(dir: &Path) -> bool {
    let is_empty =
        |path: &Path| std::fs::read_dir(path).is_ok_and(|mut inside| inside.next().is_none());
    let mut files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    files.all(|file| {
        let name = file.file_name();
        match name.to_str() {
            Some(ATTEMPTS | PARTS) => is_empty(&file.path()),
            Some(SUITE | CASES) => true,
            Some(name) => is_part(name),
            None => false,
        }
    })
}

/// What a merge needs of a row.
#[derive(Deserialize)]
pub(super) struct Dealt {
    pub(super) shard: u32,
    pub(super) key: String,
}

impl PlanFolder {
    /// Deals out cases and writes the folder; `plan.json` comes last, so that a folder without it
    /// holds no plan. What was interrupted is written anew, and the same plan again changes nothing.
    ///
    /// # Errors
    /// [`ShardError::Exists`] if the folder holds other files, [`ShardError::Io`].
    pub fn create<'c>(
        dir: &Path,
        shards: Shards,
        cases: impl Iterator<Item = Named<'c>> + Clone,
        manifest: Manifest,
        arguments: serde_json::Value,
        write_suite: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<Self, ShardError> {
        let dealt = deal(
            &cases.clone().map(|case| case.key).collect::<Vec<_>>(),
            shards,
        );
        let mut counts = vec![0; shards.count.get() as usize];
        dealt
            .iter()
            .for_each(|shard| counts[*shard as usize - 1] += 1);
        let mut plan = ShardPlan {
            version: VERSION,
            id: String::new(),
            shards: shards.count.get(),
            rule: shards.rule,
            cases: counts,
            keys_hash: keys_hash(cases.clone().map(|case| case.key)),
            manifest,
            arguments,
        };
        plan.id = plan.identity();
        if dir.join(PLAN).exists() {
            return match PlanFolder::open(dir) {
                Ok(there) if there.plan.id == plan.id => Ok(there),
                _ => Err(ShardError::Exists {
                    path: dir.to_owned(),
                }),
            };
        }
        if dir.is_file() || !is_half(dir) {
            return Err(ShardError::Exists {
                path: dir.to_owned(),
            });
        }
        for folder in [ATTEMPTS, PARTS] {
            let path = dir.join(folder);
            create_folder(&path).map_err(ShardError::io("make the folder", &path))?;
        }
        let written = |name: &str, write: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>| {
            let path = dir.join(name);
            write_whole(&path, |out| write(out)).map_err(ShardError::io("write", &path))
        };
        let mut write_suite = Some(write_suite);
        written(SUITE, &mut |out| {
            write_suite.take().map_or(Ok(()), |write| write(out))
        })?;
        written(CASES, &mut |out| {
            let mut rows = csv::Writer::from_writer(out);
            for (
                Named {
                    key,
                    protocol,
                    conversation,
                    strategy,
                },
                shard,
            ) in cases.clone().zip(&dealt)
            {
                rows.serialize(ShardRow {
                    shard: *shard,
                    key,
                    protocol,
                    conversation,
                    strategy,
                })?;
            }
            rows.flush()
        })?;
        written(PLAN, &mut |out| {
            serde_json::to_writer_pretty(&mut *out, &plan)?;
            out.write_all(b"\n")
        })?;
        Ok(PlanFolder {
            dir: dir.to_owned(),
            plan,
        })
    }

    /// Opens a plan's folder.
    ///
    /// # Errors
    /// [`ShardError`] if it holds no plan, one of another version, or a damaged one.
    pub fn open(dir: &Path) -> Result<Self, ShardError> {
        #[derive(Deserialize)]
        struct OfVersion {
            version: u64,
        }
        let path = dir.join(PLAN);
        if !path.exists() {
            return Err(ShardError::NoPlan {
                dir: dir.to_owned(),
            });
        }
        let damaged = |what: String| ShardError::Damaged {
            path: path.clone(),
            line: 1,
            what,
            remedy: "copy it again from where the plan was made, or make a new plan",
        };
        let text = read_text(&path, InputKind::MANIFEST).map_err(ShardError::io("read", &path))?;
        let of: OfVersion =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if of.version != u64::from(VERSION) {
            return Err(ShardError::Version {
                path,
                found: format!("its format is {}", of.version),
            });
        }
        let plan: ShardPlan =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if plan.identity() != plan.id || plan.cases.len() != plan.shards as usize {
            return Err(damaged(
                "its content does not match its id: it was edited".to_owned(),
            ));
        }
        for folder in [ATTEMPTS, PARTS].map(|name| dir.join(name)) {
            if !folder.is_dir() {
                let gone = std::io::Error::from(std::io::ErrorKind::NotFound);
                return Err(ShardError::io("find the folder", &folder)(gone));
            }
        }
        Ok(PlanFolder {
            dir: dir.to_owned(),
            plan,
        })
    }

    /// The conversations.
    pub fn suite(&self) -> PathBuf {
        self.dir.join(SUITE)
    }

    pub(super) fn attempts(&self) -> PathBuf {
        self.dir.join(ATTEMPTS)
    }

    pub(super) fn part(&self, shard: Shard) -> PathBuf {
        self.dir.join(PARTS).join(shard.file_name())
    }

    /// The number of shards and the rule.
    pub(super) fn shards(&self) -> Shards {
        // A plan has at least one.
        let count = NonZeroU32::new(self.plan.shards).unwrap_or(NonZeroU32::MIN);
        Shards {
            rule: self.plan.rule,
            count,
        }
    }

    /// All shards, in order.
    pub fn all(&self) -> impl Iterator<Item = Shard> + use<> {
        let of = self.plan.shards;
        (1..=of).map(move |number| Shard { number, of })
    }

    /// The keys of all cases with their shards, in the plan's order.
    pub(super) fn dealt(&self) -> Result<Vec<Dealt>, ShardError> {
        let path = self.dir.join(CASES);
        let file = input::open(&path).map_err(ShardError::io("read", &path))?;
        let rows = csv::Reader::from_reader(file)
            .into_deserialize()
            .collect::<Result<Vec<Dealt>, _>>();
        let damaged = |line, what| ShardError::Damaged {
            path: path.clone(),
            line,
            what,
            remedy: "copy it again from where the plan was made, or make a new plan",
        };
        let line = |error: &csv::Error| error.position().map_or(1, |at| at.line() as usize);
        let rows = rows.map_err(|error| damaged(line(&error), error.to_string()))?;
        let keys = rows.iter().map(|row| row.key.as_str());
        let is_planned = keys_hash(keys.clone()) == self.plan.keys_hash
            && deal(&keys.collect::<Vec<_>>(), self.shards())
                .iter()
                .eq(rows.iter().map(|row| &row.shard));
        if is_planned {
            Ok(rows)
        } else {
            Err(damaged(
                1,
                "its replays are not those of `plan.json`".to_owned(),
            ))
        }
    }
}

/// The hash of keys in their order.
pub(super) fn keys_hash<'k>(keys: impl Iterator<Item = &'k str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for key in keys {
        hasher.update(key.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex().to_string()
}
