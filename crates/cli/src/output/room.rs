//! Whether a report has room for all records of a run: it holds them at once.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};

/// Bytes of memory for each byte of `records.jsonl`, measured on runs of `datasets/smoke.toml`.
const FACTOR: u64 = 4;
/// What is free where the system does not say.
const ASSUMED: u64 = 16 << 30;

/// Refuses runs whose records need more memory than is free.
pub(crate) fn check(dirs: &[PathBuf]) -> Result<()> {
    let bytes = dirs
        .iter()
        .filter_map(|dir| fs::metadata(dir.join("records.jsonl")).ok())
        .map(|found| found.len());
    let (needed, free) = (FACTOR * bytes.sum::<u64>(), free());
    if needed <= free {
        return Ok(());
    }
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    let dir = dirs
        .first()
        .map(|dir| dir.display().to_string())
        .unwrap_or_default();
    bail!(
        "the records of this run take about {:.1} GB of memory, and {:.1} GB are free. `compactometer report {dir} --format parquet` \
         writes them as tables in little memory, and `scripts/analysis/query {dir}/tables` computes the main table from these",
        gigabytes(needed),
        gigabytes(free)
    )
}

/// Memory in bytes that is free in this process's group, and on the machine.
fn free() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| available(&text));
    let read = |name: &str| {
        fs::read_to_string(format!("/sys/fs/cgroup/memory.{name}"))
            .ok()?
            .trim()
            .parse::<u64>()
            .ok()
    };
    let group = read("max").map(|most| most.saturating_sub(read("current").unwrap_or(0)));
    [machine, group]
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(ASSUMED)
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::{available, free};

    #[test]
    fn free_memory_is_what_the_system_says() {
        assert_eq!(
            available("MemTotal: 9 kB\nMemAvailable:     1234 kB\n"),
            Some(1234 * 1024)
        );
        assert_eq!(available("MemTotal: 9 kB\n"), None);
        assert!(free() > 0);
    }
}
