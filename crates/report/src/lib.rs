//! Numbers and pictures from records alone.
