//! The canvas and what is said about a drawing.

use eframe::egui::{
    Event as Input, Key, Modifiers, PointerButton, Pos2, Rect, Shape, TouchDeviceId, TouchId,
    TouchPhase, vec2,
};
use egui_kittest::kittest::Queryable;
use inkling::protocol::{Answer, Command, Event, Question};
use inkling::records::{Ensemble, Intervention, ModelRef, Prediction, Uncertainty};
use inkling::window::{Action, CANVAS, DrawAction, Screen, Tool, TrainAction};

use crate::fake_engine::{digits, prediction};
use crate::window::stage::{
    Driven, Panel, Seen, Staged, Window, ask, button, read_as, serve, sized, stage, stroke,
};

const CANVAS_NAME: &str = "Drawing canvas";

/// Points across the canvas, from a quarter to three quarters.
fn across(harness: &Staged, count: u8) -> Vec<Pos2> {
    let rect = harness.rect(CANVAS_NAME);
    (0..count)
        .map(|i| rect.min + rect.size() * (0.25 + 0.5 * f32::from(i) / f32::from(count.max(2) - 1)))
        .collect()
}

#[test]
fn a_blank_canvas_says_so() {
    let harness = stage(Panel::Draw, [900.0, 600.0]);
    assert_eq!(harness.value(CANVAS_NAME), "empty");
    assert_eq!(harness.value("Verdict"), "nothing drawn yet");
    assert_eq!(harness.value("The image the model sees"), "blank");
}

#[test]
fn a_stroke_is_read_and_the_verdict_told() {
    for panel in [Panel::Draw, Panel::Compact] {
        let mut harness = stage(panel, [900.0, 600.0]);
        let points = across(&harness, 5);
        stroke(&mut harness, &points, false);
        serve(&mut harness);
        let heard = &harness.state().engine.heard;
        assert!(
            heard.iter().any(|command| matches!(
                command,
                Command::Read {
                    what: Question::Drawing { .. },
                    ..
                }
            )),
            "{panel:?}: {heard:?}"
        );
        assert_eq!(harness.value(CANVAS_NAME), "1 stroke");
        assert_eq!(harness.value("Verdict"), "1 — 96% sure");
        assert_eq!(harness.value("Probability of 1"), "96%");
        assert_eq!(harness.value("Probability of 0"), "1%");
    }
}

#[test]
fn every_position_within_a_frame_becomes_a_point_of_the_stroke() {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    let points = across(&harness, 40);
    stroke(&mut harness, &points, true);
    let strokes = harness.app().draw.one.strokes();
    assert_eq!((strokes.len(), strokes[0].points.len()), (1, 40));
    let (first, last) = (strokes[0].points[0], strokes[0].points[39]);
    for (got, wanted) in [(first, CANVAS * 0.25), (last, CANVAS * 0.75)] {
        assert!(
            got.iter().all(|at| (at - wanted).abs() < 0.5),
            "{got:?} should be near {wanted}"
        );
    }
}

#[test]
fn a_stroke_that_leaves_the_canvas_stays_at_its_edge_and_one_from_outside_draws_nothing() {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    let rect = harness.rect(CANVAS_NAME);
    stroke(
        &mut harness,
        &[rect.center(), rect.right_bottom() + vec2(20.0, 20.0)],
        true,
    );
    assert_eq!(
        harness.app().draw.one.strokes()[0].points.last(),
        Some(&[CANVAS, CANVAS])
    );
    stroke(
        &mut harness,
        &[rect.right_center() + vec2(30.0, 0.0), rect.center()],
        true,
    );
    assert_eq!(harness.app().draw.one.strokes().len(), 1);
}

