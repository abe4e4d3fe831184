//! Parts: finished shards.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use compactometer_disk::{create_whole, input};
use compactometer_formats::shards::{Begin, End, Shard, ShardLine, VERSION};

use super::attempts::FinishedCases;
use super::part_lines::{BetweenLines, LineReader, line_at};
use super::{PlanFolder, ShardError};

pub(super) const REMEDY: &str = "delete the file and run its shard again";

impl PlanFolder {
    /// Creates the part of a shard from its attempts, with `keys` in the plan's order. Returns
    /// whether this call created it; another worker's part is left as it is.
    pub(super) fn commit(
        &self,
        shard: Shard,
        keys: &[&str],
        kept: &FinishedCases,
    ) -> Result<bool, ShardError> {
        let path = self.part(shard);
        let open = |path: &PathBuf| input::open(path).map_err(ShardError::io("read", path));
        let files = kept
            .files
            .iter()
            .map(open)
            .collect::<Result<Vec<File>, _>>()?;
        let begin = Begin {
            version: VERSION,
            plan: self.plan.id.clone(),
            shard,
            jobs: 0,
        };
        let end = End {
            cases: keys.len() as u32,
        };
        let created = create_whole(&path, |out| {
            out.write_all(ShardLine::Begin(begin).to_line()?.as_bytes())?;
            for key in keys {
                let (file, at) = kept
                    .cases
                    .get(*key)
                    .ok_or_else(|| std::io::Error::other("a replay is missing"))?;
                out.write_all(&line_at(&files[*file], *at)?)?;
            }
            out.write_all(ShardLine::End(end).to_line()?.as_bytes())
        });
        created.map_err(|source| match source.kind() {
            std::io::ErrorKind::Unsupported | std::io::ErrorKind::PermissionDenied
                if is_writable(&path) =>
            {
                ShardError::NoLinks { path, source }
            }
            _ => ShardError::Io {
                what: "write",
                path,
                source,
            },
        })
    }

    /// Whether the shard has a part.
    ///
    /// # Errors
    /// [`ShardError`] if it is of another plan, shard or version, or damaged at its start.
    pub fn is_done(&self, shard: Shard) -> Result<bool, ShardError> {
        let path = self.part(shard);
        if !path.exists() {
            return Ok(false);
        }
        self.read_part(shard).map(|_| true)
    }

    /// The lines of a shard's part, after the first.
    pub(super) fn read_part(&self, shard: Shard) -> Result<LineReader, ShardError> {
        let path = self.part(shard);
        let mut lines = LineReader::open(&path, REMEDY, BetweenLines::default())?;
        match lines.next()? {
            Some((ShardLine::Begin(begin), _)) => self.check(&path, &begin, shard).map(|()| lines),
            _ => Err(lines.damaged("it is no part of a plan".to_owned())),
        }
    }
}

/// Whether files can be written beside the part, so that only the link can be what failed.
fn is_writable(part: &Path) -> bool {
    let path = part.with_file_name(".probe");
    let written = File::create(&path).and_then(|mut file| file.write_all(b"."));
    let _ = std::fs::remove_file(&path);
    written.is_ok()
}
