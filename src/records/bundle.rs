//! Files on their way between an engine and a caller on another machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names several files that belong together by what they hold: the SHA-256 of their names and
/// contents, in hexadecimal.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct BundleId(pub String);

/// The purpose of a bundle.
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

/// Days after its last use at which a bundle is deleted by the next start of Inkling on the machine
/// that it was sent to.
pub const KEPT_DAYS: u64 = 30;

/// A data set or a model that another machine has sent, as it is listed there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceivedBundle {
    /// Its name.
    pub id: BundleId,
    /// Its content, in the words of whoever sent it.
    pub what: String,
    /// Its size.
    pub bytes: u64,
    /// When it was last used, as in RFC 3339.
    pub last_used: String,
    /// Whether a run uses it now.
    pub in_use: bool,
}

/// The result of deleting a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeletedBundle {
    /// Its name.
    pub id: BundleId,
    pub what: String,
    /// Why it is still there, if it is: a run uses it, or the system refuses.
    pub problem: Option<String>,
}

/// Training data that is about to be sent to another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataUpload {
    /// The name of the data set.
    pub what: String,
    /// How many images it has.
    pub images: u64,
    /// The size of its files.
    pub bytes: u64,
    pub machine: String,
}
