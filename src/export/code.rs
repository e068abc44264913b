//! Owns text that grows by a line at a time, as programs do. Must not know the language.

/// Lines, each so many steps of four spaces in.
#[derive(Default)]
pub struct Indented(String);

impl Indented {
    /// Adds a line.
    pub fn line(&mut self, steps: usize, text: &str) {
        self.0 += &"    ".repeat(steps);
        self.0 += text;
        self.0.push('\n');
    }

    /// Adds an empty line.
    pub fn blank(&mut self) {
        self.0.push('\n');
    }

    /// All lines.
    pub fn finish(self) -> String {
        self.0
    }
}

/// Texts as a list in brackets, each in quotes, as Rust, Python and JSON write it.
pub fn list(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", quoted.join(", "))
}
