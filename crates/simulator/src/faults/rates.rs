//! The rates of faults: parsed from a model's name, and drawn for a request.

use std::fmt;
use std::str::FromStr;

use compactometer_engine::model::ChatRequest;
use rand_chacha::ChaCha8Rng;

use super::{ALL, ModelFault, SYNTAX};
use compactometer_text::suggest::hint;

use crate::draw;

/// Faults with their rates and the seed of their draws. Parsed from and displayed as
/// `FAULT=RATE,FAULT=RATE[,seed=N]`.
#[derive(Clone, Debug)]
pub struct FaultRates {
    rates: Vec<(&'static ModelFault, f64)>,
    seed: u64,
}

impl FaultRates {
    /// The fault that strikes a call with this request, if any. Each strikes at its rate. Faults
    /// are drawn in the order of the list: a later one draws only if no earlier one strikes, at a
    /// rate raised to compensate.
    pub fn strikes(&self, request: &ChatRequest) -> Option<&'static ModelFault> {
        self.draw(request).map(|(fault, _)| fault)
    }

    fn add(&mut self, fault: &'static ModelFault, value: &str) -> Result<(), FaultError> {
        if self.rates.iter().any(|(other, _)| other.name == fault.name) {
            return Err(FaultError(format!(
                "fault `{}` is given twice; give each fault one rate",
                fault.name
            )));
        }
        let rate = value
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|rate| (0.0..=1.0).contains(rate));
        let invalid = || {
            FaultError(format!(
                "rate `{value}` of fault `{}` is not a number from 0 to 1",
                fault.name
            ))
        };
        let rate = rate.ok_or_else(invalid)?;
        // A negative zero is displayed without its sign.
        self.rates.push((fault, rate.abs()));
        Ok(())
    }

    /// The fault that strikes, and a generator for its own draws.
    pub(super) fn draw(&self, request: &ChatRequest) -> Option<(&'static ModelFault, ChaCha8Rng)> {
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

impl FromStr for FaultRates {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let mut faults = FaultRates {
            rates: Vec::new(),
            seed: 0,
        };
        let missing = || FaultError(format!("a fault is missing; write {SYNTAX}"));
        for entry in text.split(',').map(str::trim) {
            match entry.split_once('=') {
                None if entry.is_empty() => return Err(missing()),
                None => return Err(without_rate(fault(entry)?.name)),
                Some((SEED, value)) => {
                    faults.seed = value.parse().map_err(|_| invalid_seed(value))?
                }
                Some((name, value)) => faults.add(fault(name)?, value)?,
            }
        }
        let total: f64 = faults.rates.iter().map(|(_, rate)| rate).sum();
        match () {
            () if faults.rates.is_empty() => Err(missing()),
            () if total > 1.0 + ROUNDING => Err(FaultError(format!(
                "the rates of the faults add up to `{total}`; at most one strikes a call, so give rates of at most 1 together"
            ))),
            () => Ok(faults),
        }
    }
}

fn without_rate(name: &str) -> FaultError {
    FaultError(format!("fault `{name}` has no rate; write {SYNTAX}"))
}

impl fmt::Display for FaultRates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (fault, rate)) in self.rates.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(formatter, "{comma}{}={rate}", fault.name)?;
        }
        if self.seed == 0 {
            Ok(())
        } else {
            write!(formatter, ",{SEED}={}", self.seed)
        }
    }
}

/// The key that sets the seed of the draws in a list of faults. The default is 0.
const SEED: &str = "seed";
/// Tolerance of rounding, since rates such as ten times 0.1 do not add up to exactly 1.
const ROUNDING: f64 = 1e-9;

/// Whether a text is intended as faults rather than as part of a model's name.
pub fn are_meant(text: &str) -> bool {
    text.split(',')
        .any(|entry| entry.contains('=') || fault(entry.trim()).is_ok())
}

fn fault(name: &str) -> Result<&'static ModelFault, FaultError> {
    ALL.iter()
        .copied()
        .find(|fault| fault.name == name)
        .ok_or_else(|| {
            let names = ALL.iter().map(|fault| fault.name).collect::<Vec<_>>();
            let (choices, hint) = (names.join(", "), hint(name, names));
            FaultError(format!(
                "fault `{name}` is unknown; choose one of: {choices}{hint}"
            ))
        })
}

fn invalid_seed(value: &str) -> FaultError {
    FaultError(format!(
        "seed `{value}` of the faults is not a whole number from 0 to {}",
        u64::MAX
    ))
}

/// An invalid list of faults; the message names the entry.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct FaultError(String);
