//! Where processes and their servers run.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Handle, Runtime};

/// The threads that replay cases wait for nothing but their own case, so processes have threads of
/// their own.
static RUNTIME: LazyLock<Result<Runtime, String>> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())
});

/// The handle of that runtime.
///
/// # Errors
/// Why the system gave no threads.
pub fn runtime() -> Result<Handle, String> {
    RUNTIME
        .as_ref()
        .map(|runtime| runtime.handle().clone())
        .map_err(String::clone)
}
