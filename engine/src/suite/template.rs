//! `${variables}` in text.
