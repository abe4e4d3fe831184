//! Server-sent events: bytes in, data out.
//!
//! Own code, not a crate: the limits on time and size lie on the chunks, and event names, ids and
//! reconnecting are not needed.

/// What has come of a stream and is not a whole event yet.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The unfinished line.
    rest: Vec<u8>,
    /// The lines of data so far, if there are any.
    data: Option<Vec<u8>>,
    /// Whether the first line, which a byte order mark may precede, has been read.
    has_begun: bool,
}

impl Events {
    /// Takes the next bytes; gives the data of each event that they complete. It looks at each byte
    /// once, however long the line.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.rest.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.rest);
            events.extend(self.line(&line));
        }
        self.rest.extend_from_slice(bytes);
        events
    }

    /// An empty line ends an event; only `data` counts.
    fn line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let line = line
            .strip_prefix(b"\xef\xbb\xbf")
            .filter(|_| is_first)
            .unwrap_or(line);
        if line.is_empty() {
            return self.data.take().filter(|data| !data.is_empty());
        }
        let piece = line.strip_prefix(b"data:")?;
        let piece = piece.strip_prefix(b" ").unwrap_or(piece);
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(piece);
            }
            None => self.data = Some(piece.to_vec()),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = ": comment\r\nevent: x\ndata: {\"a\":\ndata: 1}\n\ndata:caf\u{e9}\r\n\r\n\ndata: [DONE]\n\n";

    proptest! {
        #[test]
        fn events_do_not_depend_on_where_the_stream_is_cut(cuts in proptest::collection::vec(0..STREAM.len(), 0..8)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let (mut events, mut found, mut start) = (Events::default(), Vec::new(), 0);
            for cut in cuts.into_iter().chain([STREAM.len()]) {
                found.extend(events.push(&STREAM.as_bytes()[start..cut]));
                start = cut;
            }
            let expected = ["{\"a\":\n1}", "caf\u{e9}", "[DONE]"].map(|data| data.as_bytes().to_vec());
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_byte_order_mark_precedes_the_first_line_only() {
        let stream = b"\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n";
        assert_eq!(Events::default().push(stream), [b"1".to_vec()]);
    }

    #[test]
    fn an_empty_line_of_data_counts() {
        assert_eq!(
            Events::default().push(b"data:\ndata: 1\n\ndata:\n\n"),
            [b"\n1".to_vec()]
        );
    }

    /// Rereading such a line from its beginning with each chunk would take hours.
    #[test]
    fn a_line_of_many_chunks_is_read_once() {
        let (mut events, chunk, chunks) = (Events::default(), [b'a'; 1 << 10], 1 << 16);
        assert!(events.push(b"data:").is_empty());
        for _ in 0..chunks {
            assert!(events.push(&chunk).is_empty());
        }
        assert_eq!(
            events
                .push(b"\n\n")
                .iter()
                .map(Vec::len)
                .collect::<Vec<_>>(),
            [chunks * chunk.len()]
        );
    }

    #[test]
    fn an_event_that_is_not_ended_does_not_come() {
        assert_eq!(
            Events::default().push(b"data: 1\ndata: 2"),
            Vec::<Vec<u8>>::new()
        );
    }
}
