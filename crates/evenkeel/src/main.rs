//! Evenkeel.
fn main() {}
