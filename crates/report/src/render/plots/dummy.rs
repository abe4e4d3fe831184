//! A picture for tests: it is named only in the registry, and must be found in every file and page.

use compactometer_formats::summary::Group;

use super::figure::Figure;
use super::{Plot, WIDTH, header};
use crate::data::ProtocolRun;

pub(crate) const NAME: &str = "dummy_picture";

pub(super) fn plot(_: &ProtocolRun, group: &Group) -> Plot {
    let row = |at: usize| vec![format!("{}-{at}", group.suite)];
    Plot {
        name: NAME.to_owned(),
        title: "A picture for tests",
        caption: "Nothing is drawn.".to_owned(),
        figure: Figure::new(WIDTH, 100.0),
        rows: std::iter::once(header(&["row"]))
            .chain((0..9).map(row))
            .collect(),
    }
}
