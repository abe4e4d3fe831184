//! Room in the lists that a session keeps for as long as it lives. They grow by a half: a host
//! holds thousands of sessions, lists that double are a third empty, and those that grow by less
//! leave as much behind in places that nothing fits.

/// Makes room for as many more elements, so that it is seldom asked for again.
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize) {
    /// A half of a short list is no room to speak of.
    const LEAST_BYTES: usize = 128;
    if list.capacity() - list.len() < more {
        list.reserve_exact(
            more.max(list.len() / 2)
                .max(LEAST_BYTES / size_of::<T>().max(1)),
        );
    }
}
