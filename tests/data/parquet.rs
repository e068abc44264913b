//! Parquet files, as they come from Hugging Face and from tables of pixels.

use std::fs::File;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use image::{GrayImage, ImageFormat};
use inkling::data::{DataError, Dataset, check, load};
use inkling::ink::PIXELS;
use inkling::math::random::Random;
use inkling::progress::Unwatched;
use inkling::run_config::{DataSource, DataSpec};
use parquet::basic::{Compression, GzipLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// As `datasets` writes it.
const HUGGING_FACE: &str = "message schema {
    optional group image { optional binary bytes; optional binary path (STRING); }
    optional int64 label;
}";

/// A square of another size for each digit, with some noise.
fn pixels(label: u8, random: &mut Random) -> Vec<u8> {
    let mut pixels = vec![0; PIXELS];
    let side = 5 + usize::from(label);
    for row in 8..8 + side {
        for column in 8..8 + side {
            pixels[row * 28 + column] = 200 + random.below(55) as u8;
        }
    }
    pixels
}

fn png(pixels: &[u8]) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    GrayImage::from_raw(28, 28, pixels.to_vec())
        .unwrap()
        .write_to(&mut file, ImageFormat::Png)
        .unwrap();
    file.into_inner()
}

/// Writes rows in groups of 1,500, more than are read at a time.
fn write_images(path: &Path, images: &[(Vec<u8>, Option<i64>)], compression: Compression) {
    write_images_with(path, images, compression, None);
}

