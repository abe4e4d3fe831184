//! A run's folder: its manifest, and the pointer to the latest run.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use compactometer_disk::input::{InputKind, read_text};
use compactometer_disk::{create_folder, is_part, write_whole};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::property::Property;
use compactometer_formats::record::text_hash;
use compactometer_formats::suite::{Header, Suite};
use compactometer_harness::plan::Plan;
use compactometer_suites::properties::measure;

use crate::output::failure::words;

/// A suite's header and measured properties, taken before the plan consumes the suite.
pub(crate) struct SuiteIdentity {
    header: Header,
    properties: Vec<Property>,
}

impl SuiteIdentity {
    pub(crate) fn new(suite: &Suite) -> Self {
        SuiteIdentity {
            header: suite.header.clone(),
            properties: measure(suite),
        }
    }
}

/// The manifest of a plan. `prices` is the text of the report's price table.
pub(crate) fn manifest(
    plan: &Plan,
    suite: SuiteIdentity,
    tokenizer: &str,
    prices: &str,
    reference: Option<&str>,
) -> Manifest {
    Manifest {
        commit: env!("COMPACTOMETER_COMMIT").to_owned(),
        command: command_without_out(std::env::args().skip(1)),
        suite: suite.header.name,
        headline_metrics: suite.header.headline_metrics,
        notes: suite.header.notes,
        reference: reference.map(str::to_owned),
        prices_hash: text_hash(prices),
        tokenizer: tokenizer.to_owned(),
        properties: suite.properties,
        ..plan.manifest()
    }
}

/// Arguments that do not affect results: output places, threads, what to print.
const WITH_VALUE: [&str; 10] = [
    "--by",
    "--cases",
    "--out",
    "-o",
    "--jobs",
    "-j",
    "--store",
    "--record",
    "--requests-per-minute",
    "--max-cost",
];
const ALONE: [&str; 9] = [
    "--targets",
    "--all",
    "--notes",
    "--json",
    "--quiet",
    "-q",
    "--verbose",
    "-v",
    "-vv",
];

/// The command line without these arguments.
fn command_without_out(args: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = vec!["compactometer".to_owned()];
    let mut skip = false;
    for arg in args {
        let takes_value = WITH_VALUE.contains(&arg.as_str());
        let joined = WITH_VALUE.iter().any(|flag| {
            arg.strip_prefix(flag)
                .is_some_and(|rest| rest.starts_with('='))
        });
        let short = ["-o", "-j"]
            .iter()
            .any(|flag| arg.len() > 2 && arg.starts_with(flag));
        if !skip && !takes_value && !joined && !short && !ALONE.contains(&arg.as_str()) {
            kept.push(arg);
        }
        skip = !skip && takes_value;
    }
    kept
}

/// The folder to write to: the requested one, else one named after the suite and the configuration.
pub(crate) fn folder(out: Option<&Path>, manifest: &Manifest) -> PathBuf {
    let identity = serde_json::json!([&without_command(manifest)]);
    let name = format!(
        "{}-{}-{}",
        safe_name(&manifest.suite),
        manifest.window,
        &text_hash(&identity.to_string())[..8]
    );
    out.map_or_else(|| Path::new("reports").join(name), Path::to_owned)
}

/// The name without characters that file names cannot hold.
pub(crate) fn safe_name(name: &str) -> String {
    let safe = name.chars().map(|letter| {
        if letter.is_ascii_alphanumeric() || "-_.".contains(letter) {
            letter
        } else {
            '-'
        }
    });
    let safe = safe.take(40).collect::<String>();
    let trimmed = safe.trim_matches('.');
    if trimmed.is_empty() {
        "suite".to_owned()
    } else {
        trimmed.to_owned()
    }
}

/// Creates the folder and its manifest. A folder with the same configuration is resumed.
///
/// # Errors
/// If the folder holds something else or cannot be written.
pub(crate) fn prepare(dir: &Path, manifest: &Manifest) -> Result<()> {
    let path = dir.join("manifest.json");
    if path.exists() {
        let found = read_manifest(dir).map_err(|error| {
            anyhow!(
                "{}; choose another `--out`, or delete the folder to run again",
                words(&error)
            )
        })?;
        return match difference(&found, manifest) {
            None => Ok(()),
            Some(field) => bail!(
                "`{}` holds another run ({field} differs); choose another `--out`",
                dir.display()
            ),
        };
    }
    if holds_no_run(dir) {
        bail!(
            "`{}` exists and holds no run; choose another `--out`",
            dir.display()
        );
    }
    create_folder(dir).map_err(|error| {
        cannot(
            &format!("make the folder `{}`", dir.display()),
            error,
            "--out",
        )
    })?;
    write(&dir.join(".gitignore"), "*\n")?;
    write_json(&path, manifest)
}

/// The manifest of a run's folder.
pub(crate) fn read_manifest(dir: &Path) -> Result<Manifest> {
    let path = dir.join("manifest.json");
    let text = read_text(&path, InputKind::MANIFEST)
        .with_context(|| format!("cannot read `{}`", path.display()))?;
    serde_json::from_str(&text).with_context(|| {
        format!(
            "`{}` is not a manifest that this version can read",
            path.display()
        )
    })
}

