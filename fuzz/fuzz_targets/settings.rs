//! The settings file: what is read can be written, and is the same when it is read again.
#![no_main]

use inkling::settings::Settings;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(settings) = Settings::from_json(bytes) {
        let written = serde_json::to_vec(&settings).expect("settings as JSON");
        assert_eq!(
            Settings::from_json(&written).expect("settings that were just written"),
            settings
        );
    }
});
