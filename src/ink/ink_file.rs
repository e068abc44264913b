//! Reads ink files: JSON or JSON lines, gzipped or not, distinguished by content.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::{Ink, InkError, Stroke};

use crate::system::input_file::InputFile;

/// The longest drawing, and the longest gap between two, in bytes of JSON: a hundred thousand
/// points.
const MAX_DRAWING_BYTES: usize = 1 << 20;

/// The key of pressures in a drawing.
const PRESSURES: &[u8] = b"\"pressures\"";
/// The longest name of a writer, in characters; the rest of a longer one is dropped.
pub const MAX_WRITER_CHARS: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub struct InkEntry {
    pub ink: Ink,
    /// How hard the pen pressed, from 0 to 1: a number for each point of each stroke, or none for a
    /// stroke without that. Empty if no stroke has it.
    pub pressures: Vec<Vec<f32>>,
    /// Its class, if labeled.
    pub label: Option<char>,
    /// Who drew it, if known; at most [`MAX_WRITER_CHARS`] characters.
    pub writer: Option<String>,
    /// The line it begins on, from 1; `None` when it is the only drawing of a file that is not
    /// named as JSON lines.
    pub line: Option<u64>,
}

/// The drawings of an ink file in order; one at a time is in memory. In a file named as JSON lines,
/// a line that cannot be parsed is an error and the next line follows; elsewhere
/// iteration ends after the first error.
///
/// A drawing is `{"strokes": [[[x, y], …], …]}`, optionally with `pen` (its diameter, in the
/// points' unit), `pressures` (0 to 1, a list for each stroke), `label` (one character, or a digit
/// as a number) and `writer` (text); anything else in it is skipped. A file holds one, laid out in
/// any way, or several, as a rule one a line.
pub fn read_ink_file(path: &Path) -> Result<InkFile, InkError> {
    let file = InputFile::open(path).map_err(InkError::unreadable(path))?;
    Ok(InkFile::new(file, path))
}

/// See [`read_ink_file`].
pub struct InkFile {
    path: PathBuf,
    bytes: BufReader<InputFile>,
    /// The line the next byte is on.
    line: u64,
    /// Drawings returned so far, including those that could not be parsed.
    entries: u64,
    /// The position in the file is lost: nothing after it can be parsed.
    lost: bool,
    ended: bool,
}

impl Iterator for InkFile {
    type Item = Result<InkEntry, InkError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_entry().transpose();
        self.ended = match next {
            Some(Ok(_)) => false,
            Some(Err(_)) => self.lost || !self.is_named_lines() || !self.skip_line(),
            None => true,
        };
        next
    }
}

