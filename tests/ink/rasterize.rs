//! From ink to picture: MNIST's conventions, whatever the ink's unit, place, size and oddities.

use inkling::ink::{Image, Ink, SIDE, rasterize};

fn ink(strokes: &[&[[f32; 2]]]) -> Ink {
    Ink {
        strokes: strokes.iter().map(|stroke| stroke.to_vec()).collect(),
        pen: None,
    }
}

fn four() -> Ink {
    ink(&[
        &[[20.0, 10.0], [12.0, 60.0], [80.0, 55.0]],
        &[[70.0, 5.0], [60.0, 120.0]],
    ])
}

fn mapped(ink: &Ink, map: impl Fn([f32; 2]) -> [f32; 2]) -> Ink {
    let strokes = ink
        .strokes
        .iter()
        .map(|stroke| stroke.iter().map(|&point| map(point)).collect())
        .collect();
    Ink {
        strokes,
        pen: ink.pen,
    }
}

/// Width and height of what holds ink.
fn extent(picture: &Image) -> (usize, usize) {
    let inked = |x: usize, y: usize| picture.pixels()[y * SIDE + x] > 0;
    let columns: Vec<usize> = (0..SIDE)
        .filter(|&x| (0..SIDE).any(|y| inked(x, y)))
        .collect();
    let rows: Vec<usize> = (0..SIDE)
        .filter(|&y| (0..SIDE).any(|x| inked(x, y)))
        .collect();
    let span = |indices: &[usize]| indices.last().map_or(0, |last| last + 1 - indices[0]);
    (span(&columns), span(&rows))
}

fn center_of_mass(picture: &Image) -> [f32; 2] {
    let [mut mass, mut x, mut y] = [0.0; 3];
    for (index, &pixel) in picture.pixels().iter().enumerate() {
        mass += f32::from(pixel);
        x += f32::from(pixel) * (index % SIDE) as f32;
        y += f32::from(pixel) * (index / SIDE) as f32;
    }
    [x / mass, y / mass]
}

/// Area over half the outline's length: the mean width of strokes, in pixels.
fn stroke_width(picture: &Image) -> f32 {
    let at = |x: usize, y: usize| f32::from(picture.pixels()[y * SIDE + x]) / 255.0;
    let area: f32 = picture
        .pixels()
        .iter()
        .map(|&pixel| f32::from(pixel) / 255.0)
        .sum();
    let outline: f32 = (0..SIDE - 1)
        .flat_map(|y| (0..SIDE - 1).map(move |x| (x, y)))
        .map(|(x, y)| (at(x + 1, y) - at(x, y)).hypot(at(x, y + 1) - at(x, y)))
        .sum();
    2.0 * area / outline
}

fn largest_difference(a: &Image, b: &Image) -> u8 {
    a.pixels()
        .iter()
        .zip(b.pixels())
        .map(|(a, b)| a.abs_diff(*b))
        .max()
        .unwrap()
}

#[test]
fn ink_fills_the_box_and_its_mass_is_centered() {
    let zigzag = ink(&[&[[0.0, 0.0], [300.0, 40.0], [10.0, 70.0], [290.0, 120.0]]]);
    for (drawing, tall) in [(four(), true), (zigzag, false)] {
        let picture = rasterize(&drawing);
        let (width, height) = extent(&picture);
        assert_eq!(if tall { height } else { width }, 20);
        assert!(width <= 20 && height <= 20);
        // MNIST's training images center at pixel 14 on both axes, to half a pixel.
        assert!(
            center_of_mass(&picture)
                .iter()
                .all(|axis| (axis - 14.0).abs() <= 0.51),
            "{:?}",
            center_of_mass(&picture)
        );
    }
}

