//! Packs what counting needs of each vocabulary: making it takes seconds, reading it milliseconds.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::thread;

use bpe::byte_pair_encoding::BytePairEncoding;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use packed::Packed;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_bytes::ByteBuf;
use tiktoken_rs::CoreBPE;

#[path = "src/packed.rs"]
mod packed;

type Failure = Box<dyn Error + Send + Sync>;

/// Without it two tokens of o200k_base would have one hash: bpe-openai 0.3 found it for both
/// vocabularies.
const HASH_FACTOR: u64 = 17_846_336_922_010_275_747;

/// The fields of [`BytePairEncoding`], in their order.
#[derive(Deserialize)]
struct Fields(
    IgnoredAny,
    IgnoredAny,
    IgnoredAny,
    Vec<(u32, u32)>,
    IgnoredAny,
    ByteBuf,
    ByteBuf,
    IgnoredAny,
    Vec<u32>,
    IgnoredAny,
);

fn main() -> Result<(), Failure> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/packed.rs");
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    let write = |name: &str, encoding: CoreBPE| {
        std::fs::write(folder.join(name), packed(tokens(&encoding))?)?;
        Ok(())
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| write("cl100k_base", tiktoken_rs::cl100k_base()?));
        write("o200k_base", tiktoken_rs::o200k_base()?)?;
        other.join().map_err(|_| "see above")?
    })
}

/// The tokens by their numbers; the special ones come after a gap.
fn tokens(encoding: &CoreBPE) -> Vec<Vec<u8>> {
    (0..)
        .map_while(|number| encoding.decode_bytes(&[number]).ok())
        .collect()
}

fn packed(tokens: Vec<Vec<u8>>) -> Result<Vec<u8>, Failure> {
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let small = BytePairEncoding::from_dictionary(bytes, None);
    let Fields(.., unused_searcher, _, _, _) = fields(&small)?;
    let lengths = tokens.iter().map(|token| u8::try_from(token.len()));
    let lengths = lengths.collect::<Result<Vec<_>, _>>()?;
    let encoding = BytePairEncoding::from_dictionary(tokens, Some(HASH_FACTOR));
    let Fields(.., splits, _, searcher, _, _, prefixes, _) = fields(&encoding)?;
    let needed = Packed {
        lengths: ByteBuf::from(lengths),
        splits,
        searcher,
        unused_searcher,
        prefixes,
    };
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&rmp_serde::to_vec(&needed)?)?;
    Ok(packed.finish()?)
}

fn fields(encoding: &BytePairEncoding) -> Result<Fields, Failure> {
    Ok(rmp_serde::from_slice(&rmp_serde::to_vec(encoding)?)?)
}
