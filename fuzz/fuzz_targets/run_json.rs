//! The summary of a run, and what a person says about it: however hostile, that is fit to be shown,
//! and the same when it is read again.
#![no_main]

use inkling::records::{Annotation, RunSummary};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(summary) = serde_json::from_slice::<RunSummary>(bytes) {
        let _ = serde_json::to_vec(&summary);
    }
    if let Ok(annotation) = Annotation::from_json(bytes) {
        assert!(
            annotation.name.chars().count() <= Annotation::MAX_NAME
                && annotation.note.chars().count() <= Annotation::MAX_NOTE
        );
        let written = serde_json::to_vec(&annotation).expect("an annotation as JSON");
        assert_eq!(
            Annotation::from_json(&written).expect("an annotation that was just written"),
            annotation
        );
    }
});
