//! Lessons: one that is accepted has steps, and questions with options to choose from.
#![no_main]

use inkling::lesson::Lesson;

libfuzzer_sys::fuzz_target!(|text: &str| {
    match Lesson::parse(text) {
        Ok(lesson) => {
            assert!(!lesson.title.is_empty() && !lesson.steps.is_empty());
            for question in lesson.steps.iter().flat_map(|step| &step.question) {
                assert!(question.options.len() > 1);
                assert!(
                    question
                        .right
                        .is_none_or(|right| right < question.options.len())
                );
            }
        }
        Err(error) => assert!((1..=text.lines().count().max(1)).contains(&error.line)),
    }
});
