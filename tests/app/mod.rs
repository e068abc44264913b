//! What the window shows, as data.

mod batch_size_search;
mod cuda_libraries;
mod desktop_integration;
mod device_check;
mod drawing;
mod history;
mod images;
mod inference_device;
mod interrupted;
mod last_session;
mod learning;
pub mod messages;
mod models;
mod monitor;
mod my_digits;
mod opening;
mod other_machine;
mod rate_search;
mod recommendation;
mod settings;
mod state;
mod sweep;
mod verdict;

/// Polls until that is so.
fn wait_for(app: &mut inkling::window::App, until: impl Fn(&inkling::window::App) -> bool) {
    for _ in 0..2000 {
        app.poll();
        if until(app) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("it did not come");
}