/// The same with what `datasets` says of the columns.
fn write_images_with(
    path: &Path,
    images: &[(Vec<u8>, Option<i64>)],
    compression: Compression,
    features: Option<&str>,
) {
    let features =
        features.map(|text| vec![KeyValue::new("huggingface".to_owned(), text.to_owned())]);
    let schema = Arc::new(parse_message_type(HUGGING_FACE).unwrap());
    let properties = Arc::new(
        WriterProperties::builder()
            .set_compression(compression)
            .set_key_value_metadata(features)
            .build(),
    );
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    for images in images.chunks(1500) {
        let mut group = writer.next_row_group().unwrap();
        let files: Vec<ByteArray> = images.iter().map(|(file, _)| file.clone().into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<ByteArrayType>()
            .write_batch(&files, Some(&vec![2; files.len()]), None)
            .unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<ByteArrayType>()
            .write_batch(&[], Some(&vec![1; files.len()]), None)
            .unwrap();
        column.close().unwrap();
        let labels: Vec<i64> = images.iter().filter_map(|(_, label)| *label).collect();
        let levels: Vec<i16> = images
            .iter()
            .map(|(_, label)| label.is_some().into())
            .collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<Int64Type>()
            .write_batch(&labels, Some(&levels), None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn write_pixels(path: &Path, rows: &[(u8, Vec<u8>)], columns: usize) {
    let fields: String = (0..columns)
        .map(|pixel| format!("required int32 pixel{pixel};"))
        .collect();
    let schema = Arc::new(
        parse_message_type(&format!(
            "message table {{ required int32 label; {fields} }}"
        ))
        .unwrap(),
    );
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for column in 0..=columns {
        let number = |(label, pixels): &(u8, Vec<u8>)| {
            if column == 0 {
                i32::from(*label)
            } else {
                i32::from(pixels[column - 1])
            }
        };
        let mut writer = group.next_column().unwrap().unwrap();
        writer
            .typed::<Int32Type>()
            .write_batch(&rows.iter().map(number).collect::<Vec<_>>(), None, None)
            .unwrap();
        writer.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

fn loaded(path: &Path) -> Result<Dataset, DataError> {
    load(
        &DataSpec::single(DataSource::Path(path.to_owned())),
        &[],
        &mut Unwatched,
    )
}

fn reason(path: &Path) -> String {
    match loaded(path) {
        Err(
            DataError::Malformed { reason, .. }
            | DataError::TooLarge { reason, .. }
            | DataError::Refused { reason, .. }
            | DataError::NotASet { reason, .. },
        ) => reason,
        other => panic!("{other:?}"),
    }
}

/// So many images and their labels.
fn rows(count: usize, random: &mut Random) -> Vec<(u8, Vec<u8>)> {
    (0..count)
        .map(|index| ((index % 10) as u8, pixels((index % 10) as u8, random)))
        .collect()
}

fn files(rows: &[(u8, Vec<u8>)]) -> Vec<(Vec<u8>, Option<i64>)> {
    rows.iter()
        .map(|(label, pixels)| (png(pixels), Some(i64::from(*label))))
        .collect()
}

#[test]
fn a_copy_from_hugging_face_is_read_to_the_last_bit() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("mnist");
    std::fs::create_dir(&folder).unwrap();
    let random = &mut Random::new(1);
    let (train, test) = (rows(3100, random), rows(40, random));
    // In two files, compressed in two ways.
    write_images(
        &folder.join("train-00000-of-00002.parquet"),
        &files(&train[..3000]),
        Compression::SNAPPY,
    );
    write_images(
        &folder.join("train-00001-of-00002.parquet"),
        &files(&train[3000..]),
        Compression::GZIP(GzipLevel::default()),
    );
    write_images(
        &folder.join("test-00000-of-00001.parquet"),
        &files(&test),
        Compression::LZ4_RAW,
    );
    for path in [home.path(), &folder] {
        check(path).unwrap();
        let set = loaded(path).unwrap();
        for (split, rows) in [(&set.train, &train), (&set.test, &test)] {
            assert_eq!(
                split.labels,
                rows.iter().map(|(label, _)| *label).collect::<Vec<_>>()
            );
            assert!(
                split.images
                    == rows
                        .iter()
                        .flat_map(|(_, pixels)| pixels.clone())
                        .collect::<Vec<_>>()
            );
        }
    }
    let alone = loaded(&folder.join("test-00000-of-00001.parquet")).unwrap();
    assert_eq!(
        (alone.train.len(), alone.test.len()),
        (35, 5),
        "one in seven is for test where there is no other file"
    );
}

#[test]
fn columns_of_pixels_are_read() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("table.parquet");
    let rows = rows(1500, &mut Random::new(2));
    write_pixels(&path, &rows, PIXELS);
    let set = loaded(&path).unwrap();
    assert_eq!(set.train.len() + set.test.len(), 1500);
    for split in [&set.train, &set.test] {
        for index in 0..split.len() {
            let image = split.image(index);
            assert!(
                rows.iter()
                    .any(|(label, pixels)| *label == split.labels[index] && pixels == image)
            );
        }
    }
    write_pixels(&path, &rows, 101);
    assert!(
        reason(&path).contains("but 101 columns of numbers"),
        "{}",
        reason(&path)
    );
}

#[test]
fn what_is_wrong_is_said_with_its_row() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.parquet");
    let good = files(&rows(1200, &mut Random::new(3)));
    let with = |row: usize, image: Vec<u8>, label: Option<i64>| {
        let mut rows = good.clone();
        rows[row] = (image, label);
        write_images(&path, &rows, Compression::SNAPPY);
        reason(&path)
    };
    assert_eq!(
        with(1100, good[0].0.clone(), Some(100)),
        "row 1101: the label 100 is not a number from 0 to 99"
    );
    assert_eq!(
        with(1100, good[0].0.clone(), Some(-1)),
        "row 1101: the label -1 is not a number from 0 to 99"
    );
    assert_eq!(with(5, good[0].0.clone(), None), "a row has an empty cell");
    assert!(with(7, b"no image".to_vec(), Some(1)).starts_with("row 8: "));
    write_images(&path, &[], Compression::SNAPPY);
    assert_eq!(reason(&path), "it contains no rows");
    let schema = Arc::new(
        parse_message_type("message schema { required group image { required binary bytes; } }")
            .unwrap(),
    );
    SerializedFileWriter::new(File::create(&path).unwrap(), schema, Arc::default())
        .unwrap()
        .close()
        .unwrap();
    assert_eq!(reason(&path), "it contains no rows");
}

#[test]
fn damaged_files_are_refused_and_harm_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.parquet");
    write_images(
        &path,
        &files(&rows(60, &mut Random::new(4))),
        Compression::SNAPPY,
    );
    let whole = std::fs::read(&path).unwrap();
    let random = &mut Random::new(5);
    let mut refused = 0;
    for number in 0..400 {
        let mut damaged = whole.clone();
        if number % 4 == 0 {
            damaged.truncate(random.below(whole.len()));
        } else {
            // The metadata at the end matters most.
            let from = if number % 2 == 0 {
                0
            } else {
                whole.len() - 700
            };
            for _ in 0..=random.below(4) {
                let place = from + random.below(whole.len() - from);
                damaged[place] = random.below(256) as u8;
            }
        }
        std::fs::write(&path, damaged).unwrap();
        refused += u32::from(loaded(&path).is_err());
    }
    assert!(refused > 200, "{refused}");
}

#[test]
fn names_of_classes_come_from_hugging_faces_schema() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("pets.parquet");
    let features = r#"{"info": {"features": {"image": {"_type": "Image"}, "label": {"names": ["cat", "dog", "fox"], "_type": "ClassLabel"}}}}"#;
    let file = |label: i64| {
        let mut file = Cursor::new(Vec::new());
        // In color, twice as wide as high, light on the left.
        let image = image::RgbImage::from_fn(64, 32, |x, _| {
            image::Rgb(if x < 32 { [0, 250, 0] } else { [0; 3] })
        });
        image.write_to(&mut file, ImageFormat::Png).unwrap();
        (file.into_inner(), Some(label))
    };
    let rows: Vec<_> = (0..20).map(|row| file(row % 3)).collect();
    write_images_with(&path, &rows, Compression::SNAPPY, Some(features));
    let set = loaded(&path).unwrap();
    assert_eq!(Vec::from(set.classes.clone()), ["cat", "dog", "fox"]);
    // The whole picture, and not only what is written in it.
    let image = set.train.image(0);
    assert_eq!(
        (image[0], image[14 * 28 + 3], image[14 * 28 + 20]),
        (0, 179, 0)
    );
    assert!(
        set.notes[0].starts_with("Images of 64x32 pixels in color were scaled"),
        "{:?}",
        set.notes
    );
    // A label without a name.
    write_images_with(
        &path,
        &[file(3), file(0)],
        Compression::SNAPPY,
        Some(features),
    );
    assert!(reason(&path).contains("the 3 classes are numbered from 0 to 2"));
}

#[test]
fn compression_that_is_not_read_is_named() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.parquet");
    let rows = files(&rows(20, &mut Random::new(6)));
    write_images(&path, &rows, Compression::SNAPPY);
    let whole = std::fs::read(&path).unwrap();
    // The codec of a column in the metadata, before the number of its values.
    let [snappy, zstd] = [2_u8, 12].map(|codec| [0x15, codec, 0x16]);
    let mut other = whole.clone();
    for at in 0..whole.len() - 3 {
        if whole[at..at + 3] == snappy {
            other[at..at + 3].copy_from_slice(&zstd);
        }
    }
    std::fs::write(&path, other).unwrap();
    let Err(DataError::Refused { reason, remedy, .. }) = loaded(&path) else {
        panic!("{:?}", loaded(&path).map(|set| set.train.len()))
    };
    assert!(
        reason.contains("compressed with zstd") && remedy.contains("snappy"),
        "{reason} {remedy}"
    );
}

#[test]
fn files_for_validation_are_for_test_or_else_for_training() {
    let home = tempfile::tempdir().unwrap();
    let images = files(&rows(20, &mut Random::new(7)));
    let write = |name: &str, count: usize| {
        write_images(
            &home.path().join(name),
            &images[..count],
            Compression::SNAPPY,
        );
    };
    write("train-0.parquet", 12);
    write("validation-0.parquet", 4);
    let set = loaded(home.path()).unwrap();
    assert_eq!(
        (set.train.len(), set.test.len(), set.notes.len()),
        (12, 4, 1)
    );
    write("test-0.parquet", 3);
    let set = loaded(home.path()).unwrap();
    assert_eq!(
        (set.train.len(), set.test.len(), set.notes.len()),
        (16, 3, 1)
    );
}
