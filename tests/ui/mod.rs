//! The window's panels, through what they tell assistive technology.

mod plots;
mod stroke;
