//! The verbs, one file each: input schema, run, result, receipt; and the one table of them.
