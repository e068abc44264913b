//! The page of the command line.

use std::path::Path;

use inkling::cli::command_line_page;

#[test]
fn the_command_line_page_is_made_from_the_definitions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
    if std::env::var_os("INKLING_WRITE_DOCS").is_some() {
        std::fs::write(&path, command_line_page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(
        written == command_line_page(),
        "docs/cli.md differs from the command line; write it with INKLING_WRITE_DOCS=1"
    );
}
