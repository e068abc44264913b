//! The window by features, as data and through what it tells assistive technology; on a real
//! screen, `run` beside this.

mod alone;
mod classes;
mod counted;
mod digit_map;
mod draw;
mod hardware;
mod help;
mod inside;
mod lessons;

mod messages;
mod models;
mod motion;
mod my_digits;
mod plots;
mod rest;
mod results;
mod settings;
mod shell;
mod stage;
mod style;
mod sweeps;
mod timeline;
mod train;
mod unseen;
mod wizard;
