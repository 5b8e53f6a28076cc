//! Suite text to a typed suite, with every problem in one go.
