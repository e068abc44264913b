/// Source code that is built line by line, indented in steps of four spaces.
#[derive(Default)]
pub struct SourceWriter(String);

impl SourceWriter {
    /// Adds a line.
    pub fn line(&mut self, indent: usize, text: &str) {
        self.0 += &"    ".repeat(indent);
        self.0 += text;
        self.0.push('\n');
    }

    /// Adds an empty line.
    pub fn blank(&mut self) {
        self.0.push('\n');
    }

    /// The finished source code.
    pub fn finish(self) -> String {
        self.0
    }
}

/// A list of string literals, as Rust, Python and JSON write it: `["a", "b"]`.
pub fn string_list(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", quoted.join(", "))
}
