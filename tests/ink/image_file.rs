//! Pictures from files: whatever the polarity, size, light and transparency, what ink would give.

use std::io::Cursor;
use std::path::Path;

use image::{DynamicImage, GrayImage, ImageFormat, Luma, Rgba, RgbaImage};
use inkling::data::builtin;
use inkling::ink::{
    Framing, Image, Ink, InkError, PIXELS, SIDE, rasterize, read_image, read_image_file,
};
use inkling::math::random::Random;

use crate::meter::peak_of;

fn read(name: &str, bytes: &[u8]) -> Result<Image, InkError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read_image_file(&path, Framing::Ink).map(|(image, _)| image)
}

fn encoded(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn read_png(image: impl Into<DynamicImage>) -> Image {
    read("a.png", &encoded(image, ImageFormat::Png)).unwrap()
}

/// A five: asymmetric, with bends, corners and two strokes.
fn five() -> Ink {
    builtin::ink(5, Some(0), 11, 3)
}

/// Ink on a sheet of `width` x `height`, its longer side a share `size` of the shorter side, middle
/// at `at` (both from 0 to 1); `shade` gives a pixel's light from its place and how much ink is on
/// it.
fn sheet(
    ink: &Ink,
    width: u32,
    height: u32,
    size: f32,
    at: [f32; 2],
    shade: impl Fn(f32, f32, f32) -> f32,
) -> GrayImage {
    let points = || ink.strokes.iter().flatten();
    let bound = |axis: usize, pick: fn(f32, f32) -> f32| {
        points().map(|point| point[axis]).reduce(pick).unwrap()
    };
    let (low, high) = (
        [bound(0, f32::min), bound(1, f32::min)],
        [bound(0, f32::max), bound(1, f32::max)],
    );
    let scale = size * width.min(height) as f32 / (high[0] - low[0]).max(high[1] - low[1]);
    let radius = ink.pen.unwrap() * scale / 2.0;
    let place = |point: &[f32; 2]| {
        let along = |axis: usize, side: u32| {
            (point[axis] - f32::midpoint(low[axis], high[axis])) * scale + at[axis] * side as f32
        };
        [along(0, width), along(1, height)]
    };
    let segments: Vec<_> = ink
        .strokes
        .iter()
        .flat_map(|stroke| stroke.windows(2))
        .map(|pair| (place(&pair[0]), place(&pair[1])))
        .collect();
    GrayImage::from_fn(width, height, |x, y| {
        let (x, y) = (x as f32 + 0.5, y as f32 + 0.5);
        let distance = segments.iter().map(|(a, b)| {
            let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
            let along = (((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy).max(1e-9))
                .clamp(0.0, 1.0);
            (x - a[0] - along * dx).hypot(y - a[1] - along * dy)
        });
        let covered = (radius - distance.fold(f32::INFINITY, f32::min) + 0.5).clamp(0.0, 1.0);
        Luma([
            (shade(x / width as f32, y / height as f32, covered) * 255.0)
                .round()
                .clamp(0.0, 255.0) as u8,
        ])
    })
}

fn dark_on_light(_: f32, _: f32, ink: f32) -> f32 {
    1.0 - ink
}

/// How alike two pictures are: the correlation of their pixels, the best of moving one by a pixel
/// at most.
fn likeness(a: &Image, b: &Image) -> f32 {
    let shifted = |dx: i32, dy: i32| {
        let [mut ab, mut aa, mut bb] = [0.0; 3];
        for index in 0..PIXELS {
            let (x, y) = ((index % SIDE) as i32 + dx, (index / SIDE) as i32 + dy);
            let inside = (0..SIDE as i32).contains(&x) && (0..SIDE as i32).contains(&y);
            let p = f32::from(a.pixels()[index]);
            let q = if inside {
                f32::from(b.pixels()[y as usize * SIDE + x as usize])
            } else {
                0.0
            };
            ab += p * q;
            aa += p * p;
            bb += q * q;
        }
        ab / (aa * bb).sqrt().max(1.0)
    };
    (-1..=1)
        .flat_map(|dx| (-1..=1).map(move |dy| (dx, dy)))
        .map(|(dx, dy)| shifted(dx, dy))
        .fold(0.0, f32::max)
}

#[track_caller]
fn assert_alike(ink: &Ink, read: &Image) {
    let likeness = likeness(&rasterize(ink), read);
    assert!(likeness > 0.85, "likeness {likeness}\n{}", drawn(read));
}

fn drawn(picture: &Image) -> String {
    let row = |row: &[u8]| {
        row.iter()
            .map(|pixel| [' ', '.', '+', '#'][usize::from(pixel / 64)])
            .collect::<String>()
    };
    picture
        .pixels()
        .chunks(SIDE)
        .map(row)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn polarity_size_place_and_format_do_not_matter() {
    let ink = five();
    for (width, height, size, at) in [
        (200, 200, 0.8, [0.5, 0.5]),
        (900, 500, 0.4, [0.3, 0.6]),
        (40, 60, 0.7, [0.5, 0.5]),
        (1500, 1400, 0.3, [0.7, 0.3]),
    ] {
        let dark = sheet(&ink, width, height, size, at, dark_on_light);
        let light = sheet(&ink, width, height, size, at, |_, _, ink| ink);
        assert_alike(&ink, &read_png(dark.clone()));
        assert_alike(&ink, &read_png(light));
        // The content decides about the format, not the name.
        assert_alike(
            &ink,
            &read("a.png", &encoded(dark, ImageFormat::Jpeg)).unwrap(),
        );
    }
}

#[test]
fn every_digit_survives_being_photographed() {
    for digit in 0..10 {
        for index in 0..3 {
            let ink = builtin::ink(digit, None, 21, index);
            assert_alike(
                &ink,
                &read_png(sheet(&ink, 160, 160, 0.7, [0.5, 0.5], dark_on_light)),
            );
        }
    }
}

#[test]
fn uneven_light_noise_and_specks_do_not_matter() {
    let ink = five();
    let mut random = Random::new(3);
    let mut photo = sheet(&ink, 400, 300, 0.6, [0.5, 0.5], |x, y, ink| {
        (0.85 - 0.35 * x - 0.15 * y * y) * (1.0 - 0.7 * ink)
    });
    for pixel in photo.pixels_mut() {
        pixel.0[0] = (f32::from(pixel.0[0]) + 5.0 * random.normal()).clamp(0.0, 255.0) as u8;
    }
    for (x, y) in [(30, 40), (360, 250), (50, 270)] {
        for offset in 0..4 {
            photo.put_pixel(x + offset % 2, y + offset / 2, Luma([10]));
        }
    }
    assert_alike(&ink, &read_png(photo));
}

#[test]
fn the_edge_of_the_paper_is_not_part_of_the_digit() {
    let ink = five();
    let mut photo = sheet(&ink, 300, 300, 0.5, [0.5, 0.5], dark_on_light);
    for y in 0..300 {
        for x in 0..6 {
            photo.put_pixel(x, y, Luma([0]));
        }
    }
    assert_alike(&ink, &read_png(photo));
}

#[test]
fn transparency_is_paper_for_dark_and_light_ink() {
    let ink = five();
    let covered = sheet(&ink, 120, 120, 0.7, [0.5, 0.5], |_, _, ink| ink);
    for color in [0, 255] {
        let image = RgbaImage::from_fn(120, 120, |x, y| {
            Rgba([color, color, color, covered.get_pixel(x, y).0[0]])
        });
        assert_alike(&ink, &read_png(image));
    }
}

#[test]
fn images_of_thin_and_thick_strokes_become_what_the_ink_does() {
    let ink = five();
    for factor in [0.15, 1.0, 1.7, 2.5] {
        let pen = ink.pen.unwrap() * factor;
        let read = read_png(sheet(
            &Ink {
                pen: Some(pen),
                ..ink.clone()
            },
            500,
            500,
            0.7,
            [0.5, 0.5],
            dark_on_light,
        ));
        let likeness = likeness(
            &rasterize(&Ink {
                pen: Some(pen),
                ..ink.clone()
            }),
            &read,
        );
        assert!(
            likeness > 0.85,
            "pen x {factor}: likeness {likeness}\n{}",
            drawn(&read)
        );
        assert!(read.pixels().iter().any(|&pixel| pixel > 200));
    }
}

#[test]
fn a_picture_in_mnists_frame_is_taken_as_it_is_in_either_polarity() {
    for digit in 0..10 {
        let original = rasterize(&builtin::ink(digit, None, 4, 0));
        let image = GrayImage::from_raw(28, 28, original.pixels().to_vec()).unwrap();
        let mut negative = image.clone();
        image::imageops::invert(&mut negative);
        assert_eq!(read_png(image), original);
        assert_eq!(read_png(negative), original);
    }
}

#[test]
fn pictures_of_nothing_are_blank() {
    for (image, what) in [
        (GrayImage::from_pixel(300, 200, Luma([255])), "white"),
        (GrayImage::from_pixel(28, 28, Luma([0])), "black"),
        (GrayImage::from_pixel(1, 1, Luma([90])), "one pixel"),
        (
            GrayImage::from_fn(200, 200, |x, y| Luma([(100 + x / 4 + y / 8) as u8])),
            "a slope of light",
        ),
    ] {
        assert!(read_png(image).is_blank(), "{what}");
    }
}

/// Columns and rows that the ink takes up.
fn extent(image: &Image) -> (usize, usize) {
    let ink = |line: &dyn Fn(usize, usize) -> usize| {
        let used = (0..SIDE)
            .filter(|&line_at| (0..SIDE).any(|along| image.pixels()[line(line_at, along)] > 64))
            .collect::<Vec<_>>();
        used.last().map_or(0, |last| last + 1 - used[0])
    };
    (ink(&|x, y| y * SIDE + x), ink(&|y, x| y * SIDE + x))
}

#[test]
fn a_bar_on_a_strip_of_paper_fills_the_frame_the_way_it_lies() {
    let bar = |across: u32, along: u32| {
        Luma([
            if (18..22).contains(&across) && (100..500).contains(&along) {
                0
            } else {
                255
            },
        ])
    };
    let (columns, rows) = extent(&read_png(GrayImage::from_fn(40, 600, bar)));
    assert!(
        (1..=5).contains(&columns) && (18..=22).contains(&rows),
        "{columns} x {rows}"
    );
    assert_eq!(
        extent(&read_png(GrayImage::from_fn(600, 40, |x, y| bar(y, x)))),
        (rows, columns)
    );
}

#[test]
fn odd_shapes_and_textures_are_blank_or_centered() {
    let dotted = |width, height| {
        GrayImage::from_fn(width, height, |x, y| {
            Luma([if (x + y) % 7 == 0 { 0 } else { 255 }])
        })
    };
    let mut images: Vec<_> = [(1, 900), (900, 1), (2, 2), (3, 640)]
        .into_iter()
        .map(|(width, height)| dotted(width, height))
        .collect();
    images.push(GrayImage::from_fn(300, 300, |x, y| {
        Luma([((x * 31 + y * 57) % 251) as u8])
    }));
    for image in images {
        let size = image.dimensions();
        let read = read_png(image);
        let mass = |weight: &dyn Fn(usize) -> usize| -> f32 {
            read.pixels()
                .iter()
                .enumerate()
                .map(|(index, &pixel)| f32::from(pixel) * weight(index) as f32)
                .sum()
        };
        let total = mass(&|_| 1);
        let center = [
            mass(&|index| index % SIDE) / total,
            mass(&|index| index / SIDE) / total,
        ];
        // By whole pixels, as MNIST's images are.
        assert!(
            read.is_blank() || center.iter().all(|center| (center - 14.0).abs() < 0.6),
            "{size:?}: {center:?}"
        );
    }
}

const OTHER_FORMATS: [ImageFormat; 5] = [
    ImageFormat::Bmp,
    ImageFormat::Gif,
    ImageFormat::Pnm,
    ImageFormat::Tiff,
    ImageFormat::WebP,
];

#[test]
fn every_format_gives_what_png_gives() {
    let picture = DynamicImage::from(sheet(&five(), 200, 160, 0.7, [0.5, 0.5], dark_on_light));
    let expected = read_png(picture.clone());
    for format in OTHER_FORMATS {
        // GIF and WebP have no gray of their own.
        let read = read("a.png", &encoded(picture.to_rgb8(), format)).unwrap();
        assert_alike_images(&expected, &read);
    }
    for format in [ImageFormat::Bmp, ImageFormat::Pnm, ImageFormat::Tiff] {
        assert_eq!(
            read("a", &encoded(picture.to_luma8(), format)),
            Ok(expected.clone()),
            "{format:?}"
        );
    }
    // As text, and black and white: dark is 1.
    let text = "P1\n# by hand\n28 28\n".to_owned()
        + &(0..28)
            .map(|_| "0".repeat(13) + "11" + &"0".repeat(13) + "\n")
            .collect::<String>();
    assert!(!read("a.pbm", text.as_bytes()).unwrap().is_blank());
}

/// A GIF's 256 colors, and rounding, may change a pixel a little.
#[track_caller]
fn assert_alike_images(one: &Image, other: &Image) {
    let difference = one
        .pixels()
        .iter()
        .zip(other.pixels())
        .map(|(a, b)| a.abs_diff(*b))
        .max();
    assert!(
        difference < Some(24),
        "{difference:?}\n{}\n{}",
        drawn(one),
        drawn(other)
    );
}

#[test]
fn damaged_images_are_refused_or_read_whatever_is_wrong_with_them() {
    let picture = sheet(&five(), 40, 40, 0.7, [0.5, 0.5], dark_on_light);
    let mut random = Random::stream(1, "damage", 0);
    for format in OTHER_FORMATS
        .into_iter()
        .chain([ImageFormat::Png, ImageFormat::Jpeg])
    {
        let valid = encoded(DynamicImage::from(picture.clone()).to_rgb8(), format);
        for _ in 0..200 {
            let mut bytes = valid.clone();
            for _ in 0..=random.below(3) {
                // Headers are where most can go wrong.
                let among = if random.below(2) == 0 {
                    bytes.len().min(64)
                } else {
                    bytes.len()
                };
                bytes[random.below(among)] = random.below(256) as u8;
            }
            bytes.truncate(bytes.len() - random.below(bytes.len().min(8)));
            let (result, peak) =
                peak_of(|| read_image(Cursor::new(&bytes[..]), bytes.len() as u64, Path::new("a")));
            let _ = result;
            assert!(peak < 200 << 20, "{format:?} took {peak}");
        }
    }
}

#[test]
fn files_that_are_no_pictures_are_told() {
    let png = encoded(
        sheet(&five(), 60, 60, 0.7, [0.5, 0.5], dark_on_light),
        ImageFormat::Png,
    );
    // A header that claims 65,535 pixels a side; its checksum is of no help either.
    let mut giant = png.clone();
    giant[16..24].copy_from_slice(&[0, 0, 255, 255, 0, 0, 255, 255]);
    for (bytes, what) in [
        (&b""[..], "empty"),
        (b"hello", "text"),
        (&png[..png.len() / 2], "cut short"),
        (&giant, "giant"),
        (b"GIF89a\x01\x00\x01\x00", "GIF"),
        (b"P5 0 0 255 ", "no pixels"),
        (
            b"GIF89a\0\0\0\0\0\0\0,\0\0\0\0\0\0\0\0\0\x08\x01\0\0;",
            "no pixels",
        ),
    ] {
        let error = read("a.png", bytes).unwrap_err();
        assert!(
            matches!(&error, InkError::Malformed { path, reason } if path.ends_with("a.png") && !reason.is_empty()),
            "{what}: {error:?}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        read_image_file(&folder.path().join("absent.png"), Framing::Ink),
        Err(InkError::Unreadable { .. })
    ));
    assert!(read_image_file(folder.path(), Framing::Ink).is_err());
}

#[test]
fn the_longest_side_is_named() {
    let wide = encoded(GrayImage::new(20_001, 2), ImageFormat::Png);
    let error = read("wide.png", &wide).unwrap_err();
    assert!(
        matches!(&error, InkError::TooLarge { reason, .. } if reason.contains("20,000 pixels")),
        "{error:?}"
    );
}
