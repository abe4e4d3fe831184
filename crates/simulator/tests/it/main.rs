//! The mock and the faults at their boundary: requests go in, replies come out.

mod extraction;
mod faults;
mod many;
mod material;
mod metamorphic;
mod profiles;
mod prompts;
mod properties;
mod sessions;
mod shapes;
