//! Transcripts that arguments name: a format and its files, files whose content shows the format,
//! or a program's own sessions.

use std::path::PathBuf;

use anyhow::anyhow;
use compactometer_disk::user::USER;
use compactometer_suites::import::{self, FoundSession, Importer};
use compactometer_text::suggest::unknown;

use crate::output::failure::Failure;
use crate::output::terminal::{answer, can_ask, note};

/// The most sessions that a list shows.
const LISTED: usize = 20;

/// The format and the files. A first word that is neither a format nor a file is a misspelt format.
pub(crate) fn format_and_files(
    inputs: &[PathBuf],
) -> Result<(&'static Importer, Vec<PathBuf>), Failure> {
    let Some((first, files)) = inputs.split_first() else {
        return Err(Failure::usage(anyhow!("no file is named")));
    };
    let word = first.to_string_lossy();
    match import::by_name(&word) {
        Some(importer) if files.is_empty() => Ok((importer, chosen(importer)?)),
        Some(importer) => Ok((importer, files.to_vec())),
        None if first.exists() || word.contains(['.', '/', '\\']) => Ok((
            import::by_content(first).map_err(Failure::usage)?,
            inputs.to_vec(),
        )),
        None => Err(Failure::usage(anyhow!(unknown(
            "format",
            &word,
            import::ALL.iter().map(|known| known.name)
        )))),
    }
}