#[test]
fn a_stroke_that_leaves_the_window_goes_on_where_it_comes_back() {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    let rect = harness.rect(CANVAS_NAME);
    let unit = rect.width() / CANVAS;
    let at = |x: f32, y: f32| rect.min + vec2(x, y) * unit;
    let moved = Input::PointerMoved;
    let events = [
        moved(at(140.0, 40.0)),
        button(at(140.0, 40.0), PointerButton::Primary, true),
        moved(at(-60.0, 140.0)),
        Input::PointerGone,
    ];
    for event in events.into_iter().chain([
        moved(at(-60.0, 200.0)),
        moved(at(60.0, 260.0)),
        button(at(60.0, 260.0), PointerButton::Primary, false),
    ]) {
        harness.input_mut().events.push(event);
        harness.step();
    }
    let strokes = harness.app().draw.one.strokes();
    let wanted = [
        [140.0, 40.0],
        [0.0, 110.0],
        [0.0, 140.0],
        [0.0, 200.0],
        [0.0, 230.0],
        [60.0, 260.0],
    ];
    assert_eq!(strokes.len(), 1);
    assert_eq!(
        strokes[0].points.len(),
        wanted.len(),
        "{:?}",
        strokes[0].points
    );
    for (point, wanted) in strokes[0].points.iter().zip(wanted) {
        assert!(
            (point[0] - wanted[0]).abs() < 0.5 && (point[1] - wanted[1]).abs() < 0.5,
            "it crosses the edge at {wanted:?}: {:?}",
            strokes[0].points
        );
    }
}

#[test]
fn a_pen_that_says_how_hard_it_presses_is_heeded() {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    let points = across(&harness, 4);
    // As the backend reports a pen: each touch, then the pointer that follows it.
    let touch = |phase, pos, force| Input::Touch {
        device_id: TouchDeviceId(1),
        id: TouchId(7),
        phase,
        pos,
        force,
    };
    let mut events = vec![
        touch(TouchPhase::Start, points[0], Some(0.25)),
        Input::PointerMoved(points[0]),
        button(points[0], PointerButton::Primary, true),
    ];
    for (&point, force) in points[1..].iter().zip([Some(0.5), None, Some(1.0)]) {
        events.extend([
            touch(TouchPhase::Move, point, force),
            Input::PointerMoved(point),
        ]);
    }
    events.extend([
        touch(TouchPhase::End, points[3], None),
        button(points[3], PointerButton::Primary, false),
        Input::PointerGone,
    ]);
    harness.input_mut().events.extend(events);
    harness.step();
    let strokes = harness.app().draw.one.strokes();
    assert_eq!((strokes.len(), strokes[0].points.len()), (1, 4));
    assert_eq!(strokes[0].pressures, [0.25, 0.5, 0.5, 1.0]);
    // A touch that the system takes away ends the stroke.
    let events = [
        touch(TouchPhase::Start, points[0], None),
        button(points[0], PointerButton::Primary, true),
        touch(TouchPhase::Cancel, points[0], None),
        Input::PointerGone,
        Input::PointerMoved(points[3]),
    ];
    harness.input_mut().events.extend(events);
    harness.step();
    assert_eq!(harness.app().draw.one.strokes()[1].points.len(), 1);
    assert!(!harness.app().draw.one.pen_down());
}

#[test]
fn the_eraser_is_a_button_a_key_and_the_right_mouse_button() {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    let line = across(&harness, 9);
    let middle = line[4];
    let erase_with = |harness: &mut Staged, which: PointerButton| {
        let events = [
            Input::PointerMoved(middle),
            button(middle, which, true),
            button(middle, which, false),
        ];
        harness.input_mut().events.extend(events);
        serve(harness);
    };
    stroke(&mut harness, &line, true);
    erase_with(&mut harness, PointerButton::Secondary);
    assert_eq!(
        harness.value(CANVAS_NAME),
        "2 strokes",
        "the middle is gone"
    );
    assert_eq!(
        harness.value("Verdict"),
        "2 — 96% sure",
        "the verdict follows"
    );
    harness.click("Undo");
    assert_eq!(harness.value(CANVAS_NAME), "1 stroke");
    let tool = |harness: &Staged| harness.app().draw.tool;
    harness.click("Eraser");
    assert_eq!(tool(&harness), Tool::Eraser);
    erase_with(&mut harness, PointerButton::Primary);
    assert_eq!(harness.value(CANVAS_NAME), "2 strokes");
    harness.keys(Modifiers::COMMAND, Key::Z);
    harness.key(Key::E);
    assert_eq!(tool(&harness), Tool::Pen);
    assert_eq!(harness.value(CANVAS_NAME), "1 stroke");
    // By keyboard alone.
    harness.key_press(Key::E);
    harness.focus(CANVAS_NAME);
    harness.press(Key::Space, 1);
    assert_eq!(
        harness.value(CANVAS_NAME),
        "2 strokes",
        "the keyboard's pen is in the middle"
    );
}

