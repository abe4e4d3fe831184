//! Server-sent events: bytes in, data out.
//!
//! Own code, not a crate: the limits on time and size lie on the chunks, and event names, ids and reconnecting are not needed.

/// What has come of a stream and is no whole event yet.
#[derive(Debug, Default)]
pub(super) struct Events {
    rest: Vec<u8>,
    data: Vec<u8>,
}

impl Events {
    /// Takes the next bytes; gives the data of each event that they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.rest.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut start = 0;
        while let Some(end) = self.rest[start..].iter().position(|byte| *byte == b'\n') {
            let line = self.rest[start..start + end].to_vec();
            start += end + 1;
            events.extend(self.line(line.strip_suffix(b"\r").unwrap_or(&line)));
        }
        self.rest.drain(..start);
        events
    }

    /// An empty line ends an event; only `data` counts.
    fn line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return (!data.is_empty()).then_some(data);
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
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
    fn an_event_that_is_not_ended_does_not_come() {
        assert_eq!(Events::default().push(b"data: 1\ndata: 2"), Vec::<Vec<u8>>::new());
    }
}
