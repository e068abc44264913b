//! Reads image files: a photograph, scan or screenshot of one digit becomes the same 28x28 image as
//! ink would. [`decode`] reads the file within a budget of memory, [`foreground`] separates ink
//! from paper, [`reframe`] brings the ink into MNIST's frame.

mod decode;
mod foreground;
pub(super) mod reframe;

use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::path::Path;

use image::{DynamicImage, GenericImageView as _, Rgba, RgbaImage};

pub use self::decode::{IMAGE_ENDINGS, IMAGE_FORMATS, is_named_like_an_image};

use self::decode::{MAX_SIDE, Share, TOTAL, decode, needed, reduce};
use super::InkError;
use super::image::{GrayImage, Image, PIXELS, SIDE};
use super::segment::Writing;
use super::steps::{STAGE_SIDE, Stage, StageImage, StageKind, StageObserver, Steps};
use crate::run_config::Classes;
use crate::system::files::open_regular;

/// The image in a file, brought into MNIST's frame as ink is: dark on light or light on dark, with
/// or without transparency, of any size, unevenly lit. A file that follows MNIST's conventions
/// already is taken as it is. A file without anything on it gives [`Image::BLANK`]. If the whole
/// image counts, it is scaled.
pub fn read_image_file(path: &Path, framing: Framing) -> Result<(Image, Original), InkError> {
    let (mut file, size) = open(path)?;
    let (gray, original) = reduced(&decode(&mut file, size, path)?.image);
    let as_it_is = match framing {
        Framing::Ink => as_mnist(&gray),
        Framing::Whole => None,
    };
    Ok((as_it_is.unwrap_or_else(|| framed(&gray, framing)), original))
}

/// The writing in a file of `size` bytes that is open already; errors name `path`.
pub fn read_image(
    mut file: impl BufRead + Seek,
    size: u64,
    path: &Path,
) -> Result<Image, InkError> {
    let gray = reduce(&decode(&mut file, size, path)?.image);
    Ok(as_mnist(&gray).unwrap_or_else(|| reframed(&gray)))
}

/// An image of a data set: one of 28x28 pixels is taken as it is, any other is framed.
pub fn read_set_image(
    mut file: impl BufRead + Seek,
    size: u64,
    path: &Path,
    framing: Framing,
) -> Result<(Image, Original), InkError> {
    let (gray, original) = reduced(&decode(&mut file, size, path)?.image);
    let image = unchanged(&gray).unwrap_or_else(|| framed(&gray, framing));
    Ok((image, original))
}

/// The 28x28 image of a gray one of another size: its pixels in rows from the top left, from 0
/// (black) to 1 (white).
pub fn frame([width, height]: [usize; 2], values: Vec<f32>, framing: Framing) -> Image {
    let gray = GrayImage {
        width,
        height,
        values,
        scale: 1.0,
    };
    framed(&gray, framing)
}

/// The properties of an image before it became one of 28x28 pixels in gray.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Original {
    /// Width and height in pixels.
    pub size: [u32; 2],
    pub in_color: bool,
}

fn reduced(image: &DynamicImage) -> (GrayImage, Original) {
    let has_color = |image: &DynamicImage| {
        let mut pixels = image.pixels();
        pixels.any(|(_, _, Rgba([red, green, blue, _]))| red != green || green != blue)
    };
    let original = Original {
        size: [image.width(), image.height()],
        in_color: image.color().has_color() && has_color(image),
    };
    (reduce(image), original)
}

fn framed(gray: &GrayImage, framing: Framing) -> Image {
    match framing {
        Framing::Ink => reframed(gray),
        Framing::Whole => reframe::whole(gray),
    }
}

fn reframed(gray: &GrayImage) -> Image {
    foreground::find_ink(gray, &Steps::ALL, &mut ())
        .and_then(|ink| reframe::reframe(&ink, &Steps::ALL, &mut ()))
        .map_or(Image::BLANK, |(image, _)| image)
}

/// The part of an image that a model gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// The writing in it, in MNIST's frame.
    #[default]
    Ink,
    Whole,
}

impl Framing {
    /// The part that a model with these classes gets.
    pub const fn of(classes: &Classes) -> Self {
        if classes.are_written() {
            Self::Ink
        } else {
            Self::Whole
        }
    }
}

/// What is written in an image file, divided into pieces each of which belongs to one digit; read
/// as [`read_image_file`] does it.
pub fn read_writing_file(path: &Path, framing: Framing) -> Result<Writing, InkError> {
    let (file, size) = open(path)?;
    read_writing(file, size, path, framing)
}

/// The same for a file of `size` bytes that is open already; errors name `path`.
pub fn read_writing(
    mut file: impl BufRead + Seek,
    size: u64,
    path: &Path,
    framing: Framing,
) -> Result<Writing, InkError> {
    Ok(writing_of(
        &reduce(&decode(&mut file, size, path)?.image),
        &Steps::ALL,
        framing,
        &mut (),
    ))
}

/// What a model is shown of an image, found with these steps; `observer` is shown what each of them
/// gives.
fn writing_of(
    gray: &GrayImage,
    steps: &Steps,
    framing: Framing,
    observer: &mut impl StageObserver,
) -> Writing {
    observer.stage(StageKind::Gray, || {
        StageImage::Light(gray.reduced(STAGE_SIDE))
    });
    if framing == Framing::Whole {
        return Writing::whole(
            reframe::whole(gray),
            [gray.width, gray.height].map(|side| side as f32 * gray.scale),
        );
    }
    if let Some(image) = as_mnist(gray) {
        return Writing::framed(image);
    }
    let steps = steps.on_page([gray.width as f32, gray.height as f32]);
    let ink = foreground::find_ink(gray, &steps, observer);
    ink.map_or_else(
        || Writing::framed(Image::BLANK),
        |ink| Writing::of_pixels(ink, steps),
    )
}

