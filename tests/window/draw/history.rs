//! The canvas and what can be taken back.

use inkling::ink::{Ink, rasterize};
use inkling::window::Drawing;

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

#[test]
fn the_eraser_takes_away_what_it_touches_and_splits_strokes() {
    let mut canvas = Drawing::default();
    canvas.begin([20.0, 100.0]);
    canvas.extend([260.0, 100.0]);
    canvas.end();
    canvas.begin([40.0, 200.0]);
    canvas.end();
    // Down across the line; the eraser of 30 and half the pen of 20 reach 25 to each side.
    assert!(!canvas.begin_erasing([140.0, 40.0]), "nothing is there");
    assert!(canvas.extend([140.0, 160.0]));
    canvas.end();
    let ends: Vec<_> = canvas
        .ink()
        .strokes
        .iter()
        .map(|stroke| [stroke[0], stroke[stroke.len() - 1]])
        .collect();
    assert_eq!(
        ends,
        [
            [[20.0, 100.0], [115.0, 100.0]],
            [[165.0, 100.0], [260.0, 100.0]],
            [[40.0, 200.0]; 2]
        ]
    );
    // A dot goes as a whole, and so does what would be left as a crumb.
    canvas.begin_erasing([60.0, 200.0]);
    canvas.end();
    assert_eq!(canvas.strokes().len(), 2);
    canvas.begin_erasing([20.0, 80.0]);
    canvas.extend([120.0, 80.0]);
    canvas.end();
    assert_eq!(canvas.strokes().len(), 1);
    assert!(!canvas.extend([200.0, 100.0]), "it is lifted");
}

#[test]
fn what_the_eraser_leaves_lies_where_it_was_and_keeps_its_pressure() {
    let mut canvas = Drawing::default();
    for step in 0_u8..=100 {
        canvas.press(f32::from(step) / 100.0);
        let point = [
            f32::from(step) * 2.0,
            140.0 + 60.0 * (f32::from(step) * 0.1).sin(),
        ];
        if step == 0 {
            canvas.begin(point);
        } else {
            assert!(canvas.extend(point));
        }
    }
    canvas.end();
    let before = canvas.strokes()[0].clone();
    canvas.begin_erasing([100.0, 140.0]);
    canvas.extend([110.0, 60.0]);
    canvas.end();
    assert!(canvas.strokes().len() > 1);
    for stroke in canvas.strokes() {
        assert_eq!(stroke.points.len(), stroke.pressures.len());
        // All but the ends are points that were drawn.
        for index in 1..stroke.points.len() - 1 {
            let was = before
                .points
                .iter()
                .position(|point| *point == stroke.points[index])
                .unwrap();
            assert_eq!(stroke.pressures[index], before.pressures[was]);
        }
    }
    canvas.undo();
    assert_eq!(canvas.strokes(), [before], "one undo brings all of it back");
}

#[test]
fn one_history_goes_back_through_erasing_clearing_and_opening() {
    let mut canvas = drawing(2);
    let mut states = vec![canvas.ink()];
    canvas.begin_erasing([0.0, 5.0]);
    canvas.extend([60.0, 5.0]);
    canvas.end();
    states.push(canvas.ink());
    canvas.begin([100.0, 100.0]);
    canvas.extend([100.0, 200.0]);
    canvas.end();
    states.push(canvas.ink());
    canvas.clear();
    states.push(canvas.ink());
    canvas.put(&Ink {
        strokes: vec![vec![[50.0, 60.0], [70.0, 80.0]]],
        pen: Some(36.0),
    });
    states.push(canvas.ink());
    for state in states.iter().rev().skip(1) {
        canvas.undo();
        assert_eq!(canvas.ink(), *state, "undone, with the width of the pen");
    }
    for state in &states[1..] {
        canvas.redo();
        assert_eq!(canvas.ink(), *state, "redone");
    }
    assert!(!canvas.can_redo());
}

#[test]
fn the_history_has_an_end() {
    let mut canvas = Drawing::default();
    for stroke in 0_u16..2000 {
        canvas.begin([f32::from(stroke % 280), 0.0]);
        canvas.end();
    }
    let undone = std::iter::from_fn(|| canvas.can_undo().then(|| canvas.undo())).count();
    assert!((100..2000).contains(&undone), "{undone}");
    assert_eq!(
        canvas.strokes().len(),
        2000 - undone,
        "what was drawn before stays"
    );
    // Long strokes that are cleared again and again.
    let mut canvas = Drawing::default();
    for round in 0_u16..60 {
        canvas.begin([1.0, f32::from(round)]);
        (0_u16..50_000)
            .for_each(|step| assert!(canvas.extend([f32::from(step % 280), f32::from(step % 7)])));
        canvas.end();
        canvas.clear();
    }
    let undone = std::iter::from_fn(|| canvas.can_undo().then(|| canvas.undo())).count();
    assert!(
        (10..60).contains(&undone),
        "{undone}: memory is limited as well"
    );
}

#[test]
fn pressure_and_the_pen_change_the_canvas_and_not_what_is_read() {
    let draw = |pen: f32, pressures: [Option<f32>; 3]| {
        let mut canvas = Drawing::default();
        canvas.pen = pen;
        let points = [[60.0, 40.0], [140.0, 220.0], [200.0, 90.0]];
        for (index, (point, pressure)) in points.into_iter().zip(pressures).enumerate() {
            pressure
                .into_iter()
                .for_each(|pressure| canvas.press(pressure));
            if index == 0 {
                canvas.begin(point);
            } else {
                assert!(canvas.extend(point));
            }
        }
        canvas
    };
    let plain = draw(8.0, [None; 3]);
    let pressed = draw(40.0, [None, Some(0.9), Some(f32::NAN)]);
    assert!(plain.strokes()[0].pressures.is_empty());
    assert_eq!(
        pressed.strokes()[0].pressures,
        [0.9; 3],
        "what is not known is as it was before, or after"
    );
    assert_eq!(rasterize(&plain.ink()), rasterize(&pressed.ink()));
}
