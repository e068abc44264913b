//! How much memory images and drawings take while they are read, whatever their files claim.

use std::io::{Cursor, Write};
use std::path::Path;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use inkling::ink::{Image, InkError, InkFile, read_image};
use inkling::system::input_file::InputFile;

use crate::meter::peak_of;

const MB: usize = 1 << 20;

fn chunk(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let mut checksum = Crc::new();
    checksum.update(&kind);
    checksum.update(content);
    [&(content.len() as u32).to_be_bytes()[..], &kind, content, &checksum.sum().to_be_bytes()].concat()
}

/// A PNG with 16-bit red, green, blue and alpha, with this in its chunk of pixels, and these chunks before it.
fn png(side: u32, before: &[u8], pixels: &[u8]) -> Vec<u8> {
    let header = [&side.to_be_bytes()[..], &side.to_be_bytes(), &[16, 6, 0, 0, 0]].concat();
    [b"\x89PNG\r\n\x1a\n", &chunk(*b"IHDR", &header)[..], before, &chunk(*b"IDAT", pixels), &chunk(*b"IEND", b"")].concat()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn read(bytes: &[u8]) -> (Result<Image, InkError>, usize) {
    peak_of(|| read_image(Cursor::new(bytes), bytes.len() as u64, Path::new("a.png")))
}

#[test]
fn an_image_of_few_bytes_that_claims_millions_of_pixels_is_refused_before_it_is_decoded() {
    let (read_png, peak) = read(&png(20_000, b"", b""));
    let error = read_png.unwrap_err();
    assert!(matches!(&error, InkError::TooLarge { reason, .. } if reason.contains("20000x20000")), "{error}");
    assert!(peak < MB, "{peak}");

    // The header of a progressive JPEG with four components, without any pixel.
    let component = |number: u8| [number, 0x11, 0];
    let components = [1, 2, 3, 4].map(component).concat();
    let scan = [&[0xFF, 0xDA, 0, 14, 4][..], &[1, 0, 2, 0, 3, 0, 4, 0], &[0, 0, 0]].concat();
    let jpeg = [&[0xFF, 0xD8, 0xFF, 0xC2, 0, 20, 8, 0x40, 0, 0x40, 0, 4][..], &components, &scan].concat();
    let (read_jpeg, peak) = read(&jpeg);
    let error = read_jpeg.unwrap_err();
    assert!(matches!(&error, InkError::TooLarge { reason, .. } if reason.contains("16384x16384")), "{error}");
    assert!(peak < MB, "{peak}");
}

#[test]
fn an_image_takes_no_more_than_its_file_can_hold() {
    // 64 MB are decoded, and 16 MB are a copy with two bytes a pixel.
    let side = 2_900;
    let blank = vec![0; (side * side * 8 + side) as usize];
    let (read_png, peak) = read(&png(side, b"", &zlib(&blank)));
    assert_eq!(read_png, Ok(Image::BLANK));
    assert!(peak < 110 * MB, "{peak}");
}

#[test]
fn what_an_image_holds_besides_pixels_is_limited() {
    let profile = chunk(*b"iCCP", &[b"a\0\0", &zlib(&vec![0; 50 * MB])[..]].concat());
    let text = chunk(*b"zTXt", &[b"a\0\0", &zlib(&vec![0; 50 * MB])[..]].concat());
    for before in [profile, text] {
        let (_, peak) = read(&png(4, &before, &zlib(&[0; 4 * 33])));
        assert!(peak < 40 * MB, "{peak}");
    }
}

#[test]
fn a_drawing_takes_no_more_than_a_few_times_the_longest_text() {
    // The shortest texts for a stroke and for a point, a drawing of each as long as any may be.
    for (stroke, least) in [("[],", 0), ("[[1,2]],", 0), ("[[1,2],[3,4],[5,6],[7,8]],", 1000)] {
        let count = (MB - 100) / stroke.len();
        let text = format!("{{\"strokes\": [{}[]]}}\n", stroke.repeat(count));
        let size = text.len() as u64;
        let (entries, peak) = peak_of(|| {
            let file = InputFile::new(Cursor::new(text), size).unwrap();
            InkFile::new(file, Path::new("a.jsonl")).map(|entry| entry.unwrap().ink.strokes.len()).sum::<usize>()
        });
        assert!(entries > least, "{entries}");
        assert!(peak < 40 * MB, "{peak} for {stroke}");
    }
}
