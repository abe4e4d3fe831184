//! Merging parts into the folder that one process would have written.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write};
use std::path::{Path, PathBuf};

use compactometer_disk::{create_folder, sync_folder, write_whole};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::shards::{CaseLine, Shard, ShardLine, TextName};
use compactometer_formats::timings::Timings;

use super::finished_parts::REMEDY;
use super::part_lines::{BetweenLines, LineReader};
use super::{PlanFolder, ShardError};

const RECORDS: &str = "records.jsonl";
const TEXTS: &str = "texts.jsonl";
const MANIFEST: &str = "manifest.json";

/// Parts that are open at once. Opening one again costs little beside reading a case.
const MOST_OPEN: usize = 32;

/// What was merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Records.
    pub cases: usize,
    /// Different texts.
    pub texts: usize,
}

/// Merges all parts into a new folder, with records in the plan's order. Its manifest gets the
/// notes. The folder gets its name when it is complete, and the same merge again changes nothing.
///
/// # Errors
/// [`ShardError::Incomplete`] if parts are missing, [`ShardError::Exists`] if there is such a
/// folder; if a part is damaged or of another plan.
pub fn merge(
    folder: &PlanFolder,
    out: &Path,
    notes: &[String],
    progress: &dyn Fn(usize),
) -> Result<Merged, ShardError> {
    let manifest = manifest_of(folder, notes);
    if out.symlink_metadata().is_ok() {
        return match is_merge(out, &manifest) {
            true => counted(out).map_err(ShardError::io("read", out)),
            false => Err(ShardError::Exists {
                path: out.to_owned(),
            }),
        };
    }
    let mut missing = Vec::new();
    for shard in folder.all() {
        if !folder.is_done(shard)? {
            missing.push(shard.number);
        }
    }
    if !missing.is_empty() {
        return Err(ShardError::Incomplete {
            missing,
            shards: folder.plan.shards,
        });
    }
    let name = out
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let parent = out
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    remove_left_over(parent, &name);
    let half = parent.join(format!(".{name}.{}{HALF}", std::process::id()));
    create_folder(&half).map_err(ShardError::io("make the folder", out))?;
    let path = half.join(LOCK);
    let lock = File::create(&path).and_then(|mut lock| {
        lock.write_all(b"*\n")?;
        lock.sync_all()?;
        Ok(lock)
    });
    let lock = lock.map_err(ShardError::io("write", &out.join(LOCK)))?;
    // Without locks an abandoned folder cannot be recognised, and none is removed.
    let _ = lock.try_lock();
    let merged = write(folder, &half, notes, progress).and_then(|merged| {
        fs::rename(&half, out).map_err(ShardError::io("write", out))?;
        sync_folder(parent).map_err(ShardError::io("write", out))?;
        Ok(merged)
    });
    merged.map_err(|error| {
        let _ = fs::remove_dir_all(&half);
        match error {
            // Its name until it is complete says nothing to a user.
            ShardError::Io { what, path, source } => {
                let path = path
                    .strip_prefix(&half)
                    .map_or(path.clone(), |file| out.join(file));
                ShardError::Io { what, path, source }
            }
            other => other,
        }
    })
}

/// The manifest of the merged run.
fn manifest_of(folder: &PlanFolder, notes: &[String]) -> Manifest {
    let mut merged = folder.plan.manifest.clone();
    merged.notes.extend_from_slice(notes);
    merged
}

/// Whether a folder is this merge, which got its name when it was complete.
fn is_merge(out: &Path, manifest: &Manifest) -> bool {
    let there = fs::read_to_string(out.join(MANIFEST)).ok();
    let there = there.and_then(|json| serde_json::from_str::<Manifest>(&json).ok());
    there.is_some_and(|there| there == *manifest)
}

/// What a merged folder holds.
fn counted(out: &Path) -> std::io::Result<Merged> {
    let lines = |name: &str| {
        let file = BufReader::new(File::open(out.join(name))?);
        file.split(b'\n')
            .try_fold(0, |count, line| line.map(|_| count + 1))
    };
    Ok(Merged {
        cases: lines(RECORDS)?,
        texts: lines(TEXTS)?,
    })
}

/// The end of an unfinished folder's name.
const HALF: &str = ".merging";
/// The file of an unfinished folder that its writer has locked; in a finished one it keeps the
/// records out of repositories.
const LOCK: &str = ".gitignore";

