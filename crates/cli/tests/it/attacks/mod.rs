//! Ways to look better than one is. Each must fail, on the suite that a plain run uses.

mod failing;
mod summarizers;
mod tails;
mod values;
