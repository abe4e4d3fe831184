//! The files that calls touched, each as a statement of its own: `src/cart.rs (modified)`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::reading::cues::{Cue, Cues};
use crate::reading::message::ReadMessage;
use crate::reading::pieces::{MaterialTurn, PieceContext, StatedPiece, Voice};
use crate::reading::read_calls::Touch;
use crate::reading::statements::Statement;

/// The files of a material, in the order of their first call.
#[derive(Default)]
pub(crate) struct Files {
    files: Vec<ListedFile>,
}

struct ListedFile {
    path: String,
    text: String,
    piece: StatedPiece,
    touch: Touch,
    /// The turn of its last call.
    turn: usize,
}

impl Files {
    /// The files that the calls of these turns touch. `read` has what was read of each.
    pub(crate) fn new(read: &[Arc<ReadMessage>]) -> Self {
        let mut touched: Vec<(&str, Touch, usize)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let all = read.iter().enumerate();
        for (turn, file) in
            all.flat_map(|(turn, read)| read.files.iter().map(move |file| (turn, file)))
        {
            let at = *places.entry(&file.path).or_insert(touched.len());
            match touched.get_mut(at) {
                Some((_, touch, last)) => {
                    *last = turn;
                    // A file that is written again was there before.
                    *touch = match (*touch, file.touch) {
                        (_, Touch::Created) => Touch::Modified,
                        (known, new) => known.max(new),
                    };
                }
                None => touched.push((&file.path, file.touch, turn)),
            }
        }
        // An earlier summary names a file relative to the folder of the work.
        let absolute: Vec<&str> = touched
            .iter()
            .map(|(path, ..)| *path)
            .filter(|path| path.starts_with('/'))
            .collect();
        let is_first_name = |(path, ..): &(&str, Touch, usize)| {
            let is_same = |other: &&str| {
                other
                    .strip_suffix(path)
                    .is_some_and(|folder| folder.ends_with('/'))
            };
            path.starts_with('/') || !absolute.iter().any(is_same)
        };
        let file = |(path, touch, turn): (&str, Touch, usize)| {
            let text = format!("{path} ({})", why(touch));
            let piece = StatedPiece::read(&text, 0, 0, &CALLED)?;
            Some(ListedFile {
                path: path.to_owned(),
                text,
                piece,
                touch,
                turn,
            })
        };
        Files {
            files: touched
                .into_iter()
                .filter(is_first_name)
                .filter_map(file)
                .collect(),
        }
    }

    /// A statement for each file, given those of the material and its turns.
    pub(crate) fn statements<'f>(&'f self, turns: &[MaterialTurn<'_>]) -> Vec<Statement<'f>> {
        let total = turns
            .iter()
            .map(|turn| turn.text.len())
            .sum::<usize>()
            .max(1);
        let starts: Vec<usize> = turns
            .iter()
            .scan(0, |before, turn| {
                Some(std::mem::replace(before, *before + turn.text.len()))
            })
            .collect();
        let mut cues = Cues::default();
        cues.add(Cue::Reference, 1.0);
        let statement = |file: &'f ListedFile| Statement {
            text: &file.text,
            position: starts[file.turn] as f64 / total as f64,
            at: starts[file.turn],
            turn: file.turn,
            cues,
            piece: &file.piece,
            touch: Some(file.touch),
        };
        self.files.iter().map(statement).collect()
    }

    /// The path of each file by its name without a folder, or nothing if several have the name.
    pub(crate) fn by_base_name(&self) -> HashMap<&str, Option<&str>> {
        let mut paths: HashMap<&str, Option<&str>> = HashMap::new();
        for ListedFile { path, .. } in &self.files {
            let Some((folder, name)) = path.rsplit_once('/') else {
                continue;
            };
            let is_other = |known: &&str| *known != path;
            if !folder.is_empty() {
                let known = paths.entry(name).or_insert(Some(path));
                *known = known.filter(|known| !is_other(known));
            }
        }
        paths
    }
}

const CALLED: PieceContext = PieceContext {
    speaker: Voice::Call,
    is_long: false,
    fenced: false,
    is_decoded: true,
    is_address: true,
    heading: None,
};

/// Why a file is named.
pub(crate) fn why(touch: Touch) -> &'static str {
    match touch {
        Touch::Read => "read",
        Touch::Created => "created",
        Touch::Modified => "modified",
    }
}
