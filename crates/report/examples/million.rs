//! Made-up records of a million rows, a row being one fact at one observation, as a run's folder:
//! how large a report may grow.
//!
//! `cargo run --release -p compactometer-report --example million DIR`, then `compactometer report
//! DIR`.

#[path = "../tests/it/common/mod.rs"]
mod common;

use std::io::Write;
use std::path::Path;

const ROWS: usize = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args()
        .nth(1)
        .ok_or("expected a folder to write to")?;
    let dir = Path::new(&dir);
    std::fs::create_dir_all(dir)?;
    let rows = |records: &[compactometer_formats::record::Record]| {
        let seen = records.iter().flat_map(|record| &record.observations);
        seen.map(|observation| observation.fates.0.len())
            .sum::<usize>()
    };
    // Conversations are alike in size, so a few tell how many are needed.
    let (_, few) = common::simulated::run(20);
    let scenarios = (ROWS * 20).div_ceil(rows(&few)) as u32 + 1;
    let (manifest, records) = common::simulated::run(scenarios);
    std::fs::write(dir.join("manifest.json"), serde_json::to_string(&manifest)?)?;
    let mut out = std::io::BufWriter::new(std::fs::File::create(dir.join("records.jsonl"))?);
    for record in &records {
        writeln!(out, "{}", record.to_line()?)?;
    }
    out.flush()?;
    println!(
        "{} rows in {} records of {scenarios} conversations",
        rows(&records),
        records.len()
    );
    Ok(())
}
