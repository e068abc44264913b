//! Owns the entry: arguments in, window or command line out. Must not know anything else.

fn main() {}
