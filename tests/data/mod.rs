//! The data module.

mod arrays;
mod augment;
mod builtin;
mod classes;
mod files;
mod fingerprint;
mod folders;
mod hostile;
mod issues;
mod labels;
mod memory;
mod my_digits;
mod pairs;
mod parquet;
mod tables;
mod validation;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use inkling::data::{DataError, Dataset, load};
use inkling::progress::Unwatched;

fn read(spec: &str, folders: &[PathBuf]) -> Result<Dataset, DataError> {
    load(&spec.parse().unwrap(), folders, &mut Unwatched)
}

fn read_path(path: &Path) -> Result<Dataset, DataError> {
    read(path.to_str().unwrap(), &[])
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Puts a packed file in the place of a plain one, with `.gz` at the end of its name.
fn pack(path: &Path) {
    let packed = path.with_file_name(format!(
        "{}.gz",
        path.file_name().unwrap().to_str().unwrap()
    ));
    fs::write(packed, gzip(&fs::read(path).unwrap())).unwrap();
    fs::remove_file(path).unwrap();
}

/// An image of a stroke, in a folder that may have to be made.
fn write_image(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let stroke = |x, y| {
        let inside = (10..14).contains(&x) && (4..24).contains(&y);
        image::Luma([if inside { 255 } else { 0 }])
    };
    let image = image::GrayImage::from_fn(28, 28, stroke);
    image.save(path).unwrap();
}
