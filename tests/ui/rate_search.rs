//! The dialog of the search for a learning rate.

use eframe::egui::{Key, accesskit::Role};
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::records::{RateFinding, RateSuggestion, SearchEnd};

use super::window::sized;

const FOUND: RateFinding = RateFinding {
    suggestion: Some(RateSuggestion {
        rate: 0.0031,
        steepest: 0.0008,
        lowest: 0.04,
    }),
    end: SearchEnd::Risen,
    steps: 150,
};

#[test]
fn the_suggestion_goes_into_the_field_in_every_size_and_nothing_moves_when_it_comes() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = sized(size);
        window.get_by_label("More settings").click_accesskit();
        window.run_steps(20);
        window
            .get_by_label("Find a learning rate…")
            .click_accesskit();
        window.run_steps(3);
        engine.serve();
        window.run_steps(3);
        window.get_by_label("Search progress");
        let figure = window.get_by_role_and_label(Role::Figure, "Loss by learning rate");
        assert!(
            figure.value().unwrap().contains("learning rate"),
            "{:?}",
            figure.value()
        );
        assert!(window.get_by_label("Use").accesskit_node().is_disabled());
        let cancel = window.get_by_label("Cancel").rect();
        assert!(
            cancel.bottom() < size[1] && cancel.top() > 0.0,
            "{size:?}: {cancel:?}"
        );
        engine.finish_search(FOUND);
        window.run_steps(3);
        assert_eq!(
            window.get_by_label("Close").rect().min,
            cancel.min,
            "{size:?}"
        );
        window.get_by_label_contains("The loss falls fastest at");
        window.get_by_label("Use 0.0031").click();
        window.run_steps(3);
        assert!(window.state().app().train.rate_search.is_none());
        assert_eq!(
            window
                .get_by_role_and_label(Role::TextInput, "Learning rate")
                .value()
                .as_deref(),
            Some("0.0031")
        );
    }
}

#[test]
fn the_keyboard_suffices() {
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    window.get_by_label("More settings").click_accesskit();
    window.run_steps(20);
    window.get_by_label("Find a learning rate…").focus();
    window.run_steps(2);
    window.key_press(Key::Enter);
    window.run_steps(3);
    engine.serve();
    window.run_steps(3);
    assert!(window.state().app().train.rate_search.is_some());
    window.key_press(Key::Escape);
    window.run_steps(3);
    engine.serve();
    window.run_steps(3);
    assert!(
        window.state().app().train.rate_search.is_none()
            && window.state().app().ctx.jobs.is_empty()
    );
}
