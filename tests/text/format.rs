//! Numbers with their units.

use inkling::text::format::approximate;

#[test]
fn an_estimated_time_has_two_digits_that_matter_and_one_unit() {
    for (seconds, text) in [
        (0.84, "0.84 s"),
        (2.64, "2.6 s"),
        (59.4, "59 s"),
        (60.0, "1 min"),
        (154.0, "2.6 min"),
        (1_200.0, "20 min"),
        (3_569.0, "59 min"),
        (3_600.0, "1 h"),
        (43_000.0, "12 h"),
    ] {
        assert_eq!(approximate(seconds), text);
    }
}
