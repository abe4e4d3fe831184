//! Every token of a vocabulary against tiktoken-rs, which has its bytes.

use compactometer_vocabulary::{Vocabulary, cl100k_base, o200k_base};
use tiktoken_rs::CoreBPE;

fn check(vocabulary: &Vocabulary, theirs: &CoreBPE, tokens: u32) {
    for token in 0..tokens {
        let bytes = theirs.decode_bytes(&[token]).expect("it is a token");
        assert_eq!(vocabulary.token_len(token), bytes.len(), "token {token}");
        assert_eq!(vocabulary.encode(&bytes), [token], "{bytes:?}");
        assert_eq!(vocabulary.count(&bytes), 1, "{bytes:?}");
    }
}

#[test]
#[should_panic(expected = "token 199998")]
fn a_token_that_is_none_has_no_length() {
    o200k_base().token_len(199_998);
}

#[test]
fn each_token_of_o200k_base_is_itself() {
    check(o200k_base(), tiktoken_rs::o200k_base_singleton(), 199_998);
}

#[test]
fn each_token_of_cl100k_base_is_itself() {
    check(cl100k_base(), tiktoken_rs::cl100k_base_singleton(), 100_256);
}
