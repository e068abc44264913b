//! The ink room: pictures from strokes, from files of strokes and from files of pictures.

mod file;
mod photo;
mod render;
