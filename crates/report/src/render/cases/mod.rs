//! The pages of single conversations, beside a report: a list for each strategy, a page for each of
//! its conversations with what was lost, and a page with the messages, which all strategies share.
//!
//! Absent on purpose: other numbers than a reader can count on these pages.

mod case_files;
mod conversation;
mod paged;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use compactometer_disk::{create_folder, sync_folder, write_in_place, write_whole};
use compactometer_engine::tokens::CountedMessage;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::Record;
use compactometer_formats::scenario::Scenario;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::case_files::{file_name, numbered};
use self::conversation::{ConversationPage, ConversationRow};
use self::paged::{pages, span};
use super::explain::Story;
use super::{ReportError, filled, made};

/// The folder beside the report.
const FOLDER: &str = "cases";
/// What was written, in that folder. It is written last, so that a report leads to no unfinished
/// page.
const WRITTEN: &str = "written.json";

/// The pages of a run, while they are written.
pub struct Cases {
    dir: PathBuf,
    most: u64,
    bytes: u64,
    of: usize,
    conversations: usize,
    lists: BTreeMap<(Protocol, String), Vec<ConversationRow>>,
    /// The folders of pages, which are synced in the end.
    folders: BTreeSet<PathBuf>,
}

/// What was written, for the reports that lead there.
#[derive(Serialize, Deserialize)]
pub(super) struct WrittenCases {
    suite_hash: String,
    settings_hash: String,
    /// Conversations that have pages.
    conversations: usize,
    /// Conversations of the run.
    of: usize,
}

impl WrittenCases {
    /// What is beside this report, if it is of this run and whole.
    pub(super) fn read(dir: &Path, manifest: &Manifest) -> Option<Self> {
        let text = std::fs::read_to_string(dir.join(FOLDER).join(WRITTEN)).ok()?;
        let written: WrittenCases = serde_json::from_str(&text).ok()?;
        let of_run = (&written.suite_hash, &written.settings_hash)
            == (&manifest.suite_hash, &manifest.settings_hash);
        of_run.then_some(written)
    }

    /// Where the pages are not complete: how many there are, and what writes the others.
    pub(super) fn note(&self) -> Option<String> {
        (self.conversations < self.of).then(|| {
            let WrittenCases {
                conversations, of, ..
            } = self;
            let (first, have) = match conversations {
                0 => ("None".to_owned(), "has"),
                1 => ("The first".to_owned(), "has"),
                _ => (format!("The first {conversations}"), "have"),
            };
            format!("{first} of {of} conversations {have} pages; `--cases all` writes the others.")
        })
    }
}

/// The address of a strategy's list, from the report.
pub(in crate::render) fn list_address(protocol: Protocol, strategy: &str) -> String {
    format!("{FOLDER}/{}/index.html", folder_of(protocol, strategy))
}

fn folder_of(protocol: Protocol, strategy: &str) -> String {
    format!("{}-{}", protocol.name(), file_name(strategy))
}

impl Cases {
    /// Begins the pages of a run of `of` conversations, and removes those of before. At most `most`
    /// bytes will be written.
    ///
    /// # Errors
    /// [`ReportError`] if the folder cannot be emptied or made.
    pub fn begin(report: &Path, most: u64, of: usize) -> Result<Self, ReportError> {
        let dir = report.join(FOLDER);
        let failed = |source| ReportError::Io {
            path: dir.clone(),
            source,
        };
        match std::fs::remove_dir_all(&dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            _ => create_folder(&dir).map_err(failed)?,
        }
        Ok(Cases {
            dir,
            most,
            bytes: 0,
            of,
            conversations: 0,
            lists: BTreeMap::new(),
            folders: BTreeSet::new(),
        })
    }

