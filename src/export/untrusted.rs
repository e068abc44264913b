//! Text that may come from a file, and how it is written into each kind of export.
//!
//! A model file names what its model was trained on, on which machine and more, and whoever made
//! the file chose the words. In an exported program, such words must stay words. [`Untrusted`]
//! cannot be formatted: to use it, one has to say where it goes.

use crate::text::visible::{is_hidden, one_line};

/// Characters kept; more would only hide what comes after.
const MAX_LENGTH: usize = 2_000;

/// Text that may come from a file. Each method writes it for one destination, where it can neither
/// end what it stands in nor be read as anything but text.
#[derive(Clone)]
pub struct Untrusted(String);

impl<T: Into<String>> From<T> for Untrusted {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Untrusted {
    /// One line of plain text, for fields that hold nothing but text: descriptions and metadata of
    /// ONNX and safetensors files.
    pub fn plain(&self) -> String {
        let line = one_line(&self.0);
        match line.char_indices().nth(MAX_LENGTH) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }

    /// The text of one line of a Rust comment. Documentation is Markdown, so it is escaped as such.
    pub fn rust_doc(&self) -> String {
        self.markdown()
    }

    /// A Rust string literal with its quotes.
    pub fn rust_string(&self) -> String {
        format!("{:?}", self.0)
    }

    /// Text within a Python docstring or comment.
    pub fn python_doc(&self) -> String {
        self.plain().replace('\\', "\\\\").replace('"', "\\\"")
    }

    /// A Python string literal with its quotes.
    pub fn python_string(&self) -> String {
        let escape = |c: char| match c {
            '"' | '\\' => format!("\\{c}"),
            ' '..='~' => c.to_string(),
            _ if c.is_alphanumeric() => c.to_string(),
            _ if u32::from(c) <= 0xFF => format!("\\x{:02x}", u32::from(c)),
            _ if u32::from(c) <= 0xFFFF => format!("\\u{:04x}", u32::from(c)),
            _ => format!("\\U{:08x}", u32::from(c)),
        };
        format!("\"{}\"", self.0.chars().map(escape).collect::<String>())
    }

    /// A TOML basic string with its quotes.
    pub fn toml_string(&self) -> String {
        let escape = |c: char| match c {
            '"' | '\\' => format!("\\{c}"),
            _ if is_hidden(c) => format!("\\U{:08x}", u32::from(c)),
            _ => c.to_string(),
        };
        format!("\"{}\"", self.0.chars().map(escape).collect::<String>())
    }

    /// Text of a Markdown paragraph, heading or table cell, without markup, HTML or links.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for c in self.plain().chars() {
            match c {
                '<' => text += "&lt;",
                '>' => text += "&gt;",
                '&' => text += "&amp;",
                // A tilde strikes out, a dollar sign starts a formula.
                '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '#' | '|' | '~' | '$' | '^'
                | '@' => text.extend(['\\', c]),
                // Lists and rules, if they begin the text.
                '-' | '+' | '=' if text.trim_start().is_empty() => text.extend(['\\', c]),
                _ => text.push(c),
            }
        }
        // Addresses become links without any markup.
        text.replace("://", "\\://").replace("www.", "www\\.")
    }

    /// A code span in a Markdown table.
    pub fn markdown_code(&self) -> String {
        format!("`{}`", self.plain().replace('`', "'").replace('|', "\\|"))
    }

    /// Text of an HTML element or of an attribute in quotes.
    pub fn html(&self) -> String {
        let line = self.plain();
        line.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .replace('\'', "&#39;")
    }
}

/// JSON as the text of an HTML element that holds data or a script: nothing in it can end that
/// element or begin another.
pub fn script_json(text: &str) -> String {
    json(text)
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

/// JSON whose strings have no hidden characters: JSON allows those outside ASCII as they are, and
/// here they become escapes.
pub fn json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        // Line feeds are between its values: within strings they are escapes already.
        if is_hidden(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text += &format!("\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}
