//! The price table: an accepted table has a price for the mock and only finite prices, and survives
//! a round trip.

use compactometer_formats::prices::{PriceTable, PriceTier};

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let table = match PriceTable::parse(text) {
        Ok(table) => table,
        Err(error) => {
            // The TOML parser gives no place if it stops at its recursion limit.
            let has_place = error.to_string().contains(['`', '|'])
                || error.to_string().contains("recursion limit");
            assert!(has_place, "no place: {error}");
            return false;
        }
    };
    assert!(table.row("mock").is_some());
    for row in &table.model {
        let of_tier =
            |tier: PriceTier| [tier.input, tier.cache_write, tier.cache_read, tier.output];
        let mut prices = row.tiers().flat_map(of_tier);
        assert!(
            prices.all(|price| price.is_finite() && price >= 0.0),
            "{row:?}"
        );
        assert!(
            row.tiers()
                .map(|tier| tier.above_tokens)
                .is_sorted_by(|one, next| one < next),
            "{row:?}"
        );
        assert!(
            row.cache.granularity_tokens > 0 && row.cache.prefix_order.len() == 3,
            "{row:?}"
        );
    }
    let written = toml::to_string(&table).expect("a table that was read can be written");
    assert_eq!(
        PriceTable::parse(&written).expect("what is written reads"),
        table
    );
    true
}
