//! Reads the order that an answer gives, from the labels of the question's items.
//!
//! Absent on purpose: items that an answer names in other words than their labels. Such an answer
//! gives no order.

/// The labels that the answer holds as words, by their index in `labels`, in the order of their
/// first occurrence. If no label occurs as it was given, upper and lower case are equal.
pub(crate) fn read(labels: &[String], answer: &str) -> Vec<u32> {
    let exact = places(answer, |word| labels.iter().position(|label| label == word));
    if exact.is_empty() {
        return places(answer, |word| {
            labels
                .iter()
                .position(|label| label.eq_ignore_ascii_case(word))
        });
    }
    exact
}

fn places(answer: &str, place: impl Fn(&str) -> Option<usize>) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    for place in answer
        .split(|letter: char| !letter.is_alphanumeric())
        .filter_map(place)
    {
        if !found.contains(&(place as u32)) {
            found.push(place as u32);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_in_any_dress() {
        let labels = ["R", "P", "S"].map(str::to_owned);
        for (answer, expected) in [
            ("R, P, S", vec![0, 1, 2]),
            ("1. (S) 2. (R) 3. (P)", vec![2, 0, 1]),
            ("s -> p -> r", vec![2, 1, 0]),
            ("First came P, then S; it's P before S.", vec![1, 2]),
            ("RPS", vec![]),
            ("UNKNOWN", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(read(&labels, answer), expected, "{answer}");
        }
    }
}
