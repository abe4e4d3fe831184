//! Model names and the addresses in them: an accepted address has a host, and no name or error
//! repeats a password.

use compactometer_models::receiver;

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(spec) = std::str::from_utf8(data) else {
        return false;
    };
    match receiver(spec.trim()) {
        Ok(Some(receiver)) => {
            assert!(
                !receiver.name.is_empty() && !receiver.host.is_empty(),
                "{receiver:?}"
            );
            // A model may have any name, even one that would be a password in an address.
            hides(&receiver.host);
            true
        }
        Ok(None) => false,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            hides(&error.to_string());
            false
        }
    }
}

/// Seeds contain this password after a user's name.
fn hides(text: &str) {
    assert!(
        !text.contains(":hush-hush@"),
        "a password is repeated: {text}"
    );
}
