//! The map of digits: asked for while it is shown, moved by each answer, told to everybody.

use std::time::Duration;

use eframe::egui::Key;
use egui_kittest::kittest::Queryable;
use inkling::protocol::{Answer, Command, Event, Question};
use inkling::records::{MapSpec, ModelInfo, ModelRef};
use inkling::window::digit_map::Layout;
use inkling::window::{Action, App, DrawAction, InsideAction, Level, MapAction, Screen};

use crate::fake_engine::{FakeEngine, app, map, map_for, starter};
use crate::window::stage::{Driven, Seen, Window, sized};

/// The map in a window of this size.
fn opened(size: [f32; 2]) -> (Window, FakeEngine) {
    let (mut window, mut engine) = sized(size);
    window.act(Action::Show(Screen::Inside));
    window.click("Map of digits");
    window.serve(&mut engine);
    window.serve(&mut engine);
    (window, engine)
}

fn draw(window: &mut Window, engine: &mut FakeEngine) {
    window.apply(DrawAction::PenDown([80.0, 40.0]));
    window.apply(DrawAction::PenMove([120.0, 220.0]));
    window.apply(DrawAction::PenUp);
    window.serve(engine);
    window.serve(engine);
}

/// What was asked about the map.
fn asked(engine: &mut FakeEngine) -> Vec<(u64, MapSpec)> {
    let questions = engine
        .listen()
        .into_iter()
        .filter_map(|command| match command {
            Command::Read {
                request,
                what: Question::Map(spec),
            } => Some((request, spec)),
            _ => None,
        });
    questions.collect()
}

/// The map in an app without a window, and the first request for it.
fn asking() -> (App, FakeEngine, u64) {
    let (mut app, mut engine) = app();
    app.apply(Action::Show(Screen::Inside));
    app.apply(InsideAction::Open(Level::Map));
    app.poll();
    let asked = asked(&mut engine);
    let [(request, spec)] = &asked[..] else {
        panic!("{asked:?}");
    };
    assert_eq!((spec.known, spec.components), (None, 2));
    (app, engine, *request)
}

fn answer(request: u64, map: Option<inkling::records::DigitMap>) -> Event {
    Event::Read {
        request,
        answer: Ok(Answer::Map(map.map(Box::new))),
    }
}