#[test]
fn an_empty_canvas_is_drawn_on_whatever_was_done_before() {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    let tool = |harness: &Staged| harness.app().draw.tool;
    harness.key(Key::E);
    assert_eq!(tool(&harness), Tool::Pen, "there is nothing to erase");
    let line = across(&harness, 9);
    stroke(&mut harness, &line, true);
    assert_eq!(harness.value(CANVAS_NAME), "1 stroke");
    // Cleared, undone, or erased to the end.
    for empty in [
        (|harness: &mut Staged, _: &[Pos2]| harness.get_by_label("Clear").click())
            as fn(&mut Staged, &[Pos2]),
        |harness, line| {
            stroke(harness, line, true);
        },
    ] {
        harness.key(Key::E);
        assert_eq!(tool(&harness), Tool::Eraser);
        empty(&mut harness, &line);
        harness.run();
        assert_eq!(tool(&harness), Tool::Pen);
        assert_eq!(harness.value(CANVAS_NAME), "empty");
        stroke(&mut harness, &line, true);
        assert_eq!(harness.value(CANVAS_NAME), "1 stroke");
    }
}

#[test]
fn undo_redo_and_clear() {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    let points = across(&harness, 3);
    stroke(&mut harness, &points, true);
    stroke(&mut harness, &points, true);
    serve(&mut harness);
    assert_eq!(harness.value(CANVAS_NAME), "2 strokes");
    assert_eq!(harness.value("Verdict"), "2 — 96% sure");
    ask(&mut harness, "Undo");
    assert_eq!(harness.value(CANVAS_NAME), "1 stroke");
    assert_eq!(harness.value("Verdict"), "1 — 96% sure");
    ask(&mut harness, "Redo");
    assert_eq!(harness.value(CANVAS_NAME), "2 strokes");
    ask(&mut harness, "Clear");
    assert_eq!(harness.value(CANVAS_NAME), "empty");
    assert_eq!(harness.value("Verdict"), "nothing drawn yet");
    ask(&mut harness, "Undo");
    assert_eq!(
        harness.value(CANVAS_NAME),
        "2 strokes",
        "clearing can be taken back"
    );
}

#[test]
fn a_digit_can_be_drawn_without_a_pointer() {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    harness.focus(CANVAS_NAME);
    harness.press(Key::ArrowUp, 8);
    assert_eq!(harness.value(CANVAS_NAME), "empty", "the pen is up");
    harness.press(Key::Space, 1);
    harness.press(Key::ArrowDown, 12);
    harness.press(Key::Space, 1);
    harness.press(Key::ArrowLeft, 2);
    serve(&mut harness);
    assert_eq!(harness.value(CANVAS_NAME), "1 stroke");
    assert_eq!(harness.value("Verdict"), "1 — 96% sure");
    let strokes = harness.app().draw.one.strokes();
    let (first, last) = (
        strokes[0].points[0],
        strokes[0].points[strokes[0].points.len() - 1],
    );
    assert_eq!((last[1] - first[1], last[0] - first[0]), (120.0, 0.0));
}

#[test]
fn what_is_no_digit_is_called_so() {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    let points = across(&harness, 3);
    stroke(&mut harness, &points, true);
    read_as(&mut harness, |ink| Prediction {
        is_digit: false,
        ..prediction(ink)
    });
    assert_eq!(harness.value("Verdict"), "not a digit");
}

