//! Lessons as teachers write them.

use inkling::lesson::Lesson;

#[test]
fn what_is_wrong_with_a_lesson_is_said_with_its_line() {
    for (text, line, reason) in [
        ("", 1, "A lesson begins with its title"),
        ("# Title\nAbout.", 2, "A lesson has steps"),
        (
            "# Title\n## Step\nscreen: cellar",
            3,
            "There is no screen cellar",
        ),
        (
            "# Title\n## Step\n\nrun: --epohcs 3",
            4,
            "There is no setting --epohcs",
        ),
        (
            "# Title\n## Step\nrun: --epochs many",
            3,
            "--epochs is a whole number, not “many”",
        ),
        (
            "# Title\n## Step\nanswer: 42",
            3,
            "An answer follows a question",
        ),
        (
            "# Title\n## Step\nask: Why?\n- Because",
            4,
            "needs two or more options",
        ),
    ] {
        let error = Lesson::parse(text).unwrap_err();
        assert_eq!(error.line, line, "{text}");
        assert!(
            error.reason.starts_with(reason) || error.reason.contains(reason),
            "{error}"
        );
    }
}
