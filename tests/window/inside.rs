//! Inside: the layers of the network, a unit and one number, for the drawing on the canvas.

use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use inkling::ink::{Steps, rasterize_steps};
use inkling::nn::Net;
use inkling::protocol::{Answer, Command, Event, Question};
use inkling::records::{LayerKind, ModelRef, PredictionDetails, Recognition, UnitSelection};
use inkling::run_config::{Activation, ModelKind};
use inkling::window::{Action, DrawAction, InsideAction, Level, Screen};

use crate::fake_engine::{
    FakeEngine, app, explained, prediction, recognition, single_step, starter,
};
use crate::window::stage::{Driven, Seen, Window, sized};

/// Inside with a stroke on the canvas, in a window of this size.
fn drawn(size: [f32; 2]) -> (Window, FakeEngine) {
    let (mut window, mut engine) = sized(size);
    window.act(Action::Show(Screen::Inside));
    window.apply(DrawAction::PenDown([80.0, 40.0]));
    window.apply(DrawAction::PenMove([120.0, 220.0]));
    window.apply(DrawAction::PenUp);
    window.serve(&mut engine);
    window.serve(&mut engine);
    (window, engine)
}

fn open(window: &mut Window, engine: &mut FakeEngine, level: Level) {
    window.act(InsideAction::Open(level));
    window.serve(engine);
}

#[test]
fn every_layer_shows_its_maps_and_a_sentence() {
    for size in [[900.0, 600.0], [1280.0, 800.0], [1920.0, 1080.0]] {
        let (window, _engine) = drawn(size);
        for tile in ["conv1, Filter 1", "conv2, Filter 2", "fc, Digit 3"] {
            window.get_by_label(tile);
        }
        window.get_by_label_contains("Each filter slides over the drawing");
        window.get_by_label_contains("A score for each digit");
        assert!(window.value("conv1, Filter 1").contains(" to "), "{size:?}");
    }
}

#[test]
fn a_map_beside_the_canvas_of_train_and_draw_opens_inside() {
    for screen in [Screen::Draw, Screen::Train] {
        let (mut window, mut engine) = drawn([1280.0, 800.0]);
        window.act(Action::Show(screen));
        window.serve(&mut engine);
        if screen == Screen::Train {
            assert!(!window.has("conv2, Filter 1"), "nobody has asked for maps");
            window.click("Maps");
            window.serve(&mut engine);
        }
        window.click("conv2, Filter 1");
        window.serve(&mut engine);
        assert_eq!(window.app().ctx.screen, Screen::Inside);
        assert_eq!(window.app().ctx.inside, Level::Unit { layer: 2, unit: 0 });
    }
}

#[test]
fn without_a_drawing_it_says_what_to_do() {
    let (mut window, _engine) = sized([900.0, 600.0]);
    window.act(Action::Show(Screen::Inside));
    window.get_by_label("Draw a digit on the left");
}

#[test]
fn a_click_zooms_to_a_unit_and_to_a_number_and_escape_leads_back() {
    let (mut window, mut engine) = drawn([1280.0, 800.0]);
    window.click("conv1, Filter 2");
    window.serve(&mut engine);
    assert_eq!(window.app().ctx.inside, Level::Unit { layer: 1, unit: 1 });
    window.get_by_label("Step by step");
    window.get_by_label("Filter 2");
    window.click("Map");
    window.serve(&mut engine);
    let Level::Number { place, .. } = window.app().ctx.inside else {
        panic!("{:?}", window.app().ctx.inside);
    };
    let (_, shown) = window.app().draw.inspection().unwrap();
    let unit = shown.unit.as_ref().unwrap();
    assert_eq!(unit.look.place, Some(place));
    window.get_by_label("Patch times filter, number by number");
    for level in [
        Level::Unit { layer: 1, unit: 1 },
        Level::Layer(1),
        Level::Network,
        Level::Network,
    ] {
        window.key(Key::Escape);
        assert_eq!(window.app().ctx.inside, level);
    }
}

#[test]
fn the_breadcrumb_and_the_back_button_lead_out() {
    let (mut window, mut engine) = drawn([900.0, 600.0]);
    let number = Level::Number {
        layer: 1,
        unit: 0,
        place: 30,
    };
    open(&mut window, &mut engine, number);
    window.get_by_label("row 3, column 3");
    window.click("Back");
    assert_eq!(window.app().ctx.inside, Level::Unit { layer: 1, unit: 0 });
    window.click("Convolution conv1");
    assert_eq!(window.app().ctx.inside, Level::Layer(1));
    window.get_by_label("conv1, Filter 6");
    assert!(!window.has("conv2, Filter 1"));
}