/// Files by format, and why others of several files are left out.
#[derive(Default)]
pub(crate) struct ByFormat {
    pub(crate) formats: Vec<(&'static Importer, Vec<PathBuf>)>,
    pub(crate) refused: Vec<String>,
}

impl From<Vec<(&'static Importer, Vec<PathBuf>)>> for ByFormat {
    fn from(formats: Vec<(&'static Importer, Vec<PathBuf>)>) -> Self {
        ByFormat {
            formats,
            refused: Vec::new(),
        }
    }
}

/// The files of each format that arguments name. A folder offers the sessions in it, and no
/// argument those that programs keep.
pub(crate) fn by_format(inputs: &[PathBuf]) -> Result<ByFormat, Failure> {
    let first = inputs.first().map(|first| first.to_string_lossy());
    let named = first.and_then(|word| import::by_name(&word));
    match named {
        Some(importer) if inputs.len() == 1 => {
            return Ok(vec![(importer, chosen(importer)?)].into());
        }
        Some(importer) => return Ok(vec![(importer, with_folders(&inputs[1..])?)].into()),
        None => {}
    }
    of_files(with_folders(inputs)?)
}

/// The files by what their content shows.
fn of_files(files: Vec<PathBuf>) -> Result<ByFormat, Failure> {
    let mut found = ByFormat::default();
    let several = files.len() > 1;
    for file in files {
        let importer = match file.exists() {
            true => import::by_content(&file),
            // A word that is neither a file nor a format.
            false => Ok(format_and_files(std::slice::from_ref(&file))?.0),
        };
        match importer {
            Ok(importer) => add(&mut found.formats, importer, file),
            Err(refused) if several => found.refused.push(refused.to_string()),
            Err(refused) => return Err(Failure::usage(refused)),
        }
    }
    match (found.formats.is_empty(), found.refused.first()) {
        (true, Some(refused)) => Err(Failure::usage(anyhow!(refused.clone()))),
        _ => Ok(found),
    }
}

/// Puts a file with the others of its format.
pub(crate) fn add(
    formats: &mut Vec<(&'static Importer, Vec<PathBuf>)>,
    importer: &'static Importer,
    file: PathBuf,
) {
    match formats
        .iter_mut()
        .find(|(known, _)| known.name == importer.name)
    {
        Some((_, of_format)) => of_format.push(file),
        None => formats.push((importer, vec![file])),
    }
}

/// Files that a command left out because they were refused.
#[derive(Default)]
pub(crate) struct LeftOutFiles {
    pub(crate) files: usize,
    pub(crate) why: Vec<String>,
    /// Compactions before which a file has nothing that could be read as a conversation.
    pub(crate) compactions: usize,
}

impl LeftOutFiles {
    /// A failure if any of that many files was left out.
    pub(crate) fn check(&self, files: usize) -> Result<(), Failure> {
        let why = self.why.iter().map(|why| first_line(why));
        match self.files {
            0 => Ok(()),
            number => Err(Failure::usage(anyhow!(
                "{number} of {files} files {} left out:{}",
                if number == 1 { "was" } else { "were" },
                why.collect::<String>()
            ))),
        }
    }
}

/// The first line of an error, on a line of its own. What the file is near to takes more lines.
fn first_line(why: &str) -> String {
    let line = why.lines().next().unwrap_or_default();
    format!("\n  {}", line.trim_end_matches("; nearest are:"))
}

/// The files that are named, and those that the user chooses of the folders, or of what programs
/// keep if nothing is named.
fn with_folders(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let (folders, files): (Vec<&PathBuf>, Vec<&PathBuf>) =
        inputs.iter().partition(|input| input.is_dir());
    let mut files = files.into_iter().cloned().collect::<Vec<_>>();
    if inputs.is_empty() || !folders.is_empty() {
        files.extend(offered(&folders)?);
    }
    Ok(files)
}

/// The sessions that the user chooses of those in folders, or of those that any program keeps.
fn offered(folders: &[&PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for folder in folders {
        let files = import::sessions_in(folder).map_err(Failure::usage)?;
        // A folder may hold other files too.
        found.extend(
            files
                .into_iter()
                .filter(|file| import::by_content(&file.path).is_ok()),
        );
    }
    let mut places = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect::<Vec<_>>();
    if folders.is_empty() {
        for kept in import::ALL.iter().filter_map(|importer| importer.sessions) {
            let Some(place) = kept.place(&USER) else {
                continue;
            };
            found.extend(kept.find(&place).map_err(Failure::usage)?);
            places.push(place.display().to_string());
        }
    }
    import::newest_first(&mut found);
    if found.is_empty() {
        let places = places.join("\n  ");
        return Err(Failure::usage(anyhow!(
            "no file is named, and there is no session at\n  {places}"
        )));
    }
    ask(&found, &places.join(", "), "no file is named")
}

/// The sessions that the user chooses of those that the format's program keeps.
fn chosen(importer: &Importer) -> Result<Vec<PathBuf>, Failure> {
    let name = importer.name;
    let none = || Failure::usage(anyhow!("no file of format `{name}` is named"));
    let kept = importer.sessions.ok_or_else(none)?;
    let place = kept.place(&USER).ok_or_else(none)?;
    let found = kept.find(&place).map_err(Failure::usage)?;
    if found.is_empty() {
        let place = place.display();
        return Err(Failure::usage(anyhow!(
            "no file of format `{name}` is named, and there is none at `{place}`"
        )));
    }
    ask(
        &found,
        &place.display().to_string(),
        &format!("no file of format `{name}` is named"),
    )
}

/// Lists sessions and asks which to read. Where nobody can answer, `problem` is the error.
fn ask(found: &[FoundSession], place: &str, problem: &str) -> Result<Vec<PathBuf>, Failure> {
    found
        .iter()
        .take(LISTED)
        .zip(1..)
        .for_each(|(session, number)| note(&line(session, number)));
    if found.len() > LISTED {
        note(&format!(
            "and {} older sessions that match {place}",
            found.len() - LISTED
        ));
    }
    if !can_ask() {
        return Err(Failure::usage(anyhow!(
            "{problem}: give one or more of these"
        )));
    }
    let words = answer("Which sessions? Enter numbers, `all`, or nothing to stop:")
        .map_err(Failure::failed)?;
    of_answer(&words, found).map_err(Failure::usage)
}

/// A session's number, time, size and path.
fn line(session: &FoundSession, number: usize) -> String {
    let at = session
        .modified
        .and_then(|at| jiff::Timestamp::try_from(at).ok());
    let at = at.map_or("-".to_owned(), |at| {
        at.strftime("%Y-%m-%d %H:%M").to_string()
    });
    format!(
        "{number:>3}  {at}  {:>9.1} kB  {}",
        session.bytes as f64 / 1e3,
        session.path.display()
    )
}

/// The sessions that an answer names.
fn of_answer(words: &str, found: &[FoundSession]) -> anyhow::Result<Vec<PathBuf>> {
    if words.trim() == "all" {
        return Ok(found.iter().map(|session| session.path.clone()).collect());
    }
    let words = words
        .split([' ', ','])
        .map(str::trim)
        .filter(|word| !word.is_empty());
    let session = |word: &str| {
        let number = word.parse::<usize>().ok().filter(|number| *number > 0);
        let session = number.and_then(|number| found.get(number - 1));
        session
            .map(|session| session.path.clone())
            .ok_or_else(|| anyhow!("`{word}` is not a number in the list"))
    };
    let paths = words.map(session).collect::<anyhow::Result<Vec<_>>>()?;
    if paths.is_empty() {
        Err(anyhow!("no session was chosen"))
    } else {
        Ok(paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_names_sessions_by_number() {
        let session = |name: &str| FoundSession {
            path: name.into(),
            modified: None,
            bytes: 0,
        };
        let found = ["a", "b", "c"].map(session);
        let paths = |words: &str| of_answer(words, &found).map_err(|error| error.to_string());
        assert_eq!(paths("3, 1"), Ok(vec!["c".into(), "a".into()]));
        assert_eq!(paths(" all ").map(|paths| paths.len()), Ok(3));
        assert_eq!(
            paths("4"),
            Err("`4` is not a number in the list".to_owned())
        );
        assert_eq!(
            paths("0"),
            Err("`0` is not a number in the list".to_owned())
        );
        assert_eq!(paths(" "), Err("no session was chosen".to_owned()));
    }
}
