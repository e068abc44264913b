//! The licenses of what is built in: gathered from everything the program stands on, with the
//! texts.

use inkling::text::licenses;

#[test]
fn every_part_of_the_program_is_listed_with_its_license_and_text() {
    let text = licenses::text();
    let lock = include_str!("../../Cargo.lock");
    for name in ["candle-core", "clap", "mimalloc", "serde", "tempfile"] {
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")))
            .unwrap_or_else(|| panic!("{name} is not listed"));
        let version = line.split([' ', ':']).nth(1).unwrap();
        assert!(
            lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")),
            "{line} is not what is locked"
        );
        assert!(
            line.split(": ")
                .nth(1)
                .is_some_and(|license| license.contains("MIT") || license.contains("Apache-2.0")),
            "{line}"
        );
    }
    assert!(text.contains("Permission is hereby granted"));
    assert!(!text.contains("could not be gathered"));
    // What only tests or builds use is not in the program.
    for name in ["egui_kittest", "serde_derive"] {
        assert!(
            !text
                .lines()
                .any(|line| line.starts_with(&format!("{name} "))),
            "{name} is not in the program"
        );
    }
}
