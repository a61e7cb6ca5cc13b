//! Submission fences.
