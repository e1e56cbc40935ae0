//! The record: append-only JSONL.
