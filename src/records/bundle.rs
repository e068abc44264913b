//! Files on their way between an engine and a caller on another machine.

use serde::{Deserialize, Serialize};

/// Names several files that belong together by what they hold: the SHA-256 of their names and contents, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BundleId(pub String);

/// What a bundle is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BundleUse {
    /// A data set or a model: it is kept, and need not be sent again.
    Keep,
    /// The checkpoint of a run that is resumed: it changes, and is deleted with the connection.
    Change,
}

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePart {
    /// The file's name, without a folder.
    pub name: String,
    /// The bytes that follow those before.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}
