//! Orders, redacts and numbers events; folds the summary.
