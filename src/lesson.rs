//! A lesson as a teacher writes it: a text file with steps, questions, and settings of runs to
//! start. `docs/lessons.md` describes the format.

use crate::run_config::RunConfig;

#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    pub title: String,
    /// Its subject, for the list of lessons.
    pub summary: String,
    /// At least one.
    pub steps: Vec<Step>,
}

/// A page of a lesson.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    pub title: String,
    pub paragraphs: Vec<String>,
    /// The screen that it is about.
    pub screen: Option<Screen>,
    /// The settings of a run to start.
    pub run: Option<Box<RunConfig>>,
    pub question: Option<Question>,
    /// Whether the figures of the runs that were started so far are shown.
    pub shows_runs: bool,
}

/// A screen of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Screen {
    Train,
    Draw,
    Inside,
    Results,
    Models,
    MyDigits,
    Sweep,
    Hardware,
    Lessons,
}

impl Screen {
    /// Every screen, in the order of the tabs; lessons stand beside the menu.
    pub const ALL: [Self; 9] = [
        Self::Train,
        Self::Draw,
        Self::Inside,
        Self::Results,
        Self::Models,
        Self::MyDigits,
        Self::Sweep,
        Self::Hardware,
        Self::Lessons,
    ];

    /// Its name in a lesson.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Draw => "draw",
            Self::Inside => "inside",
            Self::Results => "results",
            Self::Models => "models",
            Self::MyDigits => "my-digits",
            Self::Sweep => "sweep",
            Self::Hardware => "hardware",
            Self::Lessons => "lessons",
        }
    }
}

/// A question, to be answered before the answer is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    pub text: String,
    pub options: Vec<String>,
    /// The index of the right option; `None` if there is no wrong one.
    pub right: Option<usize>,
    /// The text once an option was chosen.
    pub answer: String,
}

/// A mistake in the text of a lesson.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Line {line}: {reason}")]
pub struct LessonError {
    /// From 1.
    pub line: usize,
    pub reason: String,
}

impl Lesson {
    pub fn parse(text: &str) -> Result<Self, LessonError> {
        let mut lesson = Self {
            title: String::new(),
            summary: String::new(),
            steps: Vec::new(),
        };
        let mut begins_paragraph = true;
        let mut number = 0;
        for line in text.lines() {
            number += 1;
            let error = |reason: String| LessonError {
                line: number,
                reason,
            };
            let line = line.trim();
            if let Some(title) = line.strip_prefix("## ") {
                lesson.steps.push(Step {
                    title: title.trim().to_owned(),
                    ..Step::default()
                });
            } else if let Some(title) = line.strip_prefix("# ") {
                title.trim().clone_into(&mut lesson.title);
            } else if let Some(step) = lesson.steps.last_mut() {
                step.take(line, begins_paragraph).map_err(error)?;
            } else if !line.is_empty() {
                append(&mut lesson.summary, line);
            }
            begins_paragraph = line.is_empty();
        }
        let at_the_end = |reason: &str| {
            Err(LessonError {
                line: number.max(1),
                reason: reason.to_owned(),
            })
        };
        if lesson.title.is_empty() {
            return at_the_end("A lesson begins with its title: # and a name.");
        }
        if lesson.steps.is_empty() {
            return at_the_end("A lesson has steps, which begin with ## and a name.");
        }
        let has_options = |step: &Step| {
            let question = step.question.as_ref();
            question.is_none_or(|question| question.options.len() > 1)
        };
        if let Some(step) = lesson.steps.iter().find(|step| !has_options(step)) {
            let reason = format!(
                "The question of “{}” needs two or more options: lines that begin with - or, for the right one, with *.",
                step.title
            );
            return at_the_end(&reason);
        }
        Ok(lesson)
    }
}

impl Step {
    /// Takes in a line; the error is what is wrong with it.
    fn take(&mut self, line: &str, begins_paragraph: bool) -> Result<(), String> {
        let option = line.strip_prefix("- ").map(|text| (text, false));
        let option = option.or_else(|| line.strip_prefix("* ").map(|text| (text, true)));
        if let (Some((text, is_right)), Some(question)) = (option, &mut self.question) {
            if is_right {
                question.right = Some(question.options.len());
            }
            question.options.push(text.trim().to_owned());
            return Ok(());
        }
        let directive = line.split_once(':');
        let value = directive.map(|(_, value)| value.trim());
        match (directive.map(|(name, _)| name), value) {
            (Some("screen"), Some(name)) => self.screen = Some(screen(name)?),
            (Some("run"), Some(options)) => {
                let config = RunConfig::from_command(options);
                self.run = Some(Box::new(config.map_err(|problem| problem.to_string())?));
            }
            (Some("ask"), Some(text)) => {
                self.question = Some(Question {
                    text: text.to_owned(),
                    ..Question::default()
                });
            }
            (Some("answer"), Some(text)) => match &mut self.question {
                Some(question) => append(&mut question.answer, text),
                None => return Err("An answer follows a question: ask: …".to_owned()),
            },
            (Some("show"), Some("runs")) => self.shows_runs = true,
            _ if line.is_empty() => {}
            _ => match self.paragraphs.last_mut().filter(|_| !begins_paragraph) {
                Some(paragraph) => append(paragraph, line),
                None => self.paragraphs.push(line.to_owned()),
            },
        }
        Ok(())
    }
}

fn screen(name: &str) -> Result<Screen, String> {
    let named = |screen: &Screen| screen.name() == name;
    let mut all = Screen::ALL.into_iter();
    all.find(named).ok_or_else(|| {
        let known = Screen::ALL.map(Screen::name).join(", ");
        format!("There is no screen {name}. The screens are {known}.")
    })
}

/// Adds a line to a text in one paragraph.
fn append(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(line);
}