#[test]
fn place_and_size_of_the_ink_do_not_matter() {
    let original = rasterize(&four());
    for (scale, dx, dy) in [
        (1.0, 500.0, -900.0),
        (0.001, 0.0, 0.0),
        (3.7, 1.0, 1.0),
        (1e30, 0.0, 0.0),
        (1e-30, 0.0, 0.0),
    ] {
        let moved = rasterize(&mapped(&four(), |[x, y]| [x * scale + dx, y * scale + dy]));
        assert!(largest_difference(&original, &moved) <= 2, "scale {scale}");
    }
    // So does the pen, which is in the ink's unit.
    let thick = |scale: f32| {
        rasterize(&Ink {
            pen: Some(20.0 * scale),
            ..mapped(&four(), |[x, y]| [x * scale, y * scale])
        })
    };
    assert!(largest_difference(&thick(1.0), &thick(64.0)) <= 2);
}

#[test]
fn strokes_are_redrawn_at_the_usual_width_whatever_pen_drew_them() {
    let read = |pen| rasterize(&Ink { pen, ..four() });
    // MNIST's training images: median 2.36 by this measure, the middle 90% from 1.6 to 3.6.
    let usual = read(None);
    assert!(
        (2.0..2.8).contains(&stroke_width(&usual)),
        "{}",
        stroke_width(&usual)
    );
    for pen in [1e-6, 8.0, 24.0, 70.0, f32::NAN, f32::INFINITY, -3.0, 0.0] {
        assert_eq!(read(Some(pen)), usual, "a pen of {pen}");
    }
}

#[test]
fn a_straight_line_is_a_line_and_a_dot_a_dot() {
    let line = rasterize(&ink(&[&[[5.0, 0.0], [5.0, 400.0]]]));
    let (width, height) = extent(&line);
    assert_eq!(height, 20);
    assert!((2..=5).contains(&width), "{width}");

    for drawing in [
        ink(&[&[[7.0, 7.0]]]),
        ink(&[&[[7.0, 7.0], [7.0, 7.0]]]),
        Ink {
            pen: Some(9.0),
            ..ink(&[&[[7.0, 7.0], [7.5, 6.0]]])
        },
    ] {
        let dot = rasterize(&drawing);
        let (width, height) = extent(&dot);
        assert!(
            (2..=8).contains(&width) && (2..=8).contains(&height),
            "{width}x{height}"
        );
        assert!(
            center_of_mass(&dot)
                .iter()
                .all(|axis| (axis - 14.0).abs() <= 0.51)
        );
    }
}

#[test]
fn ink_without_points_is_a_blank_picture() {
    for drawing in [
        Ink::default(),
        ink(&[&[], &[]]),
        ink(&[&[[f32::NAN, 1.0], [1.0, f32::INFINITY]]]),
    ] {
        assert!(drawing.is_empty());
        assert!(rasterize(&drawing).is_blank());
    }
}

#[test]
fn points_that_are_not_finite_are_skipped() {
    let mut broken = four();
    broken.strokes[0].insert(1, [f32::NAN, 3.0]);
    broken.strokes[1].insert(0, [0.0, f32::NEG_INFINITY]);
    broken.strokes.push(vec![[f32::NAN, f32::NAN]]);
    assert_eq!(rasterize(&broken), rasterize(&four()));
}

#[test]
fn the_widest_coordinates_still_make_a_picture() {
    let far = f32::MAX;
    let drawing = rasterize(&ink(&[
        &[[-far, -far], [far, far]],
        &[[far, -far], [-far, far]],
    ]));
    assert_eq!(extent(&drawing), (20, 20));
}

#[test]
fn many_points_draw_what_few_do() {
    let few = rasterize(&ink(&[&[[0.0, 0.0], [100.0, 150.0]]]));
    let dense = (0..=50_000)
        .map(|i| [i as f32 / 500.0, i as f32 * 1.5 / 500.0])
        .collect();
    assert!(
        largest_difference(
            &few,
            &rasterize(&Ink {
                strokes: vec![dense],
                pen: None
            })
        ) <= 2
    );
}

#[test]
fn a_line_as_fine_strokes_is_the_same_line() {
    // The lifted pen changes nothing, nor does the order of strokes.
    let whole = ink(&[&[[0.0, 0.0], [30.0, 80.0], [60.0, 0.0]]]);
    let parts = ink(&[&[[60.0, 0.0], [30.0, 80.0]], &[[30.0, 80.0], [0.0, 0.0]]]);
    assert!(largest_difference(&rasterize(&whole), &rasterize(&parts)) <= 1);
}
