//! What the window shows, as data.

mod checking;
mod drawing;
mod history;
mod interrupted;
mod libraries;
mod manners;
mod messages;
mod monitor;
mod opening;
mod reading_place;
mod settings;
mod state;
mod verdict;

/// Polls until that is so.
fn wait_for(app: &mut inkling::app::App, until: impl Fn(&inkling::app::App) -> bool) {
    for _ in 0..2000 {
        app.poll();
        if until(app) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("it did not come");
}
