/// Source code that is built line by line, indented in steps of four spaces.
#[derive(Default)]
pub struct SourceWriter(String);

impl SourceWriter {
    pub fn line(&mut self, indent: usize, text: &str) {
        self.0 += &"    ".repeat(indent);
        self.0 += text;
        self.0.push('\n');
    }

    /// Adds an empty line.
    pub fn blank(&mut self) {
        self.0.push('\n');
    }

    pub fn finish(self) -> String {
        self.0
    }
}
