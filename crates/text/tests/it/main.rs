//! The crate as its callers use it.

mod hard;
