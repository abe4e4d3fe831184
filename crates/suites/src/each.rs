//! The same work on each conversation of a suite, on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};

/// What `work` makes of each item and its number from 0, in the items' order.
pub(crate) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let threads = available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else {
                return done;
            };
            done.push((number, work(number, item)));
        }
    };
    let mut done = scope(|scope| {
        let threads: Vec<_> = (1..threads.min(items.len()))
            .map(|_| scope.spawn(take))
            .collect();
        let mut done = take();
        for thread in threads {
            // A panic goes on in the caller, as without threads.
            done.extend(
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            );
        }
        done
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}
