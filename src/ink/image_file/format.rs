//! The formats of images that are read.

use std::path::Path;

use image::ImageFormat;

/// How the names of image files end, in lower case.
pub const IMAGE_ENDINGS: [&str; 12] = [
    "png", "jpg", "jpeg", "bmp", "gif", "webp", "tif", "tiff", "pbm", "pgm", "ppm", "pnm",
];

pub const IMAGE_FORMATS: &str = "PNG, JPEG, BMP, GIF, WebP, TIFF, PBM, PGM or PPM";

/// Whether a file's name ends like that of an image.
pub fn is_named_like_an_image(path: &Path) -> bool {
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| IMAGE_ENDINGS.contains(&extension.as_str()))
}

/// Whether images in this format are decoded.
pub(super) const fn is_read(format: ImageFormat) -> bool {
    use ImageFormat::{Bmp, Gif, Jpeg, Png, Pnm, Tiff, WebP};
    matches!(format, Bmp | Gif | Jpeg | Png | Pnm | Tiff | WebP)
}
