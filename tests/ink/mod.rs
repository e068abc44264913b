//! The ink module: images from strokes, from ink files and from image files.

mod image_file;
mod ink_file;
mod memory;
mod rasterize;
mod segment;
mod steps;
mod whole;
