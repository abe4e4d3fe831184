//! Folders and files that a run writes or resumes from.

use std::io::Write;
use std::path::Path;

use compactometer_harness::run::{read_records, read_texts};

use super::DoctorCheck;
use crate::arguments::RunArgs;
use crate::arguments::stores;
use crate::output::failure::words;
use crate::output::run_folder;

/// The size of a small record. A disk without room for it is full.
const WRITTEN: usize = 64 << 10;

pub(super) fn checks(args: &RunArgs) -> Vec<DoctorCheck> {
    let out = args.out.as_deref();
    let mut checks = vec![writable(
        "output",
        out.unwrap_or(Path::new("reports")),
        "--out",
    )];
    checks.extend(out.filter(|dir| dir.exists()).map(run));
    checks.extend(
        args.setting
            .record
            .as_deref()
            .map(|folder| writable("recording", folder, "--record")),
    );
    if let Some(path) = args.store.as_deref() {
        // A store in a file also writes beside that file.
        let folder = if path.is_dir() {
            path
        } else {
            path.parent().unwrap_or(path)
        };
        checks.push(writable("store", folder, "--store"));
        checks.extend(path.exists().then(|| store(path)));
    }
    checks
}

/// Whether the path, or the folder in which it would be created, can be written.
fn writable(check: &'static str, path: &Path, flag: &str) -> DoctorCheck {
    let folder = path
        .ancestors()
        .find(|folder| folder.as_os_str().is_empty() || folder.exists())
        .unwrap_or(path);
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let shown = path.display();
    match write_and_remove(folder) {
        Ok(()) => DoctorCheck::ok(check, format!("`{shown}` can be written")),
        Err(error) => DoctorCheck::problem(
            check,
            format!(
                "cannot write to `{shown}`: {error}; {}",
                run_folder::advice(&error, flag)
            ),
        ),
    }
}

fn write_and_remove(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(format!(".compactometer.{}.part", std::process::id()));
    let write = || {
        let mut file = std::fs::File::create_new(&path)?;
        file.write_all(&[0; WRITTEN])?;
        file.sync_all()
    };
    let written = write();
    let removed = std::fs::remove_file(&path);
    written.and(removed)
}

/// What a run would resume from in this folder.
fn run(dir: &Path) -> DoctorCheck {
    let shown = dir.display();
    if !dir.join("manifest.json").exists() {
        return match run_folder::holds_no_run(dir) {
            true => DoctorCheck::problem(
                "output",
                format!("`{shown}` exists and holds no run; choose another `--out`"),
            ),
            false => DoctorCheck::ok("output", format!("`{shown}` is free")),
        };
    }
    match cases_in(dir) {
        Ok((found, cases)) => DoctorCheck::ok(
            "output",
            format!("`{shown}` holds {found} of {cases} replays"),
        ),
        Err(error) => {
            let told = words(&error);
            let advice = if told.contains("; ") {
                ""
            } else {
                "; choose another `--out`, or delete the folder to run again"
            };
            DoctorCheck::problem("output", told + advice)
        }
    }
}

/// How many cases the folder holds, and of how many.
fn cases_in(dir: &Path) -> anyhow::Result<(usize, usize)> {
    let manifest = run_folder::read_manifest(dir)?;
    if !dir.join("records.jsonl").exists() {
        return Ok((0, manifest.cases));
    }
    read_texts(dir)?;
    Ok((read_records(dir)?.len(), manifest.cases))
}

fn store(path: &Path) -> DoctorCheck {
    let threads = stores::existing(path).and_then(|store| Ok(store.threads()?.len()));
    match threads {
        Ok(threads) => DoctorCheck::ok(
            "store",
            format!("`{}` holds {threads} threads", path.display()),
        ),
        Err(error) => DoctorCheck::problem("store", words(&error)),
    }
}
