//! The window's panels, through what they tell assistive technology.

mod draw;
mod exchange;
mod hardware;
mod manners;
mod models;
mod monitor;
mod plots;
mod results;
mod run_panel;
mod shell;
mod stage;
mod stroke;
mod window;
mod wizard;
