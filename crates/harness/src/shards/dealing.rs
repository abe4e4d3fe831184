//! Which shard a case belongs to.

use compactometer_formats::shards::{ShardRule, Shards};

/// The shard of each case, from 1, by the cases' keys.
pub fn deal(keys: &[impl AsRef<str>], shards: Shards) -> Vec<u32> {
    let count = shards.count.get();
    match shards.rule {
        ShardRule::Hash => keys
            .iter()
            .map(|key| (hash(key.as_ref()) % u64::from(count)) as u32 + 1)
            .collect(),
        ShardRule::Slice => {
            let mut order = (0..keys.len()).collect::<Vec<_>>();
            order.sort_unstable_by_key(|index| keys[*index].as_ref());
            let mut dealt = vec![0; keys.len()];
            for (rank, index) in order.into_iter().enumerate() {
                dealt[index] = (rank % count as usize) as u32 + 1;
            }
            dealt
        }
    }
}

/// A key is a hash in hexadecimal digits already.
fn hash(key: &str) -> u64 {
    key.get(..16)
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn sizes(dealt: &[u32]) -> BTreeMap<u32, usize> {
        dealt.iter().fold(BTreeMap::new(), |mut sizes, shard| {
            *sizes.entry(*shard).or_default() += 1;
            sizes
        })
    }

    proptest! {
        #[test]
        fn every_case_has_one_shard_whatever_the_others_are(
            numbers in prop::collection::btree_set(any::<u128>(), 1..200),
            count in 1_u32..40,
        ) {
            let keys = numbers.iter().map(|number| format!("{number:032x}")).collect::<Vec<_>>();
            let shards = |text: String| text.parse::<Shards>().expect("shards");
            let by_hash = deal(&keys, shards(format!("hash:{count}")));
            prop_assert!(by_hash.iter().all(|shard| (1..=count).contains(shard)));
            // A case keeps its shard if other cases leave.
            prop_assert_eq!(deal(&keys[..1], shards(count.to_string()))[0], by_hash[0]);

            let slices = sizes(&deal(&keys, shards(format!("slice:{count}"))));
            prop_assert_eq!(slices.values().sum::<usize>(), keys.len());
            let (least, most) = (keys.len() / count as usize, keys.len().div_ceil(count as usize));
            prop_assert!(slices.values().all(|size| (least..=most).contains(size)));
        }
    }
}
