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
    [
        &(content.len() as u32).to_be_bytes()[..],
        &kind,
        content,
        &checksum.sum().to_be_bytes(),
    ]
    .concat()
}

/// A PNG with 16-bit red, green, blue and alpha, with this in its chunk of pixels, and these chunks
/// before it.
fn png(side: u32, before: &[u8], pixels: &[u8]) -> Vec<u8> {
    let header = [
        &side.to_be_bytes()[..],
        &side.to_be_bytes(),
        &[16, 6, 0, 0, 0],
    ]
    .concat();
    [
        b"\x89PNG\r\n\x1a\n",
        &chunk(*b"IHDR", &header)[..],
        before,
        &chunk(*b"IDAT", pixels),
        &chunk(*b"IEND", b""),
    ]
    .concat()
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
    assert!(
        matches!(&error, InkError::TooLarge { reason, .. } if reason.contains("20000x20000")),
        "{error}"
    );
    assert!(peak < MB, "{peak}");

    // The header of a progressive JPEG with four components, without any pixel.
    let component = |number: u8| [number, 0x11, 0];
    let components = [1, 2, 3, 4].map(component).concat();
    let scan = [
        &[0xFF, 0xDA, 0, 14, 4][..],
        &[1, 0, 2, 0, 3, 0, 4, 0],
        &[0, 0, 0],
    ]
    .concat();
    let jpeg = [
        &[0xFF, 0xD8, 0xFF, 0xC2, 0, 20, 8, 0x40, 0, 0x40, 0, 4][..],
        &components,
        &scan,
    ]
    .concat();
    let (read_jpeg, peak) = read(&jpeg);
    let error = read_jpeg.unwrap_err();
    assert!(
        matches!(&error, InkError::TooLarge { reason, .. } if reason.contains("16384x16384")),
        "{error}"
    );
    assert!(peak < MB, "{peak}");
}

/// A chunk of a WebP file.
fn riff(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    [
        &kind[..],
        &(content.len() as u32).to_le_bytes(),
        content,
        &vec![0; content.len() % 2],
    ]
    .concat()
}

fn webp(chunks: &[Vec<u8>]) -> Vec<u8> {
    riff(*b"RIFF", &[b"WEBP", &chunks.concat()[..]].concat())
}

/// A TIFF of one strip with these tags, each with a number.
fn tiff(tags: &[(u16, u32)]) -> Vec<u8> {
    let entry = |(tag, value): &(u16, u32)| {
        [
            &tag.to_le_bytes()[..],
            &4_u16.to_le_bytes(),
            &1_u32.to_le_bytes(),
            &value.to_le_bytes(),
        ]
        .concat()
    };
    let entries: Vec<u8> = tags.iter().flat_map(entry).collect();
    [
        b"II*\0\x08\0\0\0",
        &(tags.len() as u16).to_le_bytes()[..],
        &entries,
        &[0; 4],
    ]
    .concat()
}

#[test]
fn other_formats_that_claim_millions_of_pixels_are_refused_before_they_are_decoded() {
    let side = 20_000_u32;
    let bmp = [
        &b"BM"[..],
        &[0; 8],
        &54_u32.to_le_bytes(),
        &40_u32.to_le_bytes(),
        &side.to_le_bytes(),
        &side.to_le_bytes(),
        &[1, 0, 24, 0],
        &[0; 24],
    ];
    let small = (side as u16).to_le_bytes();
    let gif = [
        &b"GIF89a"[..],
        &small,
        &small,
        &[0; 3],
        b",\0\0\0\0",
        &small,
        &small,
        &[0, 8, 1, 0, 0],
    ];
    let lossy = [
        &[0x10, 0, 0, 0x9D, 0x01, 0x2A][..],
        &16_000_u16.to_le_bytes(),
        &16_000_u16.to_le_bytes(),
        &[0; 20],
    ]
    .concat();
    let lossless = [
        &[0x2F][..],
        &(0x3E7F_u32 | 0x3E7F << 14).to_le_bytes(),
        &[0; 20],
    ]
    .concat();
    let photometric = tiff(&[
        (256, side),
        (257, side),
        (258, 8),
        (259, 1),
        (262, 1),
        (273, 8),
        (277, 1),
        (278, side),
        (279, side * side),
    ]);
    let files = [
        bmp.concat(),
        gif.concat(),
        webp(&[riff(*b"VP8 ", &lossy)]),
        webp(&[riff(*b"VP8L", &lossless)]),
        photometric,
        b"P5 20000 20000 255 ".to_vec(),
    ];
    for (index, file) in files.iter().enumerate() {
        let (image, peak) = read(file);
        assert!(
            matches!(&image, Err(InkError::TooLarge { .. })),
            "{index}: {image:?}"
        );
        assert!(peak < MB, "{index}: {peak}");
    }
}

