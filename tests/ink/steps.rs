//! The steps of preprocessing: what is shown of them is what models take as input, and each does
//! what it is named after.

use std::path::Path;

use image::{ImageFormat, Luma};
use inkling::data::builtin;
use inkling::ink::{
    Framing, GrayImage, Image, Ink, PreparedImage, SIDE, SourceImage, Stage, StageImage, StageKind,
    Step, Steps, Writing, rasterize, rasterize_steps, read_image_file,
};

/// The bounds of what is darker than a trace: first and last column, first and last row.
fn bounds(image: &Image) -> [usize; 4] {
    let inked = |index: &usize| image.pixels()[*index] > 60;
    let along = |place: fn(usize) -> usize| (0..SIDE * SIDE).filter(inked).map(place);
    let column = |index| index % SIDE;
    let row = |index| index / SIDE;
    [
        along(column).min().unwrap(),
        along(column).max().unwrap(),
        along(row).min().unwrap(),
        along(row).max().unwrap(),
    ]
}

fn mass(image: &Image) -> f32 {
    image
        .pixels()
        .iter()
        .map(|&pixel| f32::from(pixel) / 255.0)
        .sum()
}

fn last(stages: &[Stage]) -> &Image {
    match &stages.last().unwrap().image {
        StageImage::Model(image) => image,
        other => panic!("{other:?}"),
    }
}

fn kinds(stages: &[Stage]) -> Vec<StageKind> {
    stages.iter().map(|stage| stage.kind).collect()
}

/// A one in the upper left of a canvas of 280x280, drawn with a pen of 40.
fn one() -> Ink {
    Ink {
        strokes: vec![vec![[40.0, 40.0], [42.0, 120.0]]],
        pen: Some(40.0),
    }
}

fn every_choice() -> impl Iterator<Item = Steps> {
    let all = [
        Step::Lighting,
        Step::Threshold,
        Step::Specks,
        Step::Scaling,
        Step::Pen,
        Step::Centering,
    ];
    (0..1 << all.len()).map(move |bits: usize| {
        let off = all
            .iter()
            .enumerate()
            .filter(|(index, _)| bits >> index & 1 == 1);
        off.fold(Steps::ALL, |steps, (_, &step)| steps.without(step))
    })
}

#[test]
fn the_last_image_of_a_drawing_s_steps_is_the_model_s_input_bit_for_bit() {
    for digit in 0..10 {
        let ink = builtin::ink(digit, None, 7, 0);
        for steps in every_choice() {
            let steps = steps.on_page([280.0, 280.0]);
            let writing = Writing::of_ink_with(&ink, &steps);
            let stages = writing.stages(0..writing.piece_count());
            assert_eq!(*last(&stages), rasterize_steps(&ink, &steps), "{steps:?}");
            let order = [
                StageKind::Drawn,
                StageKind::Step(Step::Scaling),
                StageKind::Step(Step::Pen),
                StageKind::Step(Step::Centering),
            ];
            assert_eq!(kinds(&stages), order);
        }
        assert_eq!(rasterize_steps(&ink, &Steps::ALL), rasterize(&ink));
    }
}

#[test]
fn without_size_normalization_the_canvas_is_scaled_down_as_a_whole() {
    let steps = Steps::ALL
        .without(Step::Scaling)
        .without(Step::Centering)
        .on_page([280.0, 280.0]);
    // From 4 to 12 pixels, and half a pen around.
    let [left, right, top, bottom] = bounds(&rasterize_steps(&one(), &steps));
    assert!(
        (2..=3).contains(&left) && (4..=5).contains(&right),
        "{left} {right}"
    );
    assert!(
        (2..=3).contains(&top) && (12..=13).contains(&bottom),
        "{top} {bottom}"
    );
    let [.., top, bottom] = bounds(&rasterize(&one()));
    assert_eq!(bottom - top + 1, 20);
}

