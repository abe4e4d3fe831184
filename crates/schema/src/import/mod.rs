//! Importers of foreign transcripts.
