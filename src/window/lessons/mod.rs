//! Lessons: short experiments beside the live program. Each sets things up, asks what the person
//! expects, lets them try, and ends with their own figures.

pub mod view;

use std::path::{Path, PathBuf};

use super::notice::Severity;
pub use crate::lesson::{Lesson, LessonError, Question, Step};
use crate::problem::Message;
use crate::protocol::{Job, JobResult};
use crate::records::{JobId, RunSummary};
use crate::run_config::RunConfig;
use crate::system::files::read_limited;
use crate::text::visible;
use crate::window::{App, Ctx, JobOutcome, Purpose, RunningJob, Screen, WithoutResult};

/// The lessons that come with Inkling.
const TEXTS: [&str; 8] = [
    include_str!("../../../assets/lessons/learning-rate.md"),
    include_str!("../../../assets/lessons/overfitting.md"),
    include_str!("../../../assets/lessons/my-seven.md"),
    include_str!("../../../assets/lessons/augmentation.md"),
    include_str!("../../../assets/lessons/test-and-validation.md"),
    include_str!("../../../assets/lessons/calibration.md"),
    include_str!("../../../assets/lessons/dropout-and-ensembles.md"),
    include_str!("../../../assets/lessons/filters.md"),
];
/// The largest lesson that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug)]
pub struct Lessons {
    /// Those that come with Inkling, then those that were opened.
    pub all: Vec<Lesson>,
    pub open: Option<OpenLesson>,
}

/// A lesson in progress.
#[derive(Debug)]
pub struct OpenLesson {
    /// Its index among all.
    pub index: usize,
    /// The index of the step that is shown.
    pub step: usize,
    /// The options that were chosen, step by step.
    pub answers: Vec<Option<usize>>,
    /// The runs that were started.
    pub runs: Vec<LessonRun>,
}

/// A run that was started in a lesson.
#[derive(Debug)]
pub struct LessonRun {
    pub id: JobId,
    /// The index of the step that started it.
    pub step: usize,
    pub config: RunConfig,
    pub outcome: Outcome,
}

/// The result.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    InProgress,
    Finished(Figures),
    /// It has no figures, for this reason.
    Without(&'static str),
}

/// The figures of a run, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    pub training: f64,
    pub validation: f64,
    pub test: Option<f64>,
    /// On the validation images, in nats.
    pub loss: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LessonsAction {
    /// Begin this lesson.
    Open(usize),
    /// Choose a file with a lesson.
    ChooseFile,
    Close,
    /// Show this step.
    GoTo(usize),
    /// Choose this option of the step's question.
    Answer(usize),
    /// Start the step's run.
    Start,
}

impl Default for Lessons {
    fn default() -> Self {
        // A test parses them all.
        let all = TEXTS.iter().filter_map(|text| Lesson::parse(text).ok());
        Self {
            all: all.collect(),
            open: None,
        }
    }
}

impl Lessons {
    /// The lesson in progress, and its step that is shown.
    pub fn current(&self) -> Option<(&OpenLesson, &Lesson, &Step)> {
        let open = self.open.as_ref()?;
        let lesson = self.all.get(open.index)?;
        Some((open, lesson, lesson.steps.get(open.step)?))
    }

    fn begin(&mut self, ctx: &mut Ctx, index: usize) {
        let Some(lesson) = self.all.get(index) else {
            return;
        };
        self.open = Some(OpenLesson {
            index,
            step: 0,
            answers: vec![None; lesson.steps.len()],
            runs: Vec::new(),
        });
        self.go_to(ctx, 0);
    }

    fn go_to(&mut self, ctx: &mut Ctx, step: usize) {
        if let Some(open) = &mut self.open {
            open.step = step;
        }
        if let Some(screen) = self.current().and_then(|(.., step)| step.screen) {
            ctx.show(screen);
        }
    }

