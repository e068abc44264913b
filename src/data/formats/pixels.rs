//! Images as tables and arrays have them, numbers of any size: which shapes are images,
//! what stands for white, and the 28x28 pixels in gray that are made of them.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use crate::ink::{Framing, Original, PIXELS, SIDE, frame};
use crate::progress::{Cancelled, Progress};
use crate::text::format::capitalized;

/// The lengths of an image's sides, in pixels: shorter rows of numbers are no images.
const SIDES: RangeInclusive<usize> = 8..=640;
/// The same for people.
pub const SIDES_TEXT: &str = "8 to 640 pixels";
/// Images framed between two reports of progress.
const CHUNK: usize = 64;
/// The weights of red, green and blue in brightness (ITU-R BT.709).
const BRIGHTNESS: [f32; 3] = [0.2126, 0.7152, 0.0722];

/// Where the numbers of an image's pixels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Channels {
    Gray,
    /// Red, green and blue of each pixel in turn.
    Together,
    /// The red of all pixels, then their green, then their blue.
    Apart,
}

/// The size of images, and whether they have colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub rows: usize,
    pub columns: usize,
    channels: Channels,
}

impl Shape {
    /// That of Inkling's own images.
    pub const FRAMED: Self = Self {
        rows: SIDE,
        columns: SIDE,
        channels: Channels::Gray,
    };

    /// The shape of so many rows and columns in gray.
    pub fn gray(rows: usize, columns: usize) -> Option<Self> {
        Self::new(rows, columns, Channels::Gray)
    }

    fn new(rows: usize, columns: usize, channels: Channels) -> Option<Self> {
        (SIDES.contains(&rows) && SIDES.contains(&columns)).then_some(Self {
            rows,
            columns,
            channels,
        })
    }

    /// Of the numbers in a row: a square image, in gray or else in color.
    pub fn of_row(numbers: usize) -> Option<Self> {
        let square = |pixels: usize, channels| {
            let side = pixels.isqrt();
            (side * side == pixels).then(|| Self::new(side, side, channels))?
        };
        square(numbers, Channels::Gray).or_else(|| {
            numbers
                .is_multiple_of(3)
                .then(|| square(numbers / 3, Channels::Together))?
        })
    }

    /// Of an array with these lengths, the first of which counts the images.
    pub fn of_array(lengths: &[u64]) -> Option<Self> {
        let lengths: Vec<usize> = lengths
            .iter()
            .map(|length| usize::try_from(*length))
            .collect::<Result<_, _>>()
            .ok()?;
        match lengths[..] {
            [_, numbers] => Self::of_row(numbers),
            [_, rows, columns] | [_, rows, columns, 1] | [_, 1, rows, columns] => {
                Self::gray(rows, columns)
            }
            [_, rows, columns, 3] => Self::new(rows, columns, Channels::Together),
            [_, 3, rows, columns] => Self::new(rows, columns, Channels::Apart),
            _ => None,
        }
    }

    pub const fn numbers(self) -> usize {
        self.pixels()
            * match self.channels {
                Channels::Gray => 1,
                Channels::Together | Channels::Apart => 3,
            }
    }

    const fn pixels(self) -> usize {
        self.rows * self.columns
    }

    /// The most bytes that an image takes: as it is, and once it has 28x28 pixels.
    pub const fn bytes(self) -> usize {
        if self.pixels() > PIXELS {
            self.pixels()
        } else {
            PIXELS
        }
    }

    /// True if the image is 28x28 already.
    pub const fn is_framed(self) -> bool {
        self.rows == SIDE && self.columns == SIDE
    }

    pub fn is_in_color(self) -> bool {
        self.channels != Channels::Gray
    }

    fn original(self) -> Original {
        Original {
            size: [self.columns, self.rows].map(|length| length as u32),
            in_color: self.is_in_color(),
        }
    }
}

