//! Foils: values of the same shape that occur nowhere in the conversation. They are generated,
//! never copied.

use std::collections::BTreeSet;

use compactometer_formats::scenario::ValueKind;
use compactometer_text::matcher::Matcher;

/// The number of foils for each value.
const FOILS: usize = 5;
/// Candidates per round, so that a second round is seldom needed.
const DRAFTS: usize = 8;
/// The largest number of rounds. A short number in a long import may have no free values of its
/// shape.
const ROUNDS: u64 = 4;

/// Five foils for each value, or fewer if its shape allows no more. None of them occurs in `texts`.
pub(crate) fn make<'t>(
    values: &[(ValueKind, &str)],
    texts: impl Iterator<Item = &'t str> + Clone,
) -> Vec<Vec<String>> {
    let mut foils: Vec<BTreeSet<String>> = vec![BTreeSet::new(); values.len()];
    let mut kept: Vec<Vec<String>> = vec![Vec::new(); values.len()];
    for round in 0..ROUNDS {
        let mut drafts: Vec<(usize, String)> = Vec::new();
        for (item, (_, value)) in values
            .iter()
            .enumerate()
            .filter(|(item, _)| kept[*item].len() < FOILS)
        {
            let fresh = draw(value, round)
                .into_iter()
                .filter(|foil| foils[item].insert(foil.clone()));
            drafts.extend(fresh.map(|foil| (item, foil)));
        }
        if drafts.is_empty() {
            break;
        }
        let matcher = Matcher::new(
            drafts
                .iter()
                .map(|(item, foil)| (values[*item].0, [foil.as_str()])),
        );
        let mut present = vec![false; drafts.len()];
        texts
            .clone()
            .for_each(|text| matcher.mark(text, &mut present));
        for ((item, foil), _) in drafts
            .into_iter()
            .zip(present)
            .filter(|(_, present)| !present)
        {
            if kept[item].len() < FOILS {
                kept[item].push(foil);
            }
        }
    }
    kept
}

/// Candidates of one round, which have the value's shape and differ from it.
fn draw(value: &str, round: u64) -> Vec<String> {
    // The stream extends the value's own hash, so a value has the same foils in every import that
    // does not mention them.
    let mut stream = blake3::Hasher::new()
        .update(value.as_bytes())
        .update(&round.to_le_bytes())
        .finalize_xof();
    let mut below = |limit: u32| {
        let mut bytes = [0; 4];
        stream.fill(&mut bytes);
        u32::from_le_bytes(bytes) % limit
    };
    let mut drawn = Vec::new();
    for _ in 0..DRAFTS {
        let mut leading = true;
        let foil: String = value
            .chars()
            .map(|letter| {
                let (first, count) = match letter {
                    // A leading digit other than zero stays so, which keeps the number's length.
                    '1'..='9' if leading => ('1', 9),
                    '0'..='9' => ('0', 10),
                    'a'..='z' => ('a', 26),
                    'A'..='Z' => ('A', 26),
                    other => (other, 1),
                };
                leading = !letter.is_ascii_alphanumeric();
                char::from_u32(u32::from(first) + below(count)).unwrap_or(letter)
            })
            .collect();
        if !foil.eq_ignore_ascii_case(value) {
            drawn.push(foil);
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foils_keep_the_shape_and_avoid_the_texts() {
        let value = "Ab-10/x_9.tsx";
        let first = make(&[(ValueKind::Path, value)], std::iter::empty());
        let taken = first[0][0].clone();
        let again = make(&[(ValueKind::Path, value)], [taken.as_str()].into_iter());
        assert_eq!((first[0].len(), again[0].len()), (FOILS, FOILS));
        assert!(!again[0].contains(&taken));
        for foil in &again[0] {
            let shape = |text: &str| {
                text.chars()
                    .map(|letter| match letter {
                        'a'..='z' => 'a',
                        'A'..='Z' => 'A',
                        '0'..='9' => '9',
                        other => other,
                    })
                    .collect::<String>()
            };
            assert_eq!(shape(foil), shape(value));
            assert_ne!(foil, value);
        }
    }

    #[test]
    fn a_shape_without_free_values_gives_no_foils() {
        let all = (0..100)
            .map(|number| format!("é{number:02}é"))
            .collect::<Vec<_>>()
            .join(" ");
        let foils = make(&[(ValueKind::Id, "é07é")], [all.as_str()].into_iter());
        assert!(foils[0].is_empty(), "{foils:?}");
    }
}
