//! Writes the report of a made-up run into a folder, for looking at tables and pictures: `cargo run
//! --example sample DIR`.

use std::path::Path;

use compactometer_formats::prices::PriceTable;

#[path = "../tests/it/common/mod.rs"]
mod common;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args().nth(1).ok_or("expected a folder")?;
    let (manifest, records) = common::simulated::run(12);
    let prices = PriceTable::shipped()?;
    let summary = compactometer_report::write(Path::new(&dir), &manifest, &records, &prices)?;
    println!(
        "{}",
        compactometer_report::table(&summary, &compactometer_report::Screen::WHOLE)
    );
    Ok(())
}