/// The number that stands for white: the least that no pixel exceeds. Images of bytes that are
/// darker than the second of these would all be blank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum White {
    #[default]
    One,
    Sixteen,
    Byte,
}

impl White {
    const fn value(self) -> f32 {
        match self {
            Self::One => 1.0,
            Self::Sixteen => 16.0,
            Self::Byte => 255.0,
        }
    }

    fn of(largest: f32) -> Self {
        [Self::One, Self::Sixteen]
            .into_iter()
            .find(|white| match white {
                // Images that were resized may exceed white a little.
                Self::One => largest <= 1.1,
                _ => largest <= white.value(),
            })
            .unwrap_or(Self::Byte)
    }
}

/// Images of one shape, a byte for each pixel.
#[derive(Clone, Debug)]
pub struct Pixels {
    shape: Shape,
    white: White,
    gray: Vec<u8>,
}

impl Pixels {
    pub const fn new(shape: Shape) -> Self {
        Self {
            shape,
            white: White::One,
            gray: Vec::new(),
        }
    }

    /// Images whose pixels are bytes from 0 to 255.
    pub const fn of_bytes(shape: Shape, gray: Vec<u8>) -> Self {
        Self {
            shape,
            white: White::Byte,
            gray,
        }
    }

    /// Makes room for so many images; false if there is not enough memory.
    pub fn reserve(&mut self, images: usize) -> bool {
        let bytes = images.saturating_mul(self.shape.pixels());
        self.gray.try_reserve_exact(bytes).is_ok()
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.gray
    }

    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// How many images there are.
    pub fn len(&self) -> usize {
        self.gray.len() / self.shape.pixels()
    }

    pub fn is_empty(&self) -> bool {
        self.gray.is_empty()
    }

    /// Adds an image. An error is the place of a number that is not from 0 to 255.
    pub fn push(&mut self, image: &[f32]) -> Result<(), usize> {
        if let Some(wrong) = image
            .iter()
            .position(|number| !(0.0..=255.0).contains(number))
        {
            return Err(wrong);
        }
        self.make_white(White::of(image.iter().copied().fold(0.0, f32::max)));
        let scale = 255.0 / self.white.value();
        let byte = |number: f32| (number * scale).round() as u8;
        let bright = |color: [f32; 3]| {
            let parts = color.iter().zip(BRIGHTNESS);
            byte(parts.map(|(number, share)| number * share).sum())
        };
        let pixels = self.shape.pixels();
        match self.shape.channels {
            Channels::Gray => self.gray.extend(image.iter().copied().map(byte)),
            Channels::Together => self
                .gray
                .extend(image.as_chunks().0.iter().copied().map(bright)),
            Channels::Apart => self.gray.extend(
                (0..pixels).map(|pixel| bright([0, 1, 2].map(|part| image[part * pixels + pixel]))),
            ),
        }
        Ok(())
    }

    /// Adds the bytes of images in gray.
    pub fn extend(&mut self, images: &[u8]) {
        self.gray.extend_from_slice(images);
    }

    /// Takes this number for white, if one that is less was before; whole numbers lose nothing.
    fn make_white(&mut self, white: White) {
        if white > self.white {
            let scale = self.white.value() / white.value();
            for byte in &mut self.gray {
                *byte = (f32::from(*byte) * scale).round() as u8;
            }
            self.white = white;
        }
    }

    pub fn transpose(&mut self) {
        let Shape { rows, columns, .. } = self.shape;
        let mut turned = vec![0; self.shape.pixels()];
        for image in self.gray.chunks_exact_mut(turned.len()) {
            for (place, pixel) in turned.iter_mut().enumerate() {
                *pixel = image[place % rows * columns + place / rows];
            }
            image.copy_from_slice(&turned);
        }
        (self.shape.rows, self.shape.columns) = (columns, rows);
    }