#[test]
fn an_ensemble_says_how_unsure_it_is_and_why() {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    assert!(
        !harness.shows("Uncertainty"),
        "a single network does not know"
    );
    let models = vec!["a.safetensors".into(), "b.safetensors".into()];
    harness.apply(DrawAction::UseModel(ModelRef::Ensemble(Ensemble::of(
        models,
    ))));
    serve(&mut harness);
    let points = across(&harness, 3);
    stroke(&mut harness, &points, true);
    let mut sure_of_1 = [0.0; 10];
    sure_of_1[1] = 1.0;
    let mut sure_of_7 = [0.0; 10];
    sure_of_7[7] = 1.0;
    read_as(&mut harness, |ink| {
        let (uncertainty, probabilities) = Uncertainty::of(&[&sure_of_1, &sure_of_7]);
        Prediction {
            uncertainty: Some(uncertainty),
            probabilities,
            confidence: 0.5,
            ..prediction(ink)
        }
    });
    harness
        .get_by_label("Uncertainty in bits: drawing 0.00, weights 1.00")
        .hover();
    harness.run();
    harness.get_by_label_contains("The part from the weights is their disagreement");
    assert_eq!(harness.value("Probability of 7"), "50% ± 50%");
}

#[test]
fn while_training_the_newest_weights_can_be_chosen_and_are_named() {
    let mut harness = stage(Panel::Draw, [900.0, 700.0]);
    assert!(
        harness.shows("trained on"),
        "what the starter model's name does not say"
    );
    harness.apply(TrainAction::Start);
    serve(&mut harness);
    harness.state_mut().engine.train(11);
    harness.run();
    harness.get_by_label("Weights of step 11");
    let points = across(&harness, 3);
    stroke(&mut harness, &points, true);
    serve(&mut harness);
    assert_eq!(harness.value("Verdict"), "1 — 96% sure");
    let seen = harness.value("The image the model sees");
    assert!(seen.ends_with("recognized in 0.8 ms"), "{seen}");
}

#[test]
fn an_idle_canvas_asks_for_no_frames() {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    let points = across(&harness, 3);
    stroke(&mut harness, &points, true);
    serve(&mut harness);
    harness.run();
    harness.step();
    let delay = harness
        .output()
        .viewport_output
        .values()
        .map(|viewport| viewport.repaint_delay)
        .min();
    assert!(
        delay.is_some_and(|delay| delay > std::time::Duration::from_hours(1)),
        "{delay:?}"
    );
}

#[test]
fn the_model_and_its_device_are_named_once() {
    let (mut window, _engine) = sized([1280.0, 800.0]);
    window.act(Action::Show(Screen::Draw));
    let naming = |word: &str| {
        let named = window.query_all_by(|node| {
            [node.label(), node.value()]
                .into_iter()
                .flatten()
                .any(|text| text.to_lowercase().contains(word))
        });
        named.map(|node| format!("{node:?}")).collect::<Vec<_>>()
    };
    assert_eq!(
        naming("starter model").len(),
        1,
        "{:?}",
        naming("starter model")
    );
    assert_eq!(naming("the cpu").len(), 1, "{:?}", naming("the cpu"));
}

#[test]
fn notices_leave_the_controls_of_the_canvas_alone() {
    for size in [
        [900.0, 600.0],
        [1280.0, 800.0],
        [1920.0, 1080.0],
        [3840.0, 2160.0],
    ] {
        let (mut window, mut engine) = sized(size);
        window.apply(TrainAction::Start);
        engine.serve();
        let run = window.the_run().id;
        for step in [3, 4] {
            engine.send(Event::Intervened {
                run,
                intervention: Intervention::SkippedStep {
                    step,
                    loss_scale: 1024.0,
                },
            });
        }
        window.act(Action::Show(Screen::Draw));
        let controls = [
            CANVAS_NAME,
            "Undo",
            "Clear",
            "Model",
            "Help: Drawing a digit",
        ];
        let controls = controls
            .map(|name| {
                window
                    .get_all_by_label(name)
                    .map(|node| node.rect())
                    .collect::<Vec<_>>()
            })
            .concat();
        let device = window.get_by_label_contains("Recognition on").rect();
        let text = window
            .get_all_by_label_contains("was skipped")
            .map(|node| node.rect());
        let notices: Vec<_> = text
            .chain(window.get_all_by_label("Dismiss").map(|node| node.rect()))
            .collect();
        assert_eq!(notices.len(), 4, "{size:?}");
        for control in controls.into_iter().chain([device]) {
            assert!(
                notices.iter().all(|notice| !notice.intersects(control)),
                "{size:?}: a notice lies over {control:?}: {notices:?}"
            );
        }
    }
}

