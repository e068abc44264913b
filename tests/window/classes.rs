//! A model whose classes are not digits: they are called by their names.

use eframe::egui::{Key, Modifiers, Rect};
use egui_kittest::kittest::Queryable;
use inkling::ink::Image;
use inkling::protocol::Event;
use inkling::records::{
    Evaluation, HeldOutAnswer, HeldOutImage, HeldOutSnapshot, ModelInfo, Prediction, Sample,
    SplitEvaluation,
};
use inkling::run_config::{Classes, DataSource, DataSpec, EvaluationSplit, PublicDataset};
use inkling::window::ResultsView;

use crate::fake_engine::{plan, prediction, starter};
use crate::window::stage::{
    Driven, Panel, Seen, Staged, ask, read_as, serve, stage, stroke, usual,
};

/// A panel with a model of Fashion-MNIST in use.
fn of_clothing(panel: Panel, size: [f32; 2]) -> Staged {
    let mut harness = stage(panel, size);
    let data = DataSpec::single(DataSource::Named(PublicDataset::FashionMnist));
    let engine = &mut harness.state_mut().engine;
    engine.data = data.clone();
    engine.send(Event::ModelInUse(ModelInfo {
        classes: data.classes(),
        data,
        ..starter()
    }));
    harness.run();
    harness
}

#[test]
fn a_drawing_is_called_by_the_name_of_its_class() {
    for panel in [Panel::Draw, Panel::Compact] {
        let mut harness = of_clothing(panel, [900.0, 600.0]);
        let rect = harness.rect("Drawing canvas");
        stroke(
            &mut harness,
            &[rect.center(), rect.center() + rect.size() * 0.2],
            false,
        );
        serve(&mut harness);
        assert_eq!(harness.value("Verdict"), "Trousers — 96% sure");
        assert_eq!(harness.value("Probability of Ankle boot"), "1%");
        assert!(!harness.has("Probability of 1"));
        // Only digits are kept among one's digits.
        assert!(!harness.shows("Keep as"));
    }
}

#[test]
fn results_are_by_the_names_of_the_classes() {
    for size in [[600.0, 2000.0], [1280.0, 1600.0], [1920.0, 1080.0]] {
        let mut harness = of_clothing(Panel::Results, size);
        ask(&mut harness, "Evaluate");
        assert_eq!(harness.value("Accuracy for Coat"), "90.00%, 1 of 10 wrong");
        harness.get_by_label("True class Coat, predicted Ankle boot, probability 93%");
        harness.click("One image of the class Coat was classified as Ankle boot");
        assert_eq!(
            harness.value("True and predicted classes"),
            "One image of the class Coat was classified as Ankle boot"
        );
    }
}

/// A model of these classes.
fn model_of(classes: &Classes) -> ModelInfo {
    ModelInfo {
        classes: classes.clone(),
        ..starter()
    }
}

#[test]
fn of_many_classes_the_likeliest_have_bars() {
    for (panel, size, bars) in [
        (Panel::Draw, [900.0, 600.0], 10..26),
        (Panel::Compact, [400.0, 700.0], 10..11),
    ] {
        let mut harness = stage(panel, size);
        harness
            .state_mut()
            .engine
            .send(Event::ModelInUse(model_of(&Classes::Letters)));
        harness.run();
        assert!(harness.value("Verdict") == "nothing drawn yet" && harness.has("Probability of A"));
        let rect = harness.rect("Drawing canvas");
        stroke(
            &mut harness,
            &[rect.center(), rect.center() + rect.size() * 0.2],
            false,
        );
        // The later a letter, the likelier; Q is the likeliest.
        let mut probabilities: Vec<f32> = (0..26).map(|class| class as f32 / 1000.0).collect();
        probabilities[16] = 0.691;
        read_as(&mut harness, |ink| Prediction {
            probabilities: probabilities.clone(),
            digit: 16,
            confidence: 0.691,
            model: model_of(&Classes::Letters),
            ..prediction(ink)
        });
        assert_eq!(harness.value("Verdict"), "probably Q — 69% sure");
        let left = |name: &str| {
            harness
                .query_by_label(&format!("Probability of {name}"))
                .map(|bar| bar.rect())
        };
        let shown = ('A'..='Z')
            .filter(|letter| left(&letter.to_string()).is_some())
            .count();
        assert!(bars.contains(&shown) && left("A").is_none(), "{shown}");
        let before = |a: Rect, b: Rect| a.left() < b.left() || a.top() < b.top();
        assert!(
            before(left("Q").unwrap(), left("Z").unwrap())
                && before(left("Z").unwrap(), left("Y").unwrap())
        );
    }
}

