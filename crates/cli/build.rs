//! Tells the program which commit it was built from, and whether the tree was changed since, for
//! manifests: records of one build must not be resumed by another.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

fn main() {
    for watched in [
        "../../.git/logs/HEAD",
        "../../crates",
        "../../datasets",
        "../../Cargo.toml",
        "../../Cargo.lock",
    ] {
        // Watching a path that is not there would rebuild every time.
        if Path::new(watched).exists() {
            println!("cargo::rerun-if-changed={watched}");
        }
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let changes = git(&["diff", "HEAD", "--", "../.."]).filter(|changes| !changes.is_empty());
    let mark = changes.map_or(String::new(), |changes| {
        let mut hasher = DefaultHasher::new();
        changes.hash(&mut hasher);
        format!("-changed-{:08x}", hasher.finish() as u32)
    });
    println!("cargo::rustc-env=COMPACTOMETER_COMMIT={commit}{mark}");
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(args)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