    /// Writes the pages of a conversation: its messages, and what each of these cases lost of it.
    /// `false` if they would exceed the limit; then nothing is written.
    ///
    /// # Errors
    /// [`ReportError`] if a page cannot be made or written.
    pub fn add(
        &mut self,
        scenario: &Scenario,
        messages: &[Arc<CountedMessage>],
        cases: &[(Record, BTreeMap<String, String>)],
    ) -> Result<bool, ReportError> {
        let conversation = ConversationPage::new(
            scenario,
            messages,
            &cases.iter().map(|(record, _)| record).collect::<Vec<_>>(),
        )?;
        let mut files = conversation.files()?;
        let mut rows = Vec::new();
        for (record, texts) in cases {
            let story = Story {
                scenario,
                messages,
                record,
                texts,
                only: None,
            };
            files.extend(conversation.case_files(&story)?);
            rows.push((
                (record.case.protocol, record.case.strategy.clone()),
                conversation.row(&story),
            ));
        }
        let in_lists = rows
            .iter()
            .map(|(_, row)| span(&row.shown()))
            .sum::<usize>();
        let bytes = (files.iter().map(|file| file.text.len()).sum::<usize>() + in_lists) as u64;
        if self.bytes + bytes > self.most {
            return Ok(false);
        }
        self.bytes += bytes;
        self.conversations += 1;
        files
            .iter()
            .try_for_each(|file| self.put((&file.folder, &file.name), &file.text))?;
        rows.into_iter()
            .for_each(|(key, row)| self.lists.entry(key).or_default().push(row));
        Ok(true)
    }

    /// Writes the lists, and what a report needs to lead to them.
    ///
    /// # Errors
    /// [`ReportError`] if a file cannot be made or written.
    pub fn finish(mut self, manifest: &Manifest) -> Result<(), ReportError> {
        let written = WrittenCases {
            suite_hash: manifest.suite_hash.clone(),
            settings_hash: manifest.settings_hash.clone(),
            conversations: self.conversations,
            of: self.of,
        };
        for ((protocol, strategy), mut rows) in std::mem::take(&mut self.lists) {
            // The greatest losses first.
            rows.sort_by(|one, other| one.share_kept().total_cmp(&other.share_kept()));
            let rows = rows.iter().map(ConversationRow::shown).collect::<Vec<_>>();
            let parts = pages(0, rows.iter().map(span));
            for (at, part) in parts.iter().enumerate() {
                let page = json!({
                    "title": format!("{strategy}: what it lost of each conversation"),
                    "strategy": strategy,
                    "protocol": protocol.name(),
                    "rows": rows[part.clone()],
                    "note": written.note(),
                    "at": at,
                    "pages": (0..parts.len()).map(|page| numbered("index", page)).collect::<Vec<_>>(),
                });
                let text = filled("list.html", include_str!("list.html"), &page)?;
                self.put(
                    (&folder_of(protocol, &strategy), &numbered("index", at)),
                    &text,
                )?;
            }
        }
        for folder in &self.folders {
            sync_folder(folder).map_err(|source| ReportError::Io {
                path: folder.clone(),
                source,
            })?;
        }
        let json =
            serde_json::to_string_pretty(&written).map_err(|error| made(WRITTEN, &error))? + "\n";
        let path = self.dir.join(WRITTEN);
        write_whole(&path, |out| out.write_all(json.as_bytes()))
            .map_err(|source| ReportError::Io { path, source })
    }

    /// Writes a page. Nothing leads to it before [`Cases::finish`], so it need not be replaced as a
    /// whole.
    fn put(&mut self, (folder, name): (&str, &str), text: &str) -> Result<(), ReportError> {
        let folder = self.dir.join(folder);
        if !self.folders.contains(&folder) {
            create_folder(&folder).map_err(|source| ReportError::Io {
                path: folder.clone(),
                source,
            })?;
            self.folders.insert(folder.clone());
        }
        let path = folder.join(name);
        write_in_place(&path, text.as_bytes()).map_err(|source| ReportError::Io { path, source })
    }
}
