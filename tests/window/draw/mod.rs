//! Draw: the canvas, what is opened on it, and what is said about it.

mod canvas;
mod device;
mod history;
mod images;
mod opening;
mod steps;
mod stroke;
mod verdict;
mod why;
