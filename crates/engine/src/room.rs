//! Room in the lists that a session keeps for as long as it lives. They grow by a quarter: a host holds thousands of sessions,
//! and lists that double are a third empty.

/// Makes room for as many more elements, so that it is seldom asked for again.
pub(crate) fn make<T>(list: &mut Vec<T>, more: usize) {
    /// A quarter of a short list is no room to speak of.
    const LEAST_BYTES: usize = 128;
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 4).max(LEAST_BYTES / size_of::<T>().max(1)));
    }
}
