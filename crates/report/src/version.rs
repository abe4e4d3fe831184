//! The order of names with numbers in them, such as versions.

/// A name in pieces of digits and of other characters: version 2.10 comes after 2.9.
pub(crate) type VersionOrder = Vec<VersionPiece>;

#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum VersionPiece {
    Number(u64),
    Text(String),
}

pub(crate) fn in_order(name: &str) -> VersionOrder {
    let runs = name
        .as_bytes()
        .chunk_by(|left, right| left.is_ascii_digit() == right.is_ascii_digit());
    let text = |run: &[u8]| String::from_utf8_lossy(run).into_owned();
    runs.map(|run| {
        text(run)
            .parse()
            .map_or_else(|_| VersionPiece::Text(text(run)), VersionPiece::Number)
    })
    .collect()
}
