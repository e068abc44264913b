//! The dialog of the search for a batch size.

use eframe::egui::{Key, accesskit::Role};
use egui_kittest::kittest::{NodeT, Queryable};

use super::window::sized;

#[test]
fn the_recommended_size_goes_into_the_field_in_every_size_and_nothing_moves_when_it_comes() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = sized(size);
        window.get_by_label("Find a batch size…").click_accesskit();
        window.run_steps(3);
        let start = window.get_by_label("Start search").rect();
        assert!(
            start.bottom() < size[1] && start.top() > 0.0,
            "{size:?}: {start:?}"
        );
        window.get_by_label("Start search").click();
        window.run_steps(3);
        engine.serve();
        window.run_steps(3);
        window.get_by_label("Search progress");
        window.get_by_label("Batch size 1024: not timed yet");
        assert_eq!(
            window.get_by_label("Cancel").rect().min,
            start.min,
            "{size:?}"
        );
        let config = window.state().app().ctx.config.clone();
        engine.finish_batch_size_search(&config);
        window.run_steps(3);
        window.get_by_label_contains("Gradient noise scale: about 310 images");
        window.get_by_label_contains("Batch size 512: not reached in");
        window.get_by_label_contains("Batch size 1024: diverged after");
        assert_eq!(
            window.get_by_label("Use 256").rect().min,
            start.min,
            "{size:?}"
        );
        window.get_by_label("Use 256").click();
        window.run_steps(3);
        assert!(window.state().app().train.batch_size_search.is_none());
        assert_eq!(
            window
                .get_by_role_and_label(Role::TextInput, "Batch size")
                .value()
                .as_deref(),
            Some("256")
        );
    }
}

#[test]
fn the_keyboard_suffices() {
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    window.get_by_label("Find a batch size…").focus();
    window.run_steps(2);
    window.key_press(Key::Enter);
    window.run_steps(3);
    assert!(
        window
            .get_by_label("Start search")
            .accesskit_node()
            .is_focused()
    );
    window.key_press(Key::Enter);
    window.run_steps(3);
    engine.serve();
    window.run_steps(3);
    window.get_by_label("Search progress");
    window.key_press(Key::Escape);
    window.run_steps(3);
    engine.serve();
    window.run_steps(3);
    assert!(
        window.state().app().train.batch_size_search.is_none()
            && window.state().app().ctx.jobs.is_empty()
    );
}
