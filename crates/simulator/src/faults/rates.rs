//! Which faults strike at which rates: read from a name, drawn for a request.

use std::fmt;
use std::str::FromStr;

use compactometer_engine::model::ChatRequest;
use rand_chacha::ChaCha8Rng;

use super::{ALL, Fault, SYNTAX};
use compactometer_text::suggest::hint;

use crate::mock::draw;

/// Faults with their rates and the seed of their draws. Read from and shown as `FAULT=RATE,FAULT=RATE[,seed=N]`.
#[derive(Clone, Debug)]
pub struct Faults {
    rates: Vec<(&'static Fault, f64)>,
    seed: u64,
}

impl Faults {
    /// The fault that strikes a call with this request; at most one. Each strikes at its rate, in the order of the list:
    /// one further back draws only where those before it do not strike, at a rate raised by as much.
    pub fn strikes(&self, request: &ChatRequest) -> Option<&'static Fault> {
        self.draw(request).map(|(fault, _)| fault)
    }

    fn add(&mut self, fault: &'static Fault, value: &str) -> Result<(), FaultError> {
        if self.rates.iter().any(|(other, _)| other.name == fault.name) {
            return Err(FaultError::Twice { fault: fault.name });
        }
        let rate = value.trim().parse::<f64>().ok().filter(|rate| (0.0..=1.0).contains(rate));
        let rate = rate.ok_or_else(|| FaultError::Rate { fault: fault.name, given: value.to_owned() })?;
        // A zero with a sign is shown without it.
        self.rates.push((fault, rate.abs()));
        Ok(())
    }

    /// The fault that strikes, and a generator for what it draws.
    pub(super) fn draw(&self, request: &ChatRequest) -> Option<(&'static Fault, ChaCha8Rng)> {
        let bytes = serde_json::to_vec(request).unwrap_or_default();
        let mut left = 1.0;
        for &(fault, rate) in &self.rates {
            let mut rng = draw::keyed(fault.name, self.seed, [bytes.as_slice()]);
            if draw::uniform(&mut rng) * left < rate {
                return Some((fault, rng));
            }
            left -= rate;
        }
        None
    }
}

impl FromStr for Faults {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let mut faults = Faults { rates: Vec::new(), seed: 0 };
        for entry in text.split(',').map(str::trim) {
            match entry.split_once('=') {
                None if entry.is_empty() => return Err(FaultError::Missing),
                None => return Err(FaultError::Rateless { fault: fault(entry)?.name }),
                Some((SEED, value)) => {
                    faults.seed = value.parse().map_err(|_| FaultError::Seed { given: value.to_owned() })?;
                }
                Some((name, value)) => faults.add(fault(name)?, value)?,
            }
        }
        let total: f64 = faults.rates.iter().map(|(_, rate)| rate).sum();
        if faults.rates.is_empty() {
            return Err(FaultError::Missing);
        }
        if total > 1.0 + ROUNDING {
            return Err(FaultError::Total { total });
        }
        Ok(faults)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (fault, rate)) in self.rates.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(formatter, "{comma}{}={rate}", fault.name)?;
        }
        if self.seed == 0 { Ok(()) } else { write!(formatter, ",{SEED}={}", self.seed) }
    }
}

/// Stands in a list of faults for the seed of the draws; the default is 0.
const SEED: &str = "seed";
/// Rates such as ten times 0.1 add up to 1 only roughly.
const ROUNDING: f64 = 1e-9;

/// Whether a text is meant as faults rather than as part of a model's name.
pub fn are_meant(text: &str) -> bool {
    text.split(',').any(|entry| entry.contains('=') || fault(entry.trim()).is_ok())
}

fn fault(name: &str) -> Result<&'static Fault, FaultError> {
    ALL.iter().copied().find(|fault| fault.name == name).ok_or_else(|| {
        let names = ALL.iter().map(|fault| fault.name).collect::<Vec<_>>();
        FaultError::Unknown {
            given: name.to_owned(),
            hint: hint(name, names.iter().copied()),
            choices: names.join(", "),
        }
    })
}

/// A text that names no faults.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FaultError {
    /// No such fault.
    #[error("fault `{given}` is unknown; choose one of: {choices}{hint}")]
    Unknown {
        /// What was given.
        given: String,
        /// The faults.
        choices: String,
        /// The nearest fault as a clause, or nothing.
        hint: String,
    },
    /// A fault without a rate.
    #[error("fault `{fault}` has no rate; write {SYNTAX}")]
    Rateless {
        /// The fault.
        fault: &'static str,
    },
    /// A rate that is none.
    #[error("rate `{given}` of fault `{fault}` is not a number from 0 to 1")]
    Rate {
        /// The fault.
        fault: &'static str,
        /// What was given.
        given: String,
    },
    /// A seed that is none.
    #[error("seed `{given}` of the faults is not a whole number from 0 to {}", u64::MAX)]
    Seed {
        /// What was given.
        given: String,
    },
    /// A fault that stands twice.
    #[error("fault `{fault}` is given twice; give each fault one rate")]
    Twice {
        /// The fault.
        fault: &'static str,
    },
    /// More faults than calls.
    #[error(
        "the rates of the faults add up to `{total}`; at most one strikes a call, so give rates of at most 1 together"
    )]
    Total {
        /// The sum of the rates.
        total: f64,
    },
    /// No fault at all, or nothing between two commas.
    #[error("a fault is missing; write {SYNTAX}")]
    Missing,
}
