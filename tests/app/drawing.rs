//! The canvas and what can be taken back.

use inkling::app::Drawing;

fn drawing(strokes: usize) -> Drawing {
    let mut drawing = Drawing::default();
    for index in 0..strokes {
        drawing.begin([index as f32, 0.0]);
        drawing.extend([index as f32, 10.0]);
        drawing.end();
    }
    drawing
}

#[test]
fn undo_and_redo_go_stroke_by_stroke() {
    let mut canvas = drawing(3);
    let whole = canvas.strokes().to_vec();
    canvas.undo();
    canvas.undo();
    assert_eq!(canvas.strokes(), &whole[..1]);
    canvas.redo();
    canvas.redo();
    assert_eq!(canvas.strokes(), whole);
    assert!(canvas.can_undo() && !canvas.can_redo());
}

#[test]
fn clearing_can_be_taken_back() {
    let mut canvas = drawing(2);
    canvas.clear();
    assert!(canvas.strokes().is_empty());
    canvas.undo();
    assert_eq!(canvas.strokes().len(), 2);
    canvas.redo();
    assert!(canvas.strokes().is_empty());
}

#[test]
fn a_new_stroke_ends_what_could_be_brought_back() {
    let mut canvas = drawing(2);
    canvas.undo();
    canvas.begin([5.0, 5.0]);
    assert!(!canvas.can_redo());
    assert_eq!(canvas.strokes().len(), 2);
}

#[test]
fn clearing_an_empty_canvas_leaves_nothing_to_take_back() {
    let mut canvas = Drawing::default();
    canvas.clear();
    assert!(!canvas.can_undo());
    canvas.undo();
    canvas.redo();
    assert!(canvas.strokes().is_empty());
}

#[test]
fn a_pen_that_is_up_or_stands_still_adds_nothing() {
    let mut canvas = drawing(1);
    assert!(!canvas.extend([50.0, 50.0]), "the pen is up");
    canvas.begin([1.0, 1.0]);
    assert!(!canvas.extend([1.0, 1.0]), "it did not move");
    assert!(canvas.extend([2.0, 1.0]));
}