    /// The images of all parts of a data set with 28x28 pixels each; what was done to them is added
    /// to `notes`. If that takes long, `progress` gets the fraction done of each part.
    pub fn framed(
        mut parts: Vec<Self>,
        framing: Framing,
        notes: &mut Vec<String>,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Vec<u8>>, Cancelled> {
        let white = parts.iter().map(|part| part.white).max();
        let white = white.unwrap_or(White::Byte);
        if white < White::Byte {
            notes.push(format!(
                "Pixels from 0 to {} were scaled to 0 to 255.",
                white.value()
            ));
        }
        let mut originals = Originals::default();
        for part in &mut parts {
            part.make_white(white);
            if !part.is_empty() {
                originals.add(part.shape.original());
            }
        }
        notes.extend(originals.note(framing));
        let framed = |part: Self| part.bytes(framing, progress);
        parts.into_iter().map(framed).collect()
    }

    /// Leaves out all images, but not what is white in them.
    pub fn clear(&mut self) {
        self.gray.clear();
    }

    /// The images with 28x28 pixels each.
    pub fn bytes(
        self,
        framing: Framing,
        progress: &mut dyn Progress,
    ) -> Result<Vec<u8>, Cancelled> {
        if self.shape.is_framed() {
            return Ok(self.gray);
        }
        let size = [self.shape.columns, self.shape.rows];
        let mut framed = vec![0; self.len() * PIXELS];
        let pixels = self.shape.pixels();
        let pieces = framed
            .chunks_mut(CHUNK * PIXELS)
            .zip(self.gray.chunks(CHUNK * pixels));
        for (number, (framed, images)) in pieces.enumerate() {
            progress.report((number * CHUNK) as f32 / self.len() as f32)?;
            framed
                .par_chunks_exact_mut(PIXELS)
                .zip(images.par_chunks_exact(pixels))
                .for_each(|(framed, image)| {
                    let values = image.iter().map(|&byte| f32::from(byte) / 255.0).collect();
                    framed.copy_from_slice(frame(size, values, framing).pixels());
                });
        }
        Ok(framed)
    }
}

/// The properties of a data set's images before they had 28x28 pixels in gray.
#[derive(Debug, Default)]
pub struct Originals {
    /// The sizes of the smallest and of the largest, as far as is known.
    sizes: Option<[[u32; 2]; 2]>,
    in_color: bool,
}

impl Originals {
    pub fn add(&mut self, image: Original) {
        let area = |[width, height]: [u32; 2]| u64::from(width) * u64::from(height);
        let [smallest, largest] = self.sizes.get_or_insert([image.size; 2]);
        if area(image.size) < area(*smallest) {
            *smallest = image.size;
        }
        if area(image.size) > area(*largest) {
            *largest = image.size;
        }
        self.in_color |= image.in_color;
    }

    /// The changes, if any, and what they lose.
    pub fn note(&self, framing: Framing) -> Option<String> {
        let [smallest, largest] = self.sizes?;
        let own = [SIDE as u32; 2];
        let as_text = |[width, height]: [u32; 2]| format!("{width}x{height}");
        let sizes = if smallest == largest {
            as_text(smallest)
        } else {
            format!("{} to {}", as_text(smallest), as_text(largest))
        };
        let color = if self.in_color { " in color" } else { "" };
        let images = format!("images of {sizes} pixels{color}");
        match ([smallest, largest] == [own; 2], self.in_color) {
            (true, false) => None,
            (true, true) => Some(format!(
                "Of {images}, only the brightness was kept: every network takes grayscale images."
            )),
            (false, in_color) => {
                let what = match framing {
                    Framing::Ink => format!("The writing in {images}"),
                    Framing::Whole => capitalized(&images),
                };
                let was = match framing {
                    Framing::Ink => "was",
                    Framing::Whole => "were",
                };
                let lost = if in_color {
                    "finer detail and color are lost"
                } else {
                    "finer detail is lost"
                };
                Some(format!(
                    "{what} {was} scaled to {SIDE}x{SIDE} grayscale, the input of every network; {lost}."
                ))
            }
        }
    }
}