    /// Takes in a run that has ended, if it was started in the lesson, also as a repetition.
    pub fn run_ended(&mut self, ended: &RunningJob, outcome: &JobOutcome) {
        let (Some(open), Job::Train { config, .. }) = (&mut self.open, &ended.job) else {
            return;
        };
        let outcome = Outcome::of(outcome);
        let repeats = |run: &LessonRun| {
            let begun = begun(&run.config);
            begun.is_some() && begun == self::begun(config)
        };
        if let Some(run) = open.runs.iter_mut().find(|run| run.id == ended.id) {
            run.outcome = outcome;
        } else if let Some(first) = open.runs.iter().find(|run| repeats(run)) {
            open.runs.push(LessonRun {
                id: ended.id,
                step: first.step,
                config: config.clone(),
                outcome,
            });
        }
    }
}

/// When the first of the repetitions that a run is one of was started.
fn begun(config: &RunConfig) -> Option<&str> {
    config.repetition.as_ref().map(|run| run.begun.as_str())
}

impl Outcome {
    pub fn of(outcome: &JobOutcome) -> Self {
        let figures = match outcome {
            Ok(JobResult::Train(summary)) => Figures::of(summary),
            Err(WithoutResult::Failed(_)) => return Self::Without("diverged or failed"),
            _ => None,
        };
        figures.map_or(Self::Without("stopped"), Self::Finished)
    }
}

impl Figures {
    fn of(summary: &RunSummary) -> Option<Self> {
        let kept = summary.kept()?;
        Some(Self {
            training: kept.train_accuracy.into(),
            validation: kept.validation_accuracy.into(),
            test: summary.test.as_ref().map(|test| test.evaluation.accuracy),
            loss: kept.validation_loss.into(),
        })
    }
}

impl App {
    pub fn update_lessons(&mut self, action: LessonsAction) {
        let Self { ctx, lessons, .. } = self;
        match action {
            LessonsAction::Open(index) => lessons.begin(ctx, index),
            LessonsAction::ChooseFile => {
                ctx.ask_for_file("Open a lesson", "Lessons", &["md", "txt"], Purpose::Lesson);
            }
            LessonsAction::Close => {
                lessons.open = None;
                ctx.show(Screen::Lessons);
            }
            LessonsAction::GoTo(step) => lessons.go_to(ctx, step),
            LessonsAction::Answer(option) => {
                if let Some(open) = &mut lessons.open
                    && let Some(answer) = open.answers.get_mut(open.step)
                {
                    *answer = Some(option);
                }
            }
            LessonsAction::Start => self.start_lesson_run(),
        }
    }

    /// Starts the run of the step that is shown, on the device that is in use.
    fn start_lesson_run(&mut self) {
        let Self {
            ctx,
            lessons,
            train,
            my_digits,
            ..
        } = self;
        let run = lessons.current().and_then(|(.., step)| step.run.clone());
        let Some(config) = run else { return };
        train.use_settings(ctx, *config);
        let before = train.run.as_ref().map(|run| run.id);
        train.start(ctx, my_digits);
        let started = train.run.as_ref().filter(|run| Some(run.id) != before);
        if let (Some(run), Some(open)) = (started, &mut lessons.open) {
            open.runs.push(LessonRun {
                id: run.id,
                step: open.step,
                config: run.config.clone(),
                outcome: Outcome::InProgress,
            });
        }
    }

    /// Reads a lesson from a file, and begins it.
    pub fn open_lesson(&mut self, path: PathBuf) {
        self.ctx.background.run(
            move || read(&path),
            |app, lesson| match lesson {
                Ok(lesson) => {
                    app.lessons.all.push(lesson);
                    let index = app.lessons.all.len() - 1;
                    app.lessons.begin(&mut app.ctx, index);
                }
                Err(message) => app.ctx.show_notice(Severity::Error, message),
            },
        );
    }
}

fn read(path: &Path) -> Result<Lesson, Message> {
    let refused = |reason: String| {
        Message::new(
            format!("{} is not a lesson. {reason}", visible::path(path)),
            "Correct the file, and open it again. The page docs/lessons.md describes the format.",
        )
    };
    let bytes = read_limited(path, MAX_BYTES).map_err(|error| refused(format!("{error}.")))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("It is not text.".to_owned()))?;
    Lesson::parse(&visible::lines(&text)).map_err(|error| refused(error.to_string()))
}
