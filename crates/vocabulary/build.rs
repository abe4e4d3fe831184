//! Packs what counting needs of each vocabulary: making it takes seconds, reading it milliseconds.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use bpe::byte_pair_encoding::BytePairEncoding;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use tiktoken_rs::CoreBPE;

/// Without it two tokens of o200k_base would have one hash: bpe-openai 0.3 found it for both
/// vocabularies.
const HASH_FACTOR: u64 = 17_846_336_922_010_275_747;

/// The fields of [`BytePairEncoding`], in their order.
#[derive(Serialize, Deserialize)]
struct Fields {
    all_tokens: Vec<u8>,
    token_starts: Vec<u32>,
    bytes_hash_to_token: BTreeMap<u32, u32>,
    split_table: Vec<(u32, u32)>,
    pair_lookup: BTreeMap<(u32, u32), u32>,
    longest_searcher: ByteBuf,
    overlapping_searcher: ByteBuf,
    overlapping_searcher_rev: ByteBuf,
    next_prefix_match: Vec<u32>,
    hash_factor: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    for (name, encoding) in [
        ("o200k_base", tiktoken_rs::o200k_base()?),
        ("cl100k_base", tiktoken_rs::cl100k_base()?),
    ] {
        std::fs::write(folder.join(name), packed(tokens(&encoding))?)?;
    }
    Ok(())
}

/// The tokens by their numbers; the special ones come after a gap.
fn tokens(encoding: &CoreBPE) -> Vec<Vec<u8>> {
    (0..)
        .map_while(|number| encoding.decode_bytes(&[number]).ok())
        .collect()
}

/// A vocabulary without what only other work than counting needs, which is two thirds of it.
fn packed(tokens: Vec<Vec<u8>>) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let empty = fields(&BytePairEncoding::from_dictionary(bytes, None))?;
    let needed = Fields {
        all_tokens: Vec::new(),
        bytes_hash_to_token: BTreeMap::new(),
        overlapping_searcher: empty.overlapping_searcher,
        overlapping_searcher_rev: empty.overlapping_searcher_rev,
        ..fields(&BytePairEncoding::from_dictionary(
            tokens,
            Some(HASH_FACTOR),
        ))?
    };
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&rmp_serde::to_vec(&needed)?)?;
    Ok(packed.finish()?)
}

fn fields(encoding: &BytePairEncoding) -> Result<Fields, Box<dyn Error>> {
    Ok(rmp_serde::from_slice(&rmp_serde::to_vec(encoding)?)?)
}
