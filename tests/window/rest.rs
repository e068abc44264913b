//! When the window comes to rest.

use std::time::{Duration, Instant};

use inkling::window::Rest;

#[test]
fn the_rest_begins_once_after_nothing_has_happened() {
    let mut rest = Rest::default();
    let mut now = Instant::now();
    let mut after = |seconds| {
        now += Duration::from_secs(seconds);
        rest.begins(now)
    };
    assert!(!after(0), "the first frame");
    assert!(!after(1) && !after(2), "something happens");
    let quiet = Rest::AFTER.as_secs();
    assert!(after(quiet));
    assert!(!after(100), "somebody comes back");
    assert!(!after(1));
    assert!(after(quiet), "and goes again");
}