impl InkFile {
    /// The drawings of a file that is open already; `path` is what errors name, and decides whether
    /// it is one of JSON lines.
    pub fn new(file: InputFile, path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            bytes: BufReader::new(file),
            line: 1,
            entries: 0,
            lost: false,
            ended: false,
        }
    }

    /// The most bytes that should be made of it: see [`InputFile::budget`].
    pub fn budget(&self) -> u64 {
        self.bytes.get_ref().budget()
    }

    fn next_entry(&mut self) -> Result<Option<InkEntry>, InkError> {
        if !self.skip_blank()? {
            return if self.entries == 0 {
                Err(InkError::malformed(&self.path, "it contains no drawing"))
            } else {
                Ok(None)
            };
        }
        let begin = self.line;
        self.entries += 1;
        let text = self.object()?;
        let record: Record = serde_json::from_slice(&text).map_err(|error| {
            let message = error.to_string();
            let reason = message
                .split(" at line ")
                .next()
                .unwrap_or_default()
                .to_owned();
            self.malformed(begin + error.line().saturating_sub(1) as u64, reason)
        })?;
        let label = record
            .label
            .map(Label::character)
            .transpose()
            .map_err(|reason| self.malformed(begin, reason))?;
        let writer = record.writer.and_then(Writer::name);
        let pressures = pressures(&text, &record.strokes);
        let alone = self.entries == 1 && !self.is_named_lines() && !self.skip_blank()?;
        Ok(Some(InkEntry {
            ink: Ink {
                strokes: record.strokes,
                pen: record.pen.map(|pen| pen as f32),
            },
            pressures,
            label,
            writer,
            line: (!alone).then_some(begin),
        }))
    }

    fn is_named_lines(&self) -> bool {
        let name = self.path.to_string_lossy().to_ascii_lowercase();
        [".jsonl", ".ndjson"]
            .iter()
            .any(|ending| name.trim_end_matches(".gz").ends_with(ending))
    }

    /// Skips white space; false at the end of the file.
    fn skip_blank(&mut self) -> Result<bool, InkError> {
        for _ in 0..MAX_DRAWING_BYTES {
            match self.peek()? {
                None => return Ok(false),
                Some(byte) if byte.is_ascii_whitespace() => self.advance(byte),
                Some(_) => return Ok(true),
            }
        }
        self.lost = true;
        Err(self.malformed(
            self.line,
            format!("it has {MAX_DRAWING_BYTES} bytes of white space in a row"),
        ))
    }

    /// Skips to the beginning of the next line; false if there is none.
    fn skip_line(&mut self) -> bool {
        for _ in 0..MAX_DRAWING_BYTES {
            let Ok(Some(byte)) = self.peek() else {
                return false;
            };
            self.advance(byte);
            if byte == b'\n' {
                return true;
            }
        }
        false
    }

    /// The text from here to the brace that closes the first one.
    fn object(&mut self) -> Result<Vec<u8>, InkError> {
        let (begin, line_by_line) = (self.line, self.is_named_lines());
        let mut text = Vec::new();
        let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
        while let Some(byte) = self.peek()? {
            if text.is_empty() && byte != b'{' {
                return Err(self.malformed(begin, "it is not a JSON object".to_owned()));
            }
            if text.len() >= MAX_DRAWING_BYTES {
                self.lost = true;
                return Err(self.malformed(
                    begin,
                    format!("a drawing is larger than {MAX_DRAWING_BYTES} bytes"),
                ));
            }
            // An unclosed brace must not swallow the lines after it.
            if byte == b'\n' && line_by_line {
                break;
            }
            self.advance(byte);
            text.push(byte);
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b'{' if !quoted => depth += 1,
                b'}' if !quoted => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(text);
            }
        }
        Err(self.malformed(begin, "a drawing is incomplete".to_owned()))
    }

    fn peek(&mut self) -> Result<Option<u8>, InkError> {
        let line = self.line;
        match self.bytes.fill_buf() {
            Ok(buffer) => Ok(buffer.first().copied()),
            // The decompressor's error: the data is not gzip, or is cut short.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof
                        | io::ErrorKind::InvalidData
                        | io::ErrorKind::InvalidInput
                ) =>
            {
                Err(self.malformed(line, error.to_string()))
            }
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                self.lost = true;
                Err(InkError::too_large(&self.path, error.to_string()))
            }
            Err(error) => Err(InkError::unreadable(&self.path)(error)),
        }
    }

    fn advance(&mut self, byte: u8) {
        self.bytes.consume(1);
        self.line += u64::from(byte == b'\n');
    }

    fn malformed(&self, line: u64, reason: String) -> InkError {
        let mut path = self.path.clone().into_os_string();
        path.push(format!(":{line}"));
        InkError::malformed(Path::new(&path), reason)
    }
}

/// A drawing as stored in a file.
#[derive(Deserialize)]
struct Record {
    #[serde(deserialize_with = "strokes")]
    strokes: Vec<Stroke>,
    pen: Option<f64>,
    label: Option<Label>,
    writer: Option<Writer>,
}

/// A point as stored: a coordinate beyond f32 becomes infinite, which costs its point and not the
/// file.
struct Point([f32; 2]);

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <[f64; 2]>::deserialize(from).map(|point| Self(point.map(|number| number as f32)))
    }
}

fn strokes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Stroke>, D::Error> {
    let strokes = Vec::<Vec<Point>>::deserialize(from)?;
    Ok(strokes
        .into_iter()
        .map(|stroke| stroke.into_iter().map(|Point(point)| point).collect())
        .collect())
}

/// The pen's pressure in this drawing of these strokes. It is read separately: other programs may
/// use the key for anything else, which is skipped.
fn pressures(drawing: &[u8], strokes: &[Stroke]) -> Vec<Vec<f32>> {
    #[derive(Deserialize)]
    struct Pressed {
        pressures: Vec<Vec<f32>>,
    }
    let named = drawing
        .windows(PRESSURES.len())
        .any(|name| name == PRESSURES);
    let Some(Ok(Pressed { pressures })) = named.then(|| serde_json::from_slice(drawing)) else {
        return Vec::new();
    };
    let is_known = |(pressures, stroke): (&Vec<f32>, &Stroke)| {
        pressures.is_empty() || pressures.len() == stroke.len()
    };
    let fits = pressures.len() == strokes.len() && pressures.iter().zip(strokes).all(is_known);
    if fits
        && pressures
            .iter()
            .flatten()
            .all(|pressure| (0.0..=1.0).contains(pressure))
    {
        pressures
    } else {
        Vec::new()
    }
}

/// Who drew it. In files of other programs the name may stand for something else: what is not text
/// is skipped like all they have besides.
#[derive(Deserialize)]
#[serde(untagged)]
enum Writer {
    Name(String),
    Other(IgnoredAny),
}

impl Writer {
    fn name(self) -> Option<String> {
        match self {
            Self::Name(name) => Some(name.chars().take(MAX_WRITER_CHARS).collect()),
            Self::Other(_) => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Label {
    Number(u64),
    Text(String),
}

impl Label {
    fn character(self) -> Result<char, String> {
        let text = match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        };
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            _ => Err(format!("the label {text:?} is not a single character")),
        }
    }
}
