//! Where suites come from: files of scenarios, generator specs, transcripts of other programs, or the
//! program itself.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use compactometer_disk::input::{InputKind, read_text};
use compactometer_disk::write_whole;
use compactometer_formats::scenario::Split;
use compactometer_formats::suite::{Suite, is_suite_file};
use compactometer_suites::SuiteSpec;
use compactometer_suites::embedded::{self, agentic};
use compactometer_suites::import::{self, Importer, Options};
use compactometer_text::suggest::unknown;

use super::recordings;
use super::transcripts::add;

/// The suite that the paths name; several are joined. Without paths, the suite that the model was
/// recorded on, else the embedded one.
pub(crate) fn load(paths: &[PathBuf], model: &str) -> Result<Suite> {
    if !paths.is_empty() {
        return join(paths);
    }
    let recorded = recordings::suites(model)?;
    if recorded.is_empty() {
        Ok(agentic()?)
    } else {
        join(&recorded)
    }
}

/// Only the suite's conversations of this split; all of them if no split is named.
///
/// # Errors
/// If the suite has none of this split.
pub(crate) fn of_split(mut suite: Suite, split: Option<Split>) -> Result<Suite> {
    let Some(split) = split else { return Ok(suite) };
    let all = suite.scenarios.len();
    suite.scenarios.retain(|scenario| scenario.split == split);
    let name = format!("{split:?}").to_lowercase();
    if suite.scenarios.is_empty() {
        bail!(
            "suite `{}` has no conversations of the split `{name}`",
            suite.header.name
        );
    }
    suite.header.notes.push(format!(
        "only the split `{name}`: {} of {all} conversations",
        suite.scenarios.len()
    ));
    Ok(suite)
}

/// Writes a new suite.
pub(crate) fn write(out: &Path, suite: &Suite) -> Result<()> {
    write_whole(out, |file| suite.write(file))
        .with_context(|| format!("cannot write `{}`", out.display()))
}

fn read(path: &Path) -> Result<Suite> {
    if let Some(spec) = spec(path)? {
        return Ok(spec.suite()?);
    }
    Suite::read(path).map_err(|error| match path.to_str() {
        Some(word) if !path.exists() && path.extension().is_none() => {
            let names = embedded::ALL.iter().map(|suite| suite.name);
            anyhow::Error::new(error).context(unknown("suite", word, names))
        }
        _ => error.into(),
    })
}

/// The spec that the path names: a `.toml` file, or an embedded spec if no file has its name.
///
/// # Errors
/// If the file cannot be read or used.
pub(crate) fn spec(path: &Path) -> Result<Option<SuiteSpec>> {
    if path
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        let text = read_text(path, InputKind::SPEC)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        return Ok(Some(SuiteSpec::parse(&text, path)?));
    }
    let embedded = path
        .to_str()
        .and_then(embedded::by_name)
        .filter(|_| !path.exists());
    Ok(embedded.map(|embedded| embedded.spec()).transpose()?)
}

/// The suites that the paths name, joined into one. Transcripts of one program are one suite.
///
/// # Errors
/// If a suite cannot be read, windows differ, or two suites share an id.
pub(crate) fn join(paths: &[PathBuf]) -> Result<Suite> {
    let (transcripts, others) = by_importer(paths);
    let imported = transcripts
        .iter()
        .map(|(importer, files)| imported(importer, files));
    let mut suites = others.into_iter().map(|path| read(path)).chain(imported);
    let mut joined = suites.next().context("no suite is named")??;
    for suite in suites {
        let suite = suite?;
        if suite.header.window != joined.header.window {
            bail!(
                "suites `{}` and `{}` are made for different context windows; run them one by one",
                joined.header.name,
                suite.header.name
            );
        }
        joined.header.name = format!("{}+{}", joined.header.name, suite.header.name);
        joined.header.notes.extend(suite.header.notes);
        joined.scenarios.extend(suite.scenarios);
    }
    if let Some(id) = repeated_id(&joined) {
        bail!("scenario id `{id}` is in two of the suites");
    }
    Ok(joined)
}

/// The transcripts by what reads them, and the other paths.
fn by_importer(paths: &[PathBuf]) -> (Vec<(&'static Importer, Vec<PathBuf>)>, Vec<&PathBuf>) {
    let mut transcripts: Vec<(&Importer, Vec<PathBuf>)> = Vec::new();
    let mut others = Vec::new();
    for path in paths {
        match importer(path) {
            None => others.push(path),
            Some(of) => add(&mut transcripts, of, path.clone()),
        }
    }
    (transcripts, others)
}

/// What reads the file, if it is a transcript of another program.
fn importer(path: &Path) -> Option<&'static Importer> {
    let is_spec = path.extension().is_some_and(|end| end == "toml");
    if is_spec || !path.is_file() || is_suite_file(path) {
        return None;
    }
    import::by_content(path).ok()
}

/// The suite of transcripts, with their exact values as facts.
fn imported(importer: &Importer, files: &[PathBuf]) -> Result<Suite> {
    let options = Options {
        auto_facts: true,
        ..Options::default()
    };
    let name = match files {
        [file] => file.file_stem().unwrap_or_default().to_string_lossy(),
        _ => importer.name.into(),
    };
    Ok(import::import(importer, files, &name, &options)?.suite)
}

fn repeated_id(suite: &Suite) -> Option<&str> {
    let ids = suite.scenarios.iter().map(|scenario| scenario.id.as_str());
    let mut ids = ids.collect::<Vec<_>>();
    ids.sort_unstable();
    ids.windows(2)
        .find(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
}
