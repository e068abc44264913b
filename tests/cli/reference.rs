//! The page of the command line.

use inkling::cli::command_line_page;

use crate::support::assert_written;

#[test]
fn the_command_line_page_is_made_from_the_definitions() {
    assert_written("docs/cli.md", &command_line_page());
}
