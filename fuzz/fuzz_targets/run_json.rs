//! The summary of a run.
#![no_main]

use inkling::records::RunSummary;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(summary) = serde_json::from_slice::<RunSummary>(bytes) {
        let _ = serde_json::to_vec(&summary);
    }
});
