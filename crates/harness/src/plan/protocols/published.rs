//! `published`: each strategy's own limits, times the run's scale. Controls have those of the
//! window.

use compactometer_formats::protocol::Protocol;

use super::{ProtocolSpec, matched};

pub(super) const SPEC: ProtocolSpec = ProtocolSpec {
    protocol: Protocol::Published,
    claims: |_| Ok(false),
    frame: |ground| matched::of_window(ground, Protocol::Published),
};
