//! A text in compressed form, against a dictionary that is another text like it.

use std::io;

/// The library's own default; a higher one saves little on texts of a few kilobytes.
const LEVEL: i32 = 3;

/// Most bytes of one text: what a torn store announces is not believed beyond it.
pub(crate) const MOST: usize = 1 << 30;

/// Compresses a text; the same dictionary, empty for none, gives it back.
///
/// # Errors
/// Where it is longer than [`MOST`].
pub(crate) fn pack(plain: &[u8], dictionary: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::with_dictionary(LEVEL, dictionary)?;
    compressor.include_checksum(true)?;
    let packed = compressor.compress(plain)?;
    if plain.len().max(packed.len()) > MOST {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "what one commit keeps is longer than 1 GiB",
        ));
    }
    Ok(packed)
}

/// A text of that many bytes.
///
/// # Errors
/// Where it is torn, or was packed with another dictionary.
pub(crate) fn unpack(packed: &[u8], plain_bytes: usize, dictionary: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::Decompressor::with_dictionary(dictionary)?.decompress(packed, plain_bytes)
}
