//! An importer for tests: it is named only in the registry, and must be found in every list, hint
//! and import.

use std::collections::BTreeSet;

use compactometer_engine::message::{Part, Role};

use crate::import::importer::Importer;
use crate::import::place::Place;
use crate::import::session::{ReadSession, Spoken};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "dummy-format",
    about: "one message of the user after the word `dummy`",
    source: "tests",
    compactions: "None.",
    particulars: "nothing",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| text.starts_with("dummy"),
    read: |input, _| {
        let parts = vec![Part::Text {
            text: input.text.clone(),
        }];
        Ok(vec![ReadSession {
            file: input.file.clone(),
            source: "dummy".to_owned(),
            group: "dummy".to_owned(),
            projects: BTreeSet::new(),
            directories: Vec::new(),
            version: None,
            starts_inside: false,
            stem: "dummy".to_owned(),
            numbered: false,
            order: 0,
            compactions: Vec::new(),
            notes: Default::default(),
            questions: Vec::new(),
            messages: vec![Spoken {
                place: Place::Line(1),
                role: Role::User,
                at_ms: None,
                parts,
                usage: None,
            }],
        }])
    },
};
