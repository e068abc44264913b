//! The arrow keys in a grid: one tab stop for all its cells, as a tab stop for each would be too
//! many.

use eframe::egui::{EventFilter, Key, Response, Ui};

use crate::window::style;

/// While the grid has the keyboard's focus, arrow keys choose another cell: the one that `moved`
/// gives for this many rows down and columns to the right of the chosen one. Escape gives up the
/// choice, and then the focus.
pub fn choose<C: Copy>(
    ui: &Ui,
    grid: &Response,
    chosen: &mut Option<C>,
    moved: impl Fn(Option<C>, isize, isize) -> C,
) {
    if !grid.has_focus() {
        return;
    }
    style::focus_ring(ui, grid.rect);
    let keys = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        escape: chosen.is_some(),
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(grid.id, keys));
    ui.input(|input| {
        let steps =
            |forward, back| input.num_presses(forward) as isize - input.num_presses(back) as isize;
        let (down, right) = (
            steps(Key::ArrowDown, Key::ArrowUp),
            steps(Key::ArrowRight, Key::ArrowLeft),
        );
        if (down, right) != (0, 0) {
            *chosen = Some(moved(*chosen, down, right));
        }
        if input.key_pressed(Key::Escape) {
            *chosen = None;
        }
    });
}
