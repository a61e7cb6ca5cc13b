//! Frame sinks.