#[test]
fn tiles_and_numbers_can_be_chosen_by_keyboard() {
    let (mut window, mut engine) = drawn([1280.0, 800.0]);
    window.focus("conv1, Filter 1");
    window.key(Key::Enter);
    window.serve(&mut engine);
    assert_eq!(window.app().ctx.inside, Level::Unit { layer: 1, unit: 0 });
    window.focus("Map");
    window.key(Key::ArrowRight);
    window.serve(&mut engine);
    let Level::Number { place, .. } = window.app().ctx.inside else {
        panic!("no number");
    };
    window.focus("Map");
    let side = 14;
    let key = if place % side == side - 1 {
        Key::ArrowLeft
    } else {
        Key::ArrowRight
    };
    window.key(key);
    window.serve(&mut engine);
    let next = if key == Key::ArrowLeft {
        place - 1
    } else {
        place + 1
    };
    let expected = Level::Number {
        layer: 1,
        unit: 0,
        place: next,
    };
    assert_eq!(window.app().ctx.inside, expected);
}

#[test]
fn every_layer_can_be_opened_down_to_a_number() {
    let (mut window, mut engine) = drawn([900.0, 600.0]);
    let (_, shown) = window.app().draw.inspection().unwrap();
    let layers = shown.layers.len();
    for layer in 0..layers {
        open(&mut window, &mut engine, Level::Layer(layer));
        open(&mut window, &mut engine, Level::Unit { layer, unit: 0 });
        open(
            &mut window,
            &mut engine,
            Level::Number {
                layer,
                unit: 0,
                place: 0,
            },
        );
        let look = UnitSelection {
            layer,
            unit: 0,
            place: Some(0),
        };
        assert_eq!(window.app().ctx.inside.look(), Some(look));
    }
}

fn asked(engine: &mut FakeEngine) -> Vec<(u64, Question)> {
    let questions = engine
        .listen()
        .into_iter()
        .filter_map(|command| match command {
            Command::Read { request, what } => Some((request, what)),
            _ => None,
        });
    questions.collect()
}

#[test]
fn the_network_is_asked_for_only_while_it_is_shown() {
    let (mut app, mut engine) = app();
    app.apply(DrawAction::PenDown([10.0, 10.0]));
    let before = asked(&mut engine);
    let [(request, Question::Drawing { ink, details, .. })] = &before[..] else {
        panic!("{before:?}");
    };
    assert_eq!(*details, PredictionDetails::default());
    app.on_event(Event::Read {
        request: *request,
        answer: Ok(Answer::Drawing(Box::new(recognition(ink)))),
    });
    app.apply(Action::Show(Screen::Inside));
    let inside = asked(&mut engine);
    let [(request, Question::Drawing { ink, details, .. })] = &inside[..] else {
        panic!("{inside:?}");
    };
    assert!(details.inspection && details.why.is_none());
    assert!(app.draw.inspection().is_none());
    let answer = |request| Event::Read {
        request,
        answer: Ok(Answer::Drawing(Box::new(explained(
            prediction(ink),
            ink,
            details,
        )))),
    };
    app.on_event(answer(4711));
    assert!(app.draw.inspection().is_none(), "nobody asked for that");
    app.apply(DrawAction::PenMove([20.0, 20.0]));
    app.apply(DrawAction::PenMove([30.0, 20.0]));
    assert!(asked(&mut engine).is_empty(), "one at a time");
    app.on_event(answer(*request));
    app.poll();
    assert_eq!(app.draw.inspection().unwrap().0, *request);
    assert_eq!(asked(&mut engine).len(), 1, "the newest");
    app.apply(DrawAction::ClearDrawing);
    assert!(app.draw.inspection().is_none());
}

#[test]
fn what_is_computed_for_a_drawing_that_was_cleared_is_not_shown() {
    let (mut app, mut engine) = app();
    app.apply(Action::Show(Screen::Inside));
    app.apply(DrawAction::PenDown([10.0, 10.0]));
    app.apply(DrawAction::PenUp);
    app.apply(DrawAction::ClearDrawing);
    app.serve(&mut engine);
    assert!(app.draw.inspection().is_none());
}

#[test]
fn a_model_without_layers_says_so() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    engine.send(Event::ModelInUse(inkling::records::ModelInfo {
        reference: ModelRef::File("imported.safetensors".into()),
        network: ModelKind::Onnx.into(),
        ..starter()
    }));
    window.act(Action::Show(Screen::Inside));
    window.act(DrawAction::PenDown([80.0, 40.0]));
    for (request, what) in asked(&mut engine) {
        if let Question::Drawing { ink, .. } = what {
            let answer = Ok(Answer::Drawing(Box::new(recognition(&ink))));
            engine.send(Event::Read { request, answer });
        }
    }
    window.settle();
    window.get_by_label("This model cannot be looked into");
    window.get_by_label_contains("imported ONNX file");
}