#[test]
fn the_tools_are_in_one_row_and_the_canvas_is_in_the_window() {
    for size in [[900.0, 600.0], [1280.0, 800.0], [1920.0, 1080.0]] {
        let (mut window, _engine) = sized(size);
        window.act(Action::Show(Screen::Draw));
        let row = window.rect("Undo").center().y;
        for tool in [
            "Redo",
            "Eraser",
            "Clear",
            "Open…",
            "Save drawing…",
            "One digit",
            "Several digits",
        ] {
            assert!(
                (window.rect(tool).center().y - row).abs() < 2.0,
                "{tool} at {size:?}"
            );
        }
        assert!(window.rect(CANVAS_NAME).bottom() <= size[1], "{size:?}");
    }
}

#[test]
fn on_either_canvas_everything_is_above_the_status_bar_and_the_tools_stay_in_their_row() {
    for size in [[900.0, 600.0], [1280.0, 800.0], [1920.0, 1080.0]] {
        let (mut window, mut engine) = sized(size);
        window.apply(Action::Show(Screen::Draw));
        let mut rows = Vec::new();
        for several in [false, true] {
            window.apply(DrawAction::ChooseCanvas { several });
            for action in [
                Action::Draw(DrawAction::PenDown([100.0, 60.0])),
                Action::Draw(DrawAction::PenMove([120.0, 200.0])),
                Action::Draw(DrawAction::PenUp),
            ] {
                window.apply(action);
            }
            for _ in 0..2 {
                window.serve(&mut engine);
            }
            let bottom = window.rect("Monitor").top();
            let shown = [
                CANVAS_NAME,
                "Several digits",
                "Verdict",
                "Probability of 0",
                "Probability of 9",
                "The image the model sees",
            ];
            let shown = shown.map(|name| (name, window.rect(name)));
            for (index, (name, rect)) in shown.iter().enumerate() {
                assert!(
                    rect.bottom() <= bottom && rect.right() <= size[0],
                    "{name} at {size:?}, several {several}: {rect:?}, {bottom}"
                );
                for (other, place) in &shown[..index] {
                    assert!(
                        !rect.shrink(0.5).intersects(*place),
                        "{name} lies over {other} at {size:?}, several {several}"
                    );
                }
            }
            rows.push(
                ["Undo", "Clear", "One digit", "Several digits"]
                    .map(|name| window.rect(name).top()),
            );
        }
        assert_eq!(rows[0], rows[1], "{size:?}: the tools stay in their row");
    }
}

#[test]
fn a_large_window_has_a_large_canvas_and_the_drawings_before() {
    let (mut window, mut engine) = sized([2560.0, 1440.0]);
    window.act(Action::Show(Screen::Draw));
    assert!(window.rect(CANVAS_NAME).width() > 1200.0);
    window.get_by_label_contains("Drawings that you clear are kept here");
    let mut draw = |window: &mut Window, points: &[[f32; 2]]| {
        window.apply(DrawAction::PenDown(points[0]));
        points
            .iter()
            .for_each(|&point| window.apply(DrawAction::PenMove(point)));
        window.apply(DrawAction::PenUp);
        for _ in 0..3 {
            window.serve(&mut engine);
        }
    };
    draw(&mut window, &[[140.0, 40.0], [140.0, 240.0]]);
    window.click("Clear");
    assert_eq!(
        window.get_by_label(CANVAS_NAME).value().as_deref(),
        Some("empty")
    );
    draw(&mut window, &[[40.0, 140.0], [240.0, 140.0]]);
    let strokes = window.app().draw.one.strokes().to_vec();
    window.click("Recent drawing: 1, 96% sure");
    assert_eq!(
        window.app().draw.one.strokes()[0].points[0],
        [140.0, 40.0],
        "the first one is back"
    );
    window.get_by_label("Recent drawing: 1, 96% sure");
    window.click("Undo");
    assert_eq!(
        window.app().draw.one.strokes(),
        strokes,
        "bringing one back can be undone"
    );
}