#[test]
fn without_the_usual_pen_a_thick_one_stays_thick() {
    let thick = rasterize_steps(&one(), &Steps::ALL.without(Step::Pen));
    let usual = rasterize(&one());
    assert!(
        mass(&thick) > 2.0 * mass(&usual),
        "{} {}",
        mass(&thick),
        mass(&usual)
    );
    let [.., top, bottom] = bounds(&thick);
    assert!(
        (18..=20).contains(&(bottom - top + 1)),
        "it still fits the box"
    );
    // An ink file that does not know its pen has none to keep.
    let unknown = Ink { pen: None, ..one() };
    assert_eq!(
        rasterize_steps(&unknown, &Steps::ALL.without(Step::Pen)),
        rasterize(&unknown)
    );
}

#[test]
fn without_centering_the_box_stays_in_the_middle() {
    // A seven has most of its mass above.
    let seven = Ink {
        strokes: vec![vec![
            [0.0, 0.0],
            [60.0, 0.0],
            [0.0, 5.0],
            [60.0, 5.0],
            [30.0, 100.0],
        ]],
        pen: Some(8.0),
    };
    let [.., top, bottom] = bounds(&rasterize_steps(
        &seven,
        &Steps::ALL.without(Step::Centering),
    ));
    assert_eq!((top, bottom), (4, 23));
    let [.., top, bottom] = bounds(&rasterize(&seven));
    assert!(top > 4 && bottom > 23);
}

#[test]
fn one_digit_of_several_has_steps_of_its_own() {
    let ink = Ink {
        strokes: vec![
            vec![[50.0, 50.0], [52.0, 200.0]],
            vec![[300.0, 50.0], [380.0, 60.0], [330.0, 200.0]],
        ],
        pen: Some(20.0),
    };
    let page = [700.0, 280.0];
    for steps in [
        Steps::ALL,
        Steps::ALL.without(Step::Scaling).without(Step::Centering),
    ] {
        let writing = Writing::of_ink_with(&ink, &steps.on_page(page));
        let stages = writing.stages(1..2);
        assert_eq!(*last(&stages), writing.image(1..2));
        // Without scaling, a square as high as the page is what is scaled down.
        let [left, right, ..] = bounds(last(&stages));
        assert!(left >= 4 && right <= 23, "{left} {right}");
    }
}

/// A photograph: a thick digit on paper whose light falls off to one side, with grain and specks.
fn photograph(folder: &Path) -> std::path::PathBuf {
    let mut noise = inkling::math::random::Random::new(5);
    let mut image = image::GrayImage::from_fn(400, 300, |x, _| {
        let light = 0.92 - 0.45 * (x as f32 / 400.0).powi(2) + 0.02 * (noise.uniform() - 0.5);
        Luma([(light * 255.0) as u8])
    });
    let mut dot = |x: f32, y: f32, radius: f32| {
        for row in 0..300_u32 {
            for column in 0..400_u32 {
                if (column as f32 - x).hypot(row as f32 - y) <= radius {
                    let Luma([light]) = image.get_pixel(column, row);
                    let ink = (f32::from(*light) * 0.25) as u8;
                    image.put_pixel(column, row, Luma([ink]));
                }
            }
        }
    };
    for step in 0..=40 {
        let t = step as f32 / 40.0;
        // The ink is darkened once: each pixel is touched by several dots, which makes it black.
        dot(150.0 + 80.0 * t.min(0.5), 70.0, 16.0);
        dot(190.0 - 20.0 * t, 70.0 + 150.0 * t, 16.0);
    }
    dot(60.0, 240.0, 2.5);
    dot(330.0, 40.0, 2.5);
    let path = folder.join("photograph.png");
    image.save_with_format(&path, ImageFormat::Png).unwrap();
    path
}

fn stage(prepared: &PreparedImage, step: Step) -> GrayImage {
    let found = prepared
        .stages
        .iter()
        .find(|stage| stage.kind == StageKind::Step(step))
        .unwrap();
    match &found.image {
        StageImage::Ink(gray) => gray.clone(),
        other => panic!("{other:?}"),
    }
}

