//! Seeded random draws, keyed by what was read and the same on every platform.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A generator keyed by a seed and by bytes.
pub(crate) fn keyed<'b>(
    purpose: &str,
    seed: u64,
    bytes: impl IntoIterator<Item = &'b [u8]>,
) -> ChaCha8Rng {
    // Hashed in one piece, because many short pieces take the hasher longer.
    let mut whole = opened(purpose, seed);
    for piece in bytes {
        whole.extend((piece.len() as u64).to_le_bytes());
        whole.extend(piece);
    }
    ChaCha8Rng::from_seed(*blake3::hash(&whole).as_bytes())
}

/// [`keyed`] for one piece that is given in several.
pub(crate) fn keyed_by_whole(purpose: &str, seed: u64, pieces: &[&[u8]]) -> ChaCha8Rng {
    let length = pieces.iter().map(|piece| piece.len() as u64).sum::<u64>();
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(&opened(purpose, seed))
        .update(&length.to_le_bytes());
    for piece in pieces {
        hasher.update(piece);
    }
    ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
}

fn opened(purpose: &str, seed: u64) -> Vec<u8> {
    [purpose.as_bytes(), &seed.to_le_bytes()].concat()
}

/// Uniform in the open interval from 0 to 1.
pub(crate) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    ((rng.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

/// Logistic with mean 0 and scale 1.
pub(crate) fn logistic(rng: &mut ChaCha8Rng) -> f64 {
    let share = uniform(rng);
    libm::log(share / (1.0 - share))
}

/// Lognormal with the given median and 95th percentile.
pub(crate) fn lognormal(rng: &mut ChaCha8Rng, p50: f64, p95: f64) -> f64 {
    /// The 95th percentile of the standard normal distribution.
    const Z95: f64 = 1.644_853_626_951_472_7;
    p50 * libm::exp(normal(rng) * libm::log(p95 / p50) / Z95)
}

/// Normal with mean 0 and scale 1.
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (uniform(rng), uniform(rng));
    libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(std::f64::consts::TAU * angle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_has_its_percentiles() {
        let mut rng = keyed("test", 1, []);
        let mut draws = (0..20_000)
            .map(|_| lognormal(&mut rng, 2.9, 9.5))
            .collect::<Vec<_>>();
        draws.sort_by(f64::total_cmp);
        assert!((draws[10_000] - 2.9).abs() < 0.1, "{}", draws[10_000]);
        assert!((draws[19_000] - 9.5).abs() < 0.5, "{}", draws[19_000]);
    }

    #[test]
    fn a_whole_may_be_given_in_pieces() {
        let draws = |mut rng: ChaCha8Rng| [rng.next_u64(), rng.next_u64()];
        let whole = draws(keyed("test", 3, [b"one and two".as_slice()]));
        assert_eq!(
            draws(keyed_by_whole("test", 3, &[b"one", b"", b" and two"])),
            whole
        );
        assert_ne!(
            draws(keyed("test", 3, [b"one".as_slice(), b" and two"])),
            whole
        );
    }

    #[test]
    fn logistic_is_centred() {
        let mut rng = keyed("test", 2, [b"x".as_slice()]);
        let mean = (0..20_000).map(|_| logistic(&mut rng)).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.05, "{mean}");
    }
}