#[test]
fn a_number_is_read_on_the_wide_canvas_and_each_digit_can_be_looked_at() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let mut harness = stage(Panel::Draw, size);
        harness.act(Action::Show(Screen::Draw));
        let square = harness.rect(CANVAS_NAME);
        assert!((square.width() - square.height()).abs() < 1.0);
        harness.click("Several digits");
        let wide = harness.rect(CANVAS_NAME);
        assert!(
            wide.width() > 2.4 * wide.height() && wide.right() < size[0],
            "{wide:?}"
        );
        for (left, points) in [(0.2, 2_u8), (0.7, 6)] {
            let points: Vec<Pos2> = (0..points)
                .map(|i| {
                    wide.min
                        + wide.size() * vec2(left, 0.3 + 0.4 * f32::from(i) / f32::from(points - 1))
                })
                .collect();
            stroke(&mut harness, &points, false);
            serve(&mut harness);
        }
        assert_eq!(harness.value("Verdict"), "26 (2 — 96% sure, 6 — 96% sure)");
        // The last digit's probabilities, until another is chosen.
        assert_eq!(harness.value("Probability of 6"), "96%");
        harness.click("Digit 1 of 2: 2 — 96% sure");
        assert_eq!(harness.value("Probability of 2"), "96%");
        let stays = harness.rect(CANVAS_NAME);
        assert_eq!(stays, wide, "the canvas stays where it was");
        // The other canvas has a drawing of its own.
        harness.keys(Modifiers::COMMAND, Key::D);
        assert_eq!(harness.value(CANVAS_NAME), "empty");
        assert!(!harness.app().ctx.settings.several_digits);
    }
}

/// The texts that are painted in this part of the window, and their rectangles.
fn texts(harness: &Staged, within: Rect) -> Vec<(String, Rect)> {
    let painted = harness
        .output()
        .shapes
        .iter()
        .filter_map(|clipped| match &clipped.shape {
            Shape::Text(text) => Some((
                text.galley.text().to_owned(),
                text.galley.rect.translate(text.pos.to_vec2()),
            )),
            _ => None,
        });
    painted
        .filter(|(_, rect)| within.contains_rect(*rect))
        .collect()
}

#[test]
fn the_titles_of_digits_side_by_side_do_not_overlap() {
    for (second, wanted) in [(0.35, "?"), (0.8, "not a digit, closest 2")] {
        let mut harness = stage(Panel::Draw, [900.0, 600.0]);
        harness.act(Action::Show(Screen::Draw));
        harness.click("Several digits");
        let wide = harness.rect(CANVAS_NAME);
        for left in [0.25, second] {
            stroke(
                &mut harness,
                &[0.4, 0.7].map(|down| wide.min + wide.size() * vec2(left, down)),
                false,
            );
        }
        // The second request is made when the first is answered.
        for _ in 0..2 {
            for command in harness.state_mut().engine.listen() {
                if let Command::Read {
                    request,
                    what: Question::Number { ink, steps, .. },
                } = command
                {
                    let mut digits = digits(&ink, &steps);
                    digits[0].prediction.is_digit = false;
                    harness.state_mut().engine.send(Event::Read {
                        request,
                        answer: Ok(Answer::Number(digits)),
                    });
                }
            }
            harness.run();
        }
        let titles = texts(&harness, wide);
        assert_eq!(
            titles
                .iter()
                .map(|(title, _)| title.as_str())
                .collect::<Vec<_>>(),
            [wanted, "2"]
        );
        assert!(titles[0].1.right() < titles[1].1.left(), "{titles:?}");
    }
}