/// What a model with this many classes was measured at: three images of each, and one of the first
/// taken for the last.
fn measured(classes: usize) -> Evaluation {
    let mut confusion = vec![vec![0; classes]; classes];
    confusion
        .iter_mut()
        .enumerate()
        .for_each(|(class, row)| row[class] = 3);
    (confusion[0][0], confusion[0][classes - 1]) = (2, 1);
    let answer = classes as u8 - 1;
    let sample = Sample {
        index: 0,
        image: Image::BLANK,
        label: 0,
        answer,
        confidence: 0.6,
        label_probability: 0.2,
        suggestion: None,
    };
    let images = 3 * classes as u64;
    let accuracy = (images - 1) as f64 / images as f64;
    Evaluation {
        images,
        accuracy,
        loss: 0.1,
        confusion,
        samples: vec![sample],
        suspected: 0,
        reliability: Default::default(),
    }
}

#[test]
fn results_have_a_row_for_each_class_whatever_their_number() {
    let pets = Classes::of_names(&["cat", "dog"]).unwrap();
    let many = Classes::numbered(99).unwrap();
    for (classes, first, last) in [
        (pets, "cat", "dog"),
        (Classes::Letters, "A", "Z"),
        (many, "0", "99"),
    ] {
        for size in [[600.0, 2000.0], [900.0, 600.0], [1920.0, 1080.0]] {
            let mut harness = stage(Panel::Results, size);
            let (model, evaluation) = (model_of(&classes), measured(classes.len()));
            let measured = SplitEvaluation {
                data: DataSpec::builtin(),
                split: EvaluationSplit::Test,
                evaluation,
            };
            let view = ResultsView { model, measured };
            harness.state_mut().app.results.shown = Some(view);
            harness.run();
            assert_eq!(
                harness.value(&format!("Accuracy for {first}")),
                "66.67%, 1 of 3 wrong"
            );
            harness.get_by_label(&format!("Accuracy for {last}"));
            harness.click(&format!(
                "One image of the class {first} was classified as {last}"
            ));
            let title = format!("True and predicted {}", classes.nouns());
            let grid = harness.get_by_label(&title);
            assert!(
                grid.value()
                    .unwrap()
                    .ends_with(&format!("classified as {last}"))
            );
            grid.focus();
            harness.run();
            harness.keys(Modifiers::NONE, Key::ArrowDown);
            let below = harness
                .value(&title)
                .ends_with(&format!("{last} were classified correctly"));
            assert_eq!(
                below,
                classes.len() == 2,
                "one row further down, the last class is correct where there are two"
            );
        }
    }
}

#[test]
fn held_out_images_are_shown_by_class_whatever_their_number() {
    let pets = Classes::of_names(&["cat", "dog"]).unwrap();
    for (classes, of_each, named) in [
        (pets, 50, "dog"),
        (Classes::Letters, 3, "Q"),
        (Classes::numbered(99).unwrap(), 1, "57"),
    ] {
        let (mut window, mut engine) = usual();
        window.start(&mut engine);
        let (run, config) = (window.the_run().id, window.app().ctx.config.clone());
        let started = inkling::records::RunPlan {
            classes: classes.clone(),
            ..plan(&config)
        };
        let (before, curve, position) = (
            Vec::new(),
            Vec::new(),
            inkling::records::RunPosition::default(),
        );
        engine.send(Event::Started {
            run,
            plan: started,
            before,
            curve,
            position,
            folder: "checkpoints/1".into(),
        });
        let labels =
            || (0..classes.len() as u8).flat_map(|class| std::iter::repeat_n(class, of_each));
        engine.send(Event::HeldOut {
            run,
            images: labels()
                .map(|label| HeldOutImage {
                    image: Image::BLANK,
                    label,
                })
                .collect(),
        });
        let answers = labels()
            .map(|digit| HeldOutAnswer {
                digit,
                probability: 0.8,
                label_probability: 0.8,
            })
            .collect();
        engine.send(Event::HeldOutSnapshot {
            run,
            snapshot: HeldOutSnapshot {
                step: 1,
                answers,
                first_layer: None,
            },
        });
        window.run_steps(4);
        let grid = window.get_by_label("Validation images");
        let total = of_each * classes.len();
        assert_eq!(grid.value().unwrap(), format!("{total} of {total} correct"));
        let name = format!("Validation images of the class {named}");
        let bar = window.get_by_label(&name);
        assert_eq!(
            bar.value().unwrap(),
            format!("{of_each} of {of_each} correct")
        );
        // No image lies outside the grid or on another one.
        let prefix = format!("True {} ", classes.noun());
        let cells: Vec<Rect> = window
            .get_all_by_label_contains(&prefix)
            .map(|cell| cell.rect())
            .collect();
        assert_eq!(cells.len(), total);
        assert!(
            cells
                .iter()
                .all(|cell| grid.rect().expand(1.0).contains_rect(*cell))
        );
        assert!(cells.iter().enumerate().all(|(index, cell)| {
            cells[..index]
                .iter()
                .all(|other| !other.shrink(0.5).intersects(cell.shrink(0.5)))
        }));
    }
}