/// Waits until the map is asked for again.
fn asked_again(app: &mut App, engine: &mut FakeEngine) -> (u64, MapSpec) {
    for _ in 0..600 {
        app.poll();
        if let Some(asked) = asked(engine).pop() {
            return asked;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the map was not asked for again");
}

#[test]
fn the_map_is_shown_and_said_at_every_size() {
    for size in [[900.0, 600.0], [1280.0, 800.0], [1920.0, 1080.0]] {
        let (mut window, mut engine) = opened(size);
        let said = window.value("Points of the map");
        assert!(
            said.contains("validation split: 100 images shown, 90.0% classified correctly"),
            "{said}"
        );
        window.get_by_label_contains("Last hidden layer, 84 neurons: first and second principal");
        window.get_by_label("your drawings");
        let rect = window.rect("Points of the map");
        assert!(
            rect.height() > 200.0 && rect.bottom() < size[1],
            "{size:?}: {rect:?}"
        );
        draw(&mut window, &mut engine);
        if size[1] > 700.0 {
            window.get_by_label_contains("Nearest of 10,000 training images: ");
            assert!(window.has("Nearest image 1: 3"));
        }
    }
}

#[test]
fn points_are_chosen_by_keyboard_and_escape_leads_back() {
    let (mut window, _engine) = opened([1280.0, 800.0]);
    window.focus("Points of the map");
    window.key(Key::ArrowRight);
    let first = window.value("Points of the map");
    assert!(first.starts_with("Held-out image: "), "{first}");
    window.press(Key::ArrowRight, 12);
    let other = window.value("Points of the map");
    assert!(
        other.starts_with("Held-out image: ") && first != other,
        "{first} {other}"
    );
    window.key(Key::Escape);
    assert!(window.value("Points of the map").contains("100 images"));
    assert_eq!(window.app().ctx.inside, Level::Map);
    window.key(Key::Escape);
    window.key(Key::Escape);
    assert_eq!(window.app().ctx.inside, Level::Network);
    assert!(!window.has("Principal components"));
}

#[test]
fn it_is_asked_for_only_while_it_is_shown_and_once_where_nothing_changes() {
    let (mut app, mut engine) = app();
    app.apply(Action::Show(Screen::Inside));
    app.poll();
    assert!(asked(&mut engine).is_empty());
    let (mut app, mut engine, request) = asking();
    app.poll();
    assert!(asked(&mut engine).is_empty(), "one at a time");
    app.on_event(answer(request, None));
    let (request, _) = asked_again(&mut app, &mut engine);
    app.on_event(answer(request, Some(map(1))));
    app.on_event(answer(request, Some(map(2))));
    assert_eq!(app.map.shown().unwrap().map.id, 1, "nobody asked for that");
    std::thread::sleep(Duration::from_millis(1100));
    // My digits may have been read since.
    app.poll();
    for (request, spec) in asked(&mut engine) {
        assert_eq!(spec.known, Some(11));
        app.on_event(answer(request, Some(map(1))));
    }
    std::thread::sleep(Duration::from_millis(1100));
    app.poll();
    assert!(asked(&mut engine).is_empty());
}

#[test]
fn a_map_that_comes_the_other_way_up_does_not_jump() {
    let (mut app, mut engine, request) = asking();
    app.on_event(answer(request, Some(map(1))));
    let before = app.map.positions().to_vec();
    app.on_event(Event::ModelInUse(ModelInfo {
        epochs: 7,
        ..starter()
    }));
    let (request, spec) = asked_again(&mut app, &mut engine);
    let mut turned = map_for(2, &spec);
    for at in turned.coordinates.chunks_exact_mut(2) {
        (at[0], at[1]) = (-at[1], at[0]);
    }
    app.on_event(answer(request, Some(turned)));
    assert_eq!(app.map.shown().unwrap().map.id, 2);
    for ([x, y], [a, b]) in before.iter().zip(app.map.positions()) {
        assert!((x - a).abs() < 1e-3 && (y - b).abs() < 1e-3);
    }
}

#[test]
fn another_model_has_another_map() {
    let (mut app, mut engine, request) = asking();
    app.on_event(answer(request, Some(map(1))));
    assert!(app.map.shown().is_some());
    app.on_event(Event::ModelInUse(ModelInfo {
        reference: ModelRef::File("other.safetensors".into()),
        ..starter()
    }));
    assert!(app.map.shown().is_none());
    let (request, spec) = asked_again(&mut app, &mut engine);
    assert_eq!(spec.known, Some(11), "the images may be the same");
    app.on_event(answer(request, Some(map_for(3, &spec))));
    assert_eq!(app.map.shown().unwrap().map.id, 3);
    assert!(app.map.image(99).is_some() && app.map.image(100).is_none());
}

#[test]
fn what_cannot_be_classified_is_not_asked_for_again_and_again() {
    let (mut app, mut engine, request) = asking();
    app.on_event(Event::Read {
        request,
        answer: Err(inkling::protocol::EngineError::NoSuchRun.into()),
    });
    std::thread::sleep(Duration::from_millis(300));
    app.poll();
    assert!(asked(&mut engine).is_empty() && app.map.has_failed());
    assert_eq!(app.ctx.notices.len(), 1);
}

#[test]
fn neighbors_are_laid_out_in_the_background() {
    let (mut window, mut engine) = opened([1280.0, 800.0]);
    let plane = window.app().map.positions().to_vec();
    window.click("Neighbors");
    assert_eq!(window.app().map.layout, Layout::Neighbors);
    for _ in 0..400 {
        window.serve(&mut engine);
        if window.app().map.positions() != plane && window.app().map.progress().is_none() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_ne!(window.app().map.positions(), plane);
    window.get_by_label_contains("t-SNE of 30 principal components");
    draw(&mut window, &mut engine);
    let drawing = window
        .app()
        .draw
        .recognition()
        .unwrap()
        .1
        .neighborhood
        .clone();
    let at = window.app().map.place(&drawing.unwrap()).unwrap();
    let is_within = |axis: usize| {
        let points = window.app().map.positions().iter();
        let (low, high) = points.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), point| {
            (low.min(point[axis]), high.max(point[axis]))
        });
        (low..=high).contains(&at[axis])
    };
    assert!((0..2).all(is_within), "{at:?}");
    window.act(MapAction::Arrange(Layout::Components));
    assert_eq!(window.app().map.positions(), plane);
}

#[test]
fn the_nearest_images_stand_beside_the_verdict_in_draw() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = sized(size);
        window.act(Action::Show(Screen::Draw));
        draw(&mut window, &mut engine);
        assert!(!window.has("Nearest image 1: 3"));
        window.click("Nearest");
        window.serve(&mut engine);
        window.serve(&mut engine);
        window.get_by_label_contains("Nearest of 10,000 training images");
        for nearest in ["Nearest image 1: 3", "Nearest image 5: 3"] {
            assert!(window.rect(nearest).bottom() < size[1], "{size:?}");
        }
        window.click("Why?");
        assert!(!window.app().draw.nearest_shown && window.app().draw.why.shown);
    }
}