#[test]
fn another_network_with_fewer_layers_is_shown_from_the_start() {
    let (mut window, mut engine) = drawn([900.0, 600.0]);
    open(&mut window, &mut engine, Level::Unit { layer: 99, unit: 0 });
    window.serve(&mut engine);
    assert_eq!(window.app().ctx.inside, Level::Network);
    window.keys(Modifiers::COMMAND, Key::Num3);
    window.get_by_label("conv1, Filter 1");
}

#[test]
fn one_step_of_the_run_shows_what_it_does_to_the_unit_that_is_open() {
    let (mut window, mut engine) = drawn([1280.0, 800.0]);
    open(&mut window, &mut engine, Level::Unit { layer: 1, unit: 1 });
    assert!(!window.has("Take one step"), "nothing is trained");
    window.train(&mut engine, 40);
    window.act(Action::Show(Screen::Inside));
    window.serve(&mut engine);
    open(&mut window, &mut engine, Level::Unit { layer: 1, unit: 1 });
    // Nothing is read any more.
    window.serve(&mut engine);
    window.serve(&mut engine);
    window.click("Take one step");
    let run = window.the_run().id;
    let name = single_step().unit.unwrap().name;
    let asked = engine.listen();
    assert!(
        asked.contains(&Command::TakeStep {
            run,
            unit: Some(name)
        }),
        "{asked:?}"
    );
    engine.send(Event::Paused(run));
    // As many weights as the filter has.
    let (_, shown) = window.app().draw.inspection().unwrap();
    let terms = &shown.unit.as_ref().unwrap().terms;
    let count = terms.iter().map(|term| term.weights.len()).sum();
    let mut step = Box::new(single_step());
    let weights = &mut step.unit.as_mut().unwrap().weights;
    for numbers in [
        &mut weights.before,
        &mut weights.gradient,
        &mut weights.after,
    ] {
        numbers.resize(count, 0.0);
    }
    engine.send(Event::StepTaken { run, step });
    window.serve(&mut engine);
    window.get_by_label(
        "Step 41, learning rate 0.001: the loss of its 128 images fell from 0.5000 to 0.2500.",
    );
    for picture in ["Before", "Gradient", "Change", "After"] {
        window.get_by_label(&format!("{picture}: Drawing"));
    }
    window.get_by_label("Resume the run");
    open(&mut window, &mut engine, Level::Unit { layer: 1, unit: 0 });
    window.serve(&mut engine);
    window.get_by_label("Take another step to see what it does to these weights.");
}

#[test]
fn all_heads_of_attention_are_side_by_side_and_one_can_be_opened() {
    let net = Net::new(ModelKind::Attention, Activation::Gelu, 10, 1).unwrap();
    for size in [[900.0, 600.0], [1920.0, 1080.0]] {
        let (mut window, mut engine) = drawn(size);
        let image = rasterize_steps(&window.app().draw.one.ink(), &Steps::ALL);
        let layers = net.inspect(image.pixels(), None).unwrap().layers;
        let layer = layers
            .iter()
            .position(|layer| matches!(layer.kind, LayerKind::Attention { .. }))
            .unwrap();
        // Feature 3 of the second head.
        let features = layers[layer].units / 4;
        let unit = features + 2;
        let place = 11;
        window.act(InsideAction::Open(Level::Number { layer, unit, place }));
        let mut serve = |window: &mut Window| {
            for (request, what) in asked(&mut engine) {
                if let Question::Drawing { ink, details, .. } = what {
                    let answer = Recognition {
                        inspection: net.inspect(image.pixels(), details.look).ok(),
                        ..recognition(&ink)
                    };
                    let answer = Ok(Answer::Drawing(Box::new(answer)));
                    engine.send(Event::Read { request, answer });
                }
            }
            window.settle();
        };
        serve(&mut window);
        window.get_by_label("What the framed patch attends to, by head");
        for head in 1..=4 {
            assert!(
                window
                    .value(&format!("Head {head}"))
                    .starts_with("most to row")
            );
        }
        window.focus("Head 4");
        window.key(Key::Enter);
        serve(&mut window);
        let unit = 3 * features + 2;
        let expected = Level::Number { layer, unit, place };
        assert_eq!(window.app().ctx.inside, expected, "the same patch");
        window.get_by_label("Head 4, feature 3");
    }
}
