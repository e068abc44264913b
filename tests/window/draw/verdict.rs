//! The words for a reading, and when one is asked for.

use inkling::ink::Image;
use inkling::notices::verdict::{NumberVerdict, Verdict, whole_percent};
use inkling::protocol::{Answer, Command, Event, Question};
use inkling::records::{Accuracy, DigitPrediction, JobId, ModelInfo, ModelRef, Prediction};
use inkling::run_config::{
    Classes, DataSource, DataSpec, DeviceChoice, EvaluationSplit, ModelKind, PublicDataset,
    RunConfig,
};
use inkling::window::verdict::{model_facts, model_sentence};
use inkling::window::{Action, DrawAction, Phase, RunView, Screen};

use crate::fake_engine;
use crate::fake_engine::app;
use crate::window::stage::Driven;

fn info(reference: ModelRef) -> ModelInfo {
    ModelInfo {
        reference,
        network: ModelKind::ConvNet.into(),
        parameters: 10,
        classes: Classes::Digits,
        data: DataSpec::builtin(),
        epochs: 2,
        accuracy: None,
    }
}

fn prediction(likely: &[(usize, f32)], is_digit: bool) -> Prediction {
    let mut probabilities = vec![0.0; 10];
    for &(digit, probability) in likely {
        probabilities[digit] = probability;
    }
    Prediction {
        uncertainty: None,
        image: Image::BLANK,
        probabilities,
        digit: likely[0].0 as u8,
        confidence: likely[0].1,
        digit_score: 0.0,
        is_digit,
        micros: 830,
        device: DeviceChoice::Cpu,
        model: info(ModelRef::Starter),
    }
}

#[test]
fn a_sure_reading_names_one_digit() {
    let verdict = Verdict::of(&prediction(&[(7, 0.98), (1, 0.02)], true));
    assert_eq!(verdict.digits.as_slice(), [7].as_slice());
    assert_eq!(verdict.sentence.as_str(), "7 — 98% sure");
}

#[test]
fn a_torn_reading_names_two() {
    let verdict = Verdict::of(&prediction(&[(9, 0.40), (4, 0.55)], true));
    assert_eq!(verdict.digits.as_slice(), [4, 9].as_slice());
    assert_eq!(verdict.sentence.as_str(), "could be 4 or 9");
}

#[test]
fn a_hesitant_reading_says_probably() {
    let verdict = Verdict::of(&prediction(&[(7, 0.7), (1, 0.1), (2, 0.1), (3, 0.1)], true));
    assert_eq!(verdict.sentence, "probably 7 — 70% sure");
}

#[test]
fn what_is_less_likely_than_not_is_not_called_probable() {
    let verdict = Verdict::of(&prediction(
        &[
            (2, 0.26),
            (3, 0.16),
            (5, 0.15),
            (7, 0.15),
            (8, 0.14),
            (9, 0.14),
        ],
        true,
    ));
    assert_eq!(verdict.sentence.as_str(), "perhaps 2 — only 26% sure");
    assert_eq!(verdict.confidence.as_str(), "perhaps, only 26% sure");
}

#[test]
fn scribble_is_no_digit_however_sure_the_probabilities_look() {
    let verdict = Verdict::of(&prediction(&[(8, 0.99), (3, 0.01)], false));
    assert_eq!(verdict.digits.len(), 0);
    assert_eq!(verdict.sentence.as_str(), "not a digit");
    assert!(verdict.detail.contains('8'));
}

#[test]
fn no_probability_is_rounded_to_certainty() {
    assert_eq!(
        [0.9997, 0.98, 0.004].map(whole_percent),
        ["over 99%", "98%", "under 1%"]
    );
}

#[test]
fn the_model_is_named_and_the_run_in_progress_with_its_step() {
    let mut run = RunView::new(JobId(3), RunConfig::default());
    run.phase = Phase::Training;
    run.now.step = 120;
    let training = info(ModelRef::Training(JobId(3)));
    assert_eq!(
        model_sentence(&training, Some(&run)),
        "using the run in progress, step 120"
    );
    run.phase = Phase::Discarded;
    assert!(model_sentence(&training, Some(&run)).contains("last run"));
    assert!(model_sentence(&info(ModelRef::Starter), None).contains("starter model"));
}

#[test]
fn facts_of_a_model_say_what_its_name_does_not() {
    let (data, split) = (
        DataSpec::single(DataSource::Named(PublicDataset::Mnist)),
        EvaluationSplit::Test,
    );
    let accuracy = Some(Accuracy {
        value: 0.9932,
        images: Some(10_000),
        data,
        split,
    });
    let starter = ModelInfo {
        accuracy,
        ..info(ModelRef::Starter)
    };
    let (network, data) = (starter.network.label(), starter.data.label());
    let tested = "Test accuracy on MNIST, 10,000 images: 99.32%";
    assert_eq!(
        model_facts(&starter, "Starter model", None),
        format!("{tested}; {network}, trained on {data}")
    );
    let named = format!("{network} on {data} 2");
    assert_eq!(
        model_facts(&starter, &named, None),
        tested,
        "its name says network and data"
    );
    assert_eq!(
        model_facts(
            &ModelInfo {
                accuracy: None,
                ..starter
            },
            &named,
            None
        ),
        ""
    );
    let mut run = RunView::new(JobId(3), RunConfig::default());
    run.phase = Phase::Training;
    run.now.step = 1200;
    assert_eq!(
        model_facts(
            &info(ModelRef::Training(JobId(3))),
            "Current run",
            Some(&run)
        ),
        "Weights of step 1,200"
    );
}