fn open(path: &Path) -> Result<(BufReader<File>, u64), InkError> {
    let unreadable = InkError::unreadable(path);
    let file = open_regular(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    Ok((BufReader::new(file), size))
}

/// The image itself when it has 28x28 pixels.
fn unchanged(gray: &GrayImage) -> Option<Image> {
    if (gray.width, gray.height) != (SIDE, SIDE) {
        return None;
    }
    let mut pixels = [0; PIXELS];
    for (pixel, value) in pixels.iter_mut().zip(&gray.values) {
        *pixel = (value * 255.0).round() as u8;
    }
    Some(Image::new(pixels))
}

/// The image itself (or its negative) when it is in MNIST's frame: 28x28, dark margin, ink 20
/// pixels long and centered by mass.
fn as_mnist(gray: &GrayImage) -> Option<Image> {
    let pixels = *unchanged(gray)?.pixels();
    [pixels, pixels.map(|pixel| 255 - pixel)]
        .into_iter()
        .find(follows_mnist)
        .map(Image::new)
}

fn follows_mnist(pixels: &[u8; PIXELS]) -> bool {
    /// Darker pixels are compression artifacts rather than ink.
    const INK: u8 = 40;
    let mut low = [SIDE; 2];
    let mut high = [0; 2];
    let [mut mass, mut mass_x, mut mass_y] = [0.0_f32; 3];
    for (index, &pixel) in pixels
        .iter()
        .enumerate()
        .filter(|(_, pixel)| **pixel >= INK)
    {
        let place = [index % SIDE, index / SIDE];
        for axis in 0..2 {
            low[axis] = low[axis].min(place[axis]);
            high[axis] = high[axis].max(place[axis] + 1);
        }
        mass += f32::from(pixel);
        mass_x += f32::from(pixel) * place[0] as f32;
        mass_y += f32::from(pixel) * place[1] as f32;
    }
    let longest = high[0]
        .saturating_sub(low[0])
        .max(high[1].saturating_sub(low[1]));
    let centered = |moment: f32| (moment / mass - 14.0).abs() <= 0.75;
    (18..=20).contains(&longest) && centered(mass_x) && centered(mass_y)
}

/// An image file or an image from the clipboard, decoded and reduced.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceImage {
    gray: GrayImage,
    colored: RgbaImage,
    size: [u32; 2],
}

/// The digits in an image after some steps.
#[derive(Clone, Debug)]
pub struct PreparedImage {
    /// The results of the steps that look at the whole image.
    pub stages: Vec<Stage>,
    pub writing: Writing,
}

impl SourceImage {
    /// Reads an image file, within the same limits as [`read_image_file`].
    pub fn open(path: &Path) -> Result<Self, InkError> {
        let (mut file, size) = open(path)?;
        Ok(Self::of(&decode(&mut file, size, path)?.image))
    }

    /// An image of this width and height in pixels: red, green, blue and alpha for each, if the
    /// colors are multiplied by alpha. Errors name `name`.
    pub fn from_premultiplied(
        [width, height]: [usize; 2],
        mut pixels: Vec<u8>,
        name: &Path,
    ) -> Result<Self, InkError> {
        let side = |side: usize| {
            u32::try_from(side)
                .ok()
                .filter(|side| (1..=MAX_SIDE).contains(side))
        };
        let bytes = |width, height| {
            needed(
                width,
                height,
                image::ColorType::Rgba8,
                image::ImageFormat::Png,
            )
        };
        let too_large = || InkError::too_large(name, format!("it has {width}x{height} pixels"));
        let (Some(width), Some(height)) = (side(width), side(height)) else {
            return Err(too_large());
        };
        if bytes(width, height) > TOTAL {
            return Err(too_large());
        }
        let _share = Share::take(bytes(width, height));
        for pixel in pixels.chunks_exact_mut(4) {
            let alpha = pixel.last().copied().unwrap_or(u8::MAX);
            if !matches!(alpha, 0 | u8::MAX) {
                for value in pixel.iter_mut().take(3) {
                    *value = (u32::from(*value) * 255 / u32::from(alpha)).min(255) as u8;
                }
            }
        }
        let image = RgbaImage::from_raw(width, height, pixels);
        let image =
            image.ok_or_else(|| InkError::malformed(name, "its pixels are not all there"))?;
        Ok(Self::of(&DynamicImage::ImageRgba8(image)))
    }

    fn of(image: &DynamicImage) -> Self {
        let gray = reduce(image);
        let colored = image
            .thumbnail_exact(gray.width as u32, gray.height as u32)
            .to_rgba8();
        Self {
            gray,
            colored,
            size: [image.width(), image.height()],
        }
    }

    /// Width and height in pixels.
    pub const fn size(&self) -> [u32; 2] {
        self.size
    }

    /// The image reduced to what is worked with: width and height in pixels, and red, green, blue
    /// and alpha of each.
    pub fn colored(&self) -> ([usize; 2], &[u8]) {
        (self.gray.size(), self.colored.as_raw())
    }

    /// Finds what is written in it, as [`read_writing_file`] does with all steps.
    pub fn prepare(&self, steps: &Steps, framing: Framing) -> PreparedImage {
        let mut stages = Vec::new();
        let writing = writing_of(&self.gray, steps, framing, &mut stages);
        PreparedImage { stages, writing }
    }
}