#[test]
fn parts_of_a_file_that_are_larger_than_the_whole_are_refused() {
    let about = |flags: u8| riff(*b"VP8X", &[flags, 0, 0, 0, 3, 0, 0, 3, 0, 0]);
    let lossy = riff(
        *b"VP8 ",
        &[
            &[0x10, 0, 0, 0x9D, 0x01, 0x2A, 0xFF, 0x3F, 0xFF, 0x3F][..],
            &[0; 20],
        ]
        .concat(),
    );
    let frame = riff(
        *b"ANMF",
        &[&[0; 6][..], &[3, 0, 0, 3, 0, 0], &[0; 4], &lossy].concat(),
    );
    let mut exif = webp(&[about(8), lossy.clone(), riff(*b"EXIF", b"")]);
    let end = exif.len();
    exif[end - 4..].copy_from_slice(&0xF000_0000_u32.to_le_bytes());
    let jpeg = tiff(&[
        (256, 4),
        (257, 4),
        (258, 8),
        (259, 7),
        (262, 1),
        (273, 8),
        (277, 1),
        (278, 4),
        (279, 16),
    ]);
    let files = [
        webp(&[about(0), lossy]),
        webp(&[about(2), riff(*b"ANIM", &[0; 6]), frame]),
        exif,
        jpeg,
    ];
    for (index, file) in files.iter().enumerate() {
        let (image, peak) = read(file);
        assert!(
            matches!(&image, Err(InkError::Malformed { .. })),
            "{index}: {image:?}"
        );
        assert!(peak < MB, "{index}: {peak}");
    }
}

#[test]
fn the_codes_of_lossless_images_count_as_memory() {
    let header = (3_u32 | 3 << 14).to_le_bytes();
    // What is left of a chunk behind it hides nothing.
    for behind in [&b""[..], b"EXIF"] {
        let lossless = riff(*b"VP8L", &[&[0x2F][..], &header, &vec![0; 2 * MB]].concat());
        let (image, peak) = read(&webp(&[lossless, behind.to_vec()]));
        assert!(
            matches!(&image, Err(InkError::TooLarge { .. })),
            "{image:?}"
        );
        assert!(peak < MB, "{peak}");
    }
}

#[test]
fn other_formats_take_no_more_than_they_are_allowed() {
    let picture = image::DynamicImage::new_rgba8(2000, 2000);
    for format in [
        image::ImageFormat::Bmp,
        image::ImageFormat::Gif,
        image::ImageFormat::Tiff,
        image::ImageFormat::WebP,
    ] {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        let (image, peak) = read(bytes.get_ref());
        assert_eq!(image, Ok(Image::BLANK), "{format:?}");
        // The pixels, what is beside them while they are decoded, and what they are reduced to.
        assert!(peak < 80 * MB, "{format:?}: {peak}");
    }
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
    for (stroke, least) in [
        ("[],", 0),
        ("[[1,2]],", 0),
        ("[[1,2],[3,4],[5,6],[7,8]],", 1000),
    ] {
        let count = (MB - 100) / stroke.len();
        let text = format!("{{\"strokes\": [{}[]]}}\n", stroke.repeat(count));
        let size = text.len() as u64;
        let (entries, peak) = peak_of(|| {
            let file = InputFile::new(Cursor::new(text), size).unwrap();
            InkFile::new(file, Path::new("a.jsonl"))
                .map(|entry| entry.unwrap().ink.strokes.len())
                .sum::<usize>()
        });
        assert!(entries > least, "{entries}");
        assert!(peak < 40 * MB, "{peak} for {stroke}");
    }
}