#[test]
fn classes_that_are_no_digits_are_called_by_their_names() {
    let of = |likely: &[(usize, f32)], known: bool| {
        let mut prediction = prediction(likely, known);
        prediction.model.data = DataSpec::single(DataSource::Named(PublicDataset::FashionMnist));
        prediction.model.classes = Classes::Clothing;
        prediction
    };
    let said = |prediction: &Prediction| {
        let Verdict {
            sentence, detail, ..
        } = Verdict::of(prediction);
        (Verdict::of(prediction).title(), sentence, detail)
    };
    let told = |title: &str, sentence: &str, detail: &str| {
        (title.to_owned(), sentence.to_owned(), detail.to_owned())
    };
    assert_eq!(
        said(&of(&[(9, 0.98), (5, 0.02)], true)),
        told("Ankle boot", "Ankle boot — 98% sure", "")
    );
    assert_eq!(
        said(&of(&[(0, 0.55), (6, 0.4)], true)),
        told(
            "T-shirt or Shirt",
            "could be T-shirt or Shirt",
            "T-shirt: 55%, Shirt: 40%"
        )
    );
    assert_eq!(
        said(&of(&[(8, 0.7), (1, 0.1)], true)).2,
        "Second guess: Trousers (10%)."
    );
    assert_eq!(
        said(&of(&[(8, 0.7), (1, 0.1)], false)),
        told(
            "–",
            "not an article of clothing",
            "The closest match is Bag."
        )
    );
    let digits: Vec<_> = [of(&[(8, 0.97)], true), of(&[(1, 0.6)], false)]
        .map(|prediction| DigitPrediction {
            bounds: [0.0; 4],
            pieces: 0..1,
            prediction,
            explanation: None,
        })
        .to_vec();
    assert_eq!(NumberVerdict::of(&digits).text, "Bag ?");
}

fn classified(commands: &[Command]) -> Vec<(u64, usize)> {
    let of = |command: &Command| match command {
        Command::Read {
            request,
            what: Question::Drawing { ink, .. },
        } => Some((*request, ink.strokes.iter().map(Vec::len).sum())),
        _ => None,
    };
    commands.iter().filter_map(of).collect()
}

#[test]
fn one_reading_is_asked_for_at_a_time_and_the_newest_drawing_is_next() {
    let (mut app, mut engine) = app();
    app.apply(DrawAction::PenDown([10.0, 10.0]));
    for x in 1..20 {
        app.apply(DrawAction::PenMove([10.0 + x as f32, 10.0]));
    }
    let asked = classified(&engine.listen());
    assert_eq!(
        asked.len(),
        1,
        "only the first goes out while nothing is answered"
    );
    let ink = app.draw.one.ink();
    let answer = |request| Event::Read {
        request,
        answer: Ok(Answer::Drawing(Box::new(fake_engine::recognition(&ink)))),
    };
    engine.send(answer(asked[0].0));
    app.poll();
    assert!(app.draw.prediction().is_some());
    let next = classified(&engine.listen());
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].1, 20, "all points, not those in between");
    app.on_event(answer(next[0].0));
    assert!(engine.listen().is_empty());
}

#[test]
fn a_drawing_is_read_also_when_the_other_canvas_is_drawn_on_before_it_was() {
    let (mut app, mut engine) = app();
    app.apply(Action::Show(Screen::Draw));
    app.apply(DrawAction::PenDown([10.0, 10.0]));
    app.apply(DrawAction::ChooseCanvas { several: true });
    app.apply(DrawAction::PenDown([10.0, 10.0]));
    let mut asked = engine.listen();
    asked.retain(|command| matches!(command, Command::Read { .. }));
    assert_eq!(asked.len(), 1, "an engine at work looks only at the latest");
    app.serve(&mut engine);
    assert!(app.draw.digits(&app.ctx).is_empty());
    let ink = app.draw.one.ink();
    engine.send(Event::Read {
        request: classified(&asked)[0].0,
        answer: Ok(Answer::Drawing(Box::new(fake_engine::recognition(&ink)))),
    });
    app.poll();
    app.serve(&mut engine);
    assert!(app.draw.prediction().is_some());
    assert_eq!(app.draw.digits(&app.ctx).len(), 1);
}

#[test]
fn answers_to_requests_never_made_are_dropped() {
    let (mut app, mut engine) = app();
    app.apply(DrawAction::PenDown([10.0, 10.0]));
    let ink = app.draw.one.ink();
    app.on_event(Event::Read {
        request: 4711,
        answer: Ok(Answer::Drawing(Box::new(fake_engine::recognition(&ink)))),
    });
    assert!(app.draw.prediction().is_none());
    app.serve(&mut engine);
    assert!(app.draw.prediction().is_some());
}

#[test]
fn a_reading_that_comes_after_clearing_is_not_shown() {
    let (mut app, mut engine) = app();
    app.apply(DrawAction::PenDown([10.0, 10.0]));
    app.apply(DrawAction::PenUp);
    app.apply(DrawAction::ClearDrawing);
    app.serve(&mut engine);
    assert!(app.draw.prediction().is_none());
    app.apply(DrawAction::Undo);
    app.serve(&mut engine);
    assert_eq!(
        app.draw.prediction().unwrap().digit,
        1,
        "the stroke is back, and read"
    );
    app.apply(DrawAction::Undo);
    assert!(app.draw.prediction().is_none(), "nothing is on the canvas");
}

#[test]
fn another_reader_reads_the_drawing_again() {
    let (mut app, mut engine) = app();
    app.apply(DrawAction::PenDown([10.0, 10.0]));
    app.serve(&mut engine);
    engine.listen();
    app.apply(DrawAction::UseModel(ModelRef::File("a.safetensors".into())));
    app.serve(&mut engine);
    assert_eq!(classified(&engine.listen()).len(), 1);
}
