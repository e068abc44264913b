//! The window's panels, through what they tell assistive technology.

mod batch_size_search;
mod closing;
mod compare;
mod desktop_integration;
mod draw;
mod hardware;
mod import_export;
mod learning;
mod models;
mod monitor;
mod my_digits;
mod other_machine;
mod plots;
mod rate_search;
mod repeats;
mod results;
mod run_fields;
mod run_panel;
mod shell;
mod stage;
mod steps;
mod stroke;
mod style;
mod sweep;
mod window;
mod wizard;
