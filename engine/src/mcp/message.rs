//! One message of the protocol, with the text it came as.
