//! How checkpoints come back, when they are written, and who writes them (the strategic plan, parts
//! 3, 8 and 9).

mod shown;
mod stage;
mod written;
