//! Text from outside, made safe to show.

use inkling::text::visible::without_credentials;

#[test]
fn addresses_lose_their_passwords_and_nothing_else() {
    for (text, shown) in [
        ("https://anna:secret@host:8080/a", "https://host:8080/a"),
        ("https://anna@host", "https://host"),
        (
            "two: http://a:b@c/d and http://e:f%40@g/h",
            "two: http://c/d and http://g/h",
        ),
        ("http://anna:se/cret@host/x", "http://host/x"),
        ("http://host/@scope/a@b", "http://host/@scope/a@b"),
        ("http://host:80/@scope", "http://host:80/@scope"),
        ("anna@host and ://", "anna@host and ://"),
        ("", ""),
    ] {
        assert_eq!(without_credentials(text), shown);
    }
}
