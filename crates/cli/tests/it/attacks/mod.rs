//! Ways to look better than one is. Each must fail, on the suite that a plain run uses.

mod failing;
mod gate;
mod imports;
mod summarizers;
mod tails;
mod values;

use compactometer_formats::suite::Suite;
use compactometer_suites::embedded::smoke;

/// Half of the suite that a plain run uses.
fn half() -> Suite {
    let mut suite = smoke().unwrap();
    suite.scenarios.truncate(8);
    suite
}