/// Removes unfinished folders of this name whose writers have ended.
fn remove_left_over(parent: &Path, name: &str) {
    let start = format!(".{name}.");
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let other = entry.file_name();
        let is_half = other
            .to_str()
            .is_some_and(|other| other.starts_with(&start) && other.ends_with(HALF));
        // One that cannot be removed does no harm.
        if is_half && File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn write(
    folder: &PlanFolder,
    dir: &Path,
    notes: &[String],
    progress: &dyn Fn(usize),
) -> Result<Merged, ShardError> {
    let mut parts = ShardParts::new(folder);
    let mut timings = Timings::default();
    let mut known = HashSet::new();
    let dealt = folder.dealt()?;
    let paths = [RECORDS, TEXTS, "timings.json", MANIFEST].map(|name| dir.join(name));
    let [records, texts, times, manifest] = &paths;
    // An error that is not the output's leaves the writers through this.
    let mut failed = None;
    let merged = write_whole(records, |records| {
        write_whole(texts, |texts| {
            for (done, case) in dealt.iter().enumerate() {
                let line = parts.next(case.shard, &case.key);
                let Ok(line) = line.map_err(|error| failed = Some(error)) else {
                    return Err(std::io::Error::other("a part cannot be read"));
                };
                for row in &line.texts {
                    let name: TextName<'_> = serde_json::from_str(row.get())?;
                    if known.insert(
                        u128::from_str_radix(&name.hash, 16).map_err(std::io::Error::other)?,
                    ) {
                        writeln!(texts, "{}", row.get())?;
                    }
                }
                writeln!(records, "{}", line.record.get())?;
                timings.cases.insert(line.key, line.timings);
                progress(done + 1);
            }
            Ok(())
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    merged.map_err(ShardError::io("write", records))?;
    parts.end()?;
    let json = |path: &PathBuf, value: serde_json::Result<String>| {
        let written = value
            .map_err(std::io::Error::from)
            .and_then(|json| write_whole(path, |out| writeln!(out, "{json}")));
        written.map_err(ShardError::io("write", path))
    };
    json(times, serde_json::to_string_pretty(&timings))?;
    let merged = manifest_of(folder, notes);
    json(manifest, serde_json::to_string_pretty(&merged))?;
    Ok(Merged {
        cases: dealt.len(),
        texts: known.len(),
    })
}

/// All parts, each at its next case.
struct ShardParts<'f> {
    folder: &'f PlanFolder,
    places: Vec<Option<BetweenLines>>,
    readers: Vec<Option<LineReader>>,
    /// The open ones, the one opened first in front.
    open: VecDeque<usize>,
}

impl<'f> ShardParts<'f> {
    fn new(folder: &'f PlanFolder) -> Self {
        let count = folder.plan.shards as usize;
        let readers = std::iter::repeat_with(|| None).take(count).collect();
        ShardParts {
            folder,
            places: vec![None; count],
            readers,
            open: VecDeque::new(),
        }
    }

    /// The next case of this shard, which must have this key.
    fn next(&mut self, shard: u32, key: &str) -> Result<CaseLine, ShardError> {
        let reader = self.reader(shard)?;
        let wrong = match reader.next()? {
            Some((ShardLine::Case(case), _)) if case.key == key => return Ok(case),
            Some((ShardLine::Case(case), _)) => {
                format!("the replay `{}` is there instead of `{key}`", case.key)
            }
            Some((ShardLine::Begin(_), _)) => "a second beginning".to_owned(),
            Some((ShardLine::End(_), _)) | None => format!("it ends before the replay `{key}`"),
        };
        Err(reader.damaged(wrong))
    }

    /// Makes sure that no part has more cases.
    fn end(&mut self) -> Result<(), ShardError> {
        for shard in self.folder.all() {
            let cases = self.folder.plan.cases[shard.number as usize - 1];
            let reader = self.reader(shard.number)?;
            let is_whole =
                matches!(reader.next()?, Some((ShardLine::End(end), _)) if end.cases == cases);
            if !is_whole {
                return Err(reader.damaged(format!("expected the end after {cases} replays")));
            }
        }
        Ok(())
    }

    fn reader(&mut self, shard: u32) -> Result<&mut LineReader, ShardError> {
        let index = shard as usize - 1;
        if self.readers[index].is_none() {
            if self.open.len() == MOST_OPEN
                && let Some(oldest) = self.open.pop_front()
            {
                self.places[oldest] = self.readers[oldest].take().map(|reader| reader.place());
            }
            self.open.push_back(index);
        }
        let slot = &mut self.readers[index];
        let reader = match slot.take() {
            Some(reader) => reader,
            None => {
                let shard = Shard {
                    number: shard,
                    of: self.folder.plan.shards,
                };
                match self.places[index] {
                    Some(place) => LineReader::open(&self.folder.part(shard), REMEDY, place)?,
                    None => self.folder.read_part(shard)?,
                }
            }
        };
        Ok(slot.insert(reader))
    }
}
