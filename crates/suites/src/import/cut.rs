//! A transcript as it was right after a compaction.

/// The lines up to the one that records a compaction, which counts from 1, with the summary where
/// the next lines hold it.
pub fn up_to_compaction(text: &str, line: usize) -> &str {
    let mut ends = text.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some((*at, line))
    });
    let end = ends
        .nth(line.saturating_sub(1))
        .map_or(text.len(), |(end, _)| end);
    let is_summary = |line: &str| {
        line.contains("\"isCompactSummary\":true") || line.contains("\"isCompactSummary\": true")
    };
    let summary = ends.take(SUMMARY_WITHIN).find(|(_, line)| is_summary(line));
    &text[..summary.map_or(end, |(end, _)| end)]
}

/// A program that writes its summary as a message of its own writes it within so many lines.
const SUMMARY_WITHIN: usize = 5;

#[cfg(test)]
mod tests {
    use super::up_to_compaction;

    #[test]
    fn the_transcript_ends_with_the_compaction_and_its_summary() {
        let text = "a\nboundary\n{\"isCompactSummary\":true}\nlater\n";
        assert_eq!(
            up_to_compaction(text, 2),
            "a\nboundary\n{\"isCompactSummary\":true}\n"
        );
        assert_eq!(up_to_compaction("a\nb\nc", 2), "a\nb\n");
        assert_eq!(up_to_compaction("a\nb\nc", 3), "a\nb\nc");
        assert_eq!(up_to_compaction("a", 9), "a");
    }
}