fn inked(gray: &GrayImage) -> usize {
    gray.values().iter().filter(|value| **value > 0.25).count()
}

#[test]
fn the_last_image_of_an_image_file_s_steps_is_the_model_s_input_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = photograph(folder.path());
    let source = SourceImage::open(&path).unwrap();
    let (read, _) = read_image_file(&path, Framing::Ink).unwrap();
    for steps in every_choice().step_by(7) {
        let PreparedImage { stages, writing } = source.prepare(&steps, Framing::Ink);
        let all = 0..writing.piece_count();
        let own = writing.stages(all.clone());
        assert_eq!(*last(&own), writing.image(all), "{steps:?}");
        let whole = [
            StageKind::Gray,
            StageKind::Step(Step::Lighting),
            StageKind::Step(Step::Threshold),
            StageKind::Step(Step::Specks),
        ];
        assert_eq!(kinds(&stages), whole);
        assert_eq!(
            kinds(&own),
            [Step::Scaling, Step::Pen, Step::Centering].map(StageKind::Step)
        );
        if steps == Steps::ALL {
            assert_eq!(*last(&own), read);
        }
    }
}

#[test]
fn each_step_of_an_image_file_does_what_it_is_named_after() {
    let folder = tempfile::tempdir().unwrap();
    let source = SourceImage::open(&photograph(folder.path())).unwrap();
    let all = source.prepare(&Steps::ALL, Framing::Ink);
    let without = |step| source.prepare(&Steps::ALL.without(step), Framing::Ink);
    // The dark side of the paper counts as ink where light is not evened out.
    assert!(
        inked(&stage(&without(Step::Lighting), Step::Lighting))
            > 2 * inked(&stage(&all, Step::Lighting))
    );
    // Its grain is left if there is no threshold.
    let grainy = |prepared: &PreparedImage| {
        stage(prepared, Step::Threshold)
            .values()
            .iter()
            .filter(|value| **value > 0.0)
            .count()
    };
    assert!(grainy(&without(Step::Threshold)) > 3 * grainy(&all));
    // The two specks stay, and are pieces of their own.
    assert_eq!(
        (
            all.writing.piece_count(),
            without(Step::Specks).writing.piece_count()
        ),
        (1, 3)
    );
    assert!(
        inked(&stage(&without(Step::Specks), Step::Specks)) > inked(&stage(&all, Step::Specks))
    );
    assert_eq!(
        stage(&without(Step::Specks), Step::Threshold),
        stage(&all, Step::Threshold),
        "what comes before stays"
    );
    // Strokes stay as thick as they are.
    let image = |prepared: PreparedImage| prepared.writing.image(0..prepared.writing.piece_count());
    assert!(mass(&image(without(Step::Pen))) > mass(&image(all.clone())));
    // The digit fills half of the height.
    let [.., top, bottom] = bounds(&image(without(Step::Scaling)));
    assert!(bottom - top < 14, "{top} {bottom}");
    assert_ne!(image(without(Step::Centering)), image(all));
}

#[test]
fn an_image_from_the_clipboard_is_read_as_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = photograph(folder.path());
    let pixels = image::open(&path).unwrap().to_rgba8();
    let size = [pixels.width() as usize, pixels.height() as usize];
    let pasted =
        SourceImage::from_premultiplied(size, pixels.into_raw(), Path::new("pasted")).unwrap();
    let opened = SourceImage::open(&path).unwrap();
    assert_eq!(pasted, opened);
    assert!(
        SourceImage::from_premultiplied([30, 30], vec![0; 10], Path::new("pasted")).is_err(),
        "too few pixels"
    );
    assert!(SourceImage::from_premultiplied([0, 30], Vec::new(), Path::new("pasted")).is_err());
    assert!(
        SourceImage::from_premultiplied([1 << 20, 30], Vec::new(), Path::new("pasted")).is_err()
    );
}