/// The error for a failed write to the place that a flag names.
pub(crate) fn cannot(what: &str, error: std::io::Error, flag: &str) -> anyhow::Error {
    let told = format!("cannot {what}: {error}; {}", advice(&error, flag));
    anyhow::Error::new(error).context(told)
}

/// What to do after a failed write to the place that a flag names.
pub(crate) fn advice(error: &std::io::Error, flag: &str) -> String {
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded => format!("free space there, or choose another `{flag}`"),
        PermissionDenied | ReadOnlyFilesystem => {
            format!("make it writable for this user, or choose another `{flag}`")
        }
        _ => format!("choose another `{flag}`"),
    }
}

/// Whether a run must not write here.
pub(crate) fn holds_no_run(dir: &Path) -> bool {
    dir.is_file() || holds_foreign_files(dir)
}

/// Whether the folder holds more than a failed start leaves behind.
fn holds_foreign_files(dir: &Path) -> bool {
    let is_ours = |name: &str| name == ".gitignore" || is_part(name);
    let names = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name()));
    names
        .into_iter()
        .any(|name| !is_ours(&name.to_string_lossy()))
}

fn without_command(manifest: &Manifest) -> Manifest {
    Manifest {
        command: Vec::new(),
        ..manifest.clone()
    }
}

/// The first field in which two manifests differ, apart from the command.
pub(crate) fn difference(found: &Manifest, wanted: &Manifest) -> Option<String> {
    let value = |manifest: &Manifest| serde_json::to_value(without_command(manifest)).ok();
    let (found, wanted) = (value(found)?, value(wanted)?);
    let (found, wanted) = (found.as_object()?, wanted.as_object()?);
    let differs = wanted
        .iter()
        .find(|(field, value)| found.get(*field) != Some(value))
        .map(|(field, _)| field);
    let differs = differs.or_else(|| found.keys().find(|field| !wanted.contains_key(*field)));
    differs.map(|field| format!("`{field}`"))
}

/// The run's folder that is meant: of a folder of runs, such as `reports`, the latest one.
///
/// # Errors
/// If there is neither.
pub(crate) fn of_latest(dir: &Path) -> Result<PathBuf> {
    let manifest = dir.join("manifest.json");
    let is_run = manifest.exists();
    let latest = std::fs::read_to_string(dir.join("latest"))
        .ok()
        .filter(|_| !is_run);
    // A pointer that leads elsewhere is none of ours.
    let name = latest
        .as_deref()
        .map(str::trim)
        .filter(|name| !name.is_empty() && safe_name(name) == *name);
    match name {
        Some(name) => Ok(dir.join(name)),
        None if is_run => Ok(dir.to_owned()),
        None => bail!(
            "cannot read `{}`: there is no run; name a run's folder, or make one with `compactometer compare`",
            manifest.display()
        ),
    }
}

/// Writes the pointer `latest` beside the folder if the folder is in `reports`.
pub(crate) fn point_latest(dir: &Path) -> Result<()> {
    match (dir.parent(), dir.file_name()) {
        (Some(parent), Some(name)) if parent == Path::new("reports") => write(
            &parent.join("latest"),
            &format!("{}\n", name.to_string_lossy()),
        ),
        _ => Ok(()),
    }
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<()> {
    let mut json = serde_json::to_string_pretty(value)?;
    json.push('\n');
    write(path, &json)
}

fn write(path: &Path, text: &str) -> Result<()> {
    write_whole(path, |out| out.write_all(text.as_bytes()))
        .map_err(|error| cannot(&format!("write `{}`", path.display()), error, "--out"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_folder_is_no_part_of_the_command() {
        let args = [
            "compare",
            "--out",
            "x",
            "a.jsonl",
            "-o",
            "y",
            "--out=z",
            "--json",
            "-j4",
            "--jobs=2",
            "-s",
            "null",
            "-q",
            "--store",
            "kept.db",
            "--store=kept",
            "-v",
        ];
        let kept = command_without_out(args.into_iter().map(str::to_owned));
        assert_eq!(kept, ["compactometer", "compare", "a.jsonl", "-s", "null"]);
    }

    #[test]
    fn a_folder_of_runs_means_its_latest() {
        let dir = tempfile::tempdir().expect("a folder");
        let latest =
            |text: &str| std::fs::write(dir.path().join("latest"), text).expect("a pointer");
        let told = of_latest(dir.path()).expect_err("no run").to_string();
        assert!(
            told.contains("there is no run; name a run's folder"),
            "{told}"
        );
        latest("smoke-12000-abc\n");
        assert_eq!(
            of_latest(dir.path()).expect("the latest"),
            dir.path().join("smoke-12000-abc")
        );
        for elsewhere in ["../other\n", "/etc\n", "\n", "a/b"] {
            latest(elsewhere);
            assert!(of_latest(dir.path()).is_err(), "{elsewhere}");
        }
        std::fs::write(dir.path().join("manifest.json"), "{}").expect("a manifest");
        assert_eq!(of_latest(dir.path()).expect("a run"), dir.path());
    }

    #[test]
    fn folder_names_hold_no_path() {
        assert_eq!(safe_name("../../a b"), "-..-a-b");
        assert_eq!(safe_name("..."), "suite");
    }
}
