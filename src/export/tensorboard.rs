//! Event files of `TensorBoard`: a run's figures while it trains, in a file that only grows, so
//! that `TensorBoard` shows them live.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use prost::Message;

use super::untrusted::Untrusted;
use crate::run_config::RunConfig;
use crate::system::WriteError;
use crate::system::files::{create_folder, open_append};

const VERSION: &str = "brain.Event:2";
/// Other programs put the machine's name here.
const WRITER: &str = "inkling";

#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    file: File,
    /// Records that are not in the file yet.
    waiting: Vec<u8>,
}

impl EventFile {
    /// A new file for a run in this folder, which is created if need be. If a file that is there
    /// already has figures of the same run, these are void from its first step on.
    pub fn begin(folder: &Path) -> Result<Self, WriteError> {
        let now = jiff::Timestamp::now().as_second();
        let path = folder.join(format!(
            "events.out.tfevents.{now:010}.{WRITER}.{}",
            std::process::id()
        ));
        let open = || {
            create_folder(folder)?;
            open_append(&path)
        };
        let file = open().map_err(|error| WriteError::new(&path, &error))?;
        let mut events = Self {
            path,
            file,
            waiting: Vec::new(),
        };
        events.add(Event {
            file_version: Some(VERSION.to_owned()),
            ..Event::default()
        });
        events.add(Event {
            session_log: Some(SessionLog {
                status: SESSION_START,
            }),
            ..Event::default()
        });
        Ok(events)
    }

    /// The settings of the run, as text and as its hyperparameters; of folders and files only the
    /// names.
    pub fn settings(&mut self, config: &RunConfig) {
        let settings = serde_json::to_value(config.without_folders()).unwrap_or_default();
        let settings = settings
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, value)| !value.is_null() && *name != "version");
        let mut table = String::from("| setting | value |\n|---|---|\n");
        let mut hparams = BTreeMap::new();
        for (name, value) in settings {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            table += &format!(
                "| {name} | {} |\n",
                Untrusted::from(text.as_str()).markdown()
            );
            let param = match value {
                serde_json::Value::Bool(value) => HParam {
                    bool_value: Some(*value),
                    ..HParam::default()
                },
                serde_json::Value::Number(value) => HParam {
                    number_value: value.as_f64(),
                    ..HParam::default()
                },
                _ => HParam {
                    string_value: Some(Untrusted::from(text).plain()),
                    ..HParam::default()
                },
            };
            hparams.insert(name.clone(), param);
        }
        let tensor = TensorProto {
            dtype: STRING,
            tensor_shape: Some(TensorShapeProto {
                dim: vec![DimensionProto { size: 1 }],
            }),
            string_val: vec![table.into_bytes()],
        };
        let text = Value {
            tag: "settings/text_summary".to_owned(),
            tensor: Some(tensor),
            metadata: Some(shown_by("text", Vec::new())),
            ..Value::default()
        };
        let start = SessionStartInfo {
            hparams,
            start_time_secs: now(),
        };
        let content = HParamsPluginData {
            session_start_info: Some(start),
        }
        .encode_to_vec();
        let hparams = Value {
            tag: "_hparams_/session_start_info".to_owned(),
            metadata: Some(shown_by("hparams", content)),
            ..Value::default()
        };
        for value in [text, hparams] {
            self.add(Event {
                summary: Some(Summary { value: vec![value] }),
                ..Event::default()
            });
        }
    }

    /// These figures after this many steps, each with its tag.
    pub fn scalars(&mut self, step: u64, figures: &[(&str, f32)]) {
        let value = |&(tag, figure): &(&str, f32)| Value {
            tag: tag.to_owned(),
            simple_value: Some(figure),
            ..Value::default()
        };
        let summary = Summary {
            value: figures.iter().map(value).collect(),
        };
        self.add(Event {
            step: step as i64,
            summary: Some(summary),
            ..Event::default()
        });
    }

    /// Writes what was added since the last time.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        let written = self.file.write_all(&self.waiting);
        self.waiting.clear();
        written.map_err(|error| WriteError::new(&self.path, &error))
    }

    fn add(&mut self, event: Event) {
        add_record(
            &mut self.waiting,
            &Event {
                wall_time: now(),
                ..event
            }
            .encode_to_vec(),
        );
    }
}

/// Metadata of a value for this plugin.
fn shown_by(plugin: &str, content: Vec<u8>) -> SummaryMetadata {
    SummaryMetadata {
        plugin_data: Some(PluginData {
            plugin_name: plugin.to_owned(),
            content,
        }),
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    jiff::Timestamp::now().as_duration().as_secs_f64()
}

/// The reversed polynomial of CRC-32C (Castagnoli 1993).
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// The checksums of single bytes.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 {
                sum >> 1 ^ POLYNOMIAL
            } else {
                sum >> 1
            };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
};

/// Adds a record of a `TFRecord` file to `to` (`tensorflow/core/lib/io/record_writer.h`): its
/// length as 8 bytes and their checksum, its bytes and their checksum, all numbers little-endian.
fn add_record(to: &mut Vec<u8>, record: &[u8]) {
    let length = (record.len() as u64).to_le_bytes();
    to.extend_from_slice(&length);
    to.extend_from_slice(&masked(&length).to_le_bytes());
    to.extend_from_slice(record);
    to.extend_from_slice(&masked(record).to_le_bytes());
}

/// The CRC-32C, rotated and shifted, so that the checksum of data which contains checksums is not
/// special.
fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8)
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        TABLE[(sum as u8 ^ byte) as usize] ^ sum >> 8
    })
}

// The messages of TensorBoard's protocol buffers: of event.proto, summary.proto, tensor.proto, and
// of its hparams plugin plugin_data.proto.

/// `SessionLog.SessionStatus.START`: a run begins at the event's step, and what an earlier file
/// says of this step and later ones is void.
pub const SESSION_START: i32 = 1;

/// `DataType.DT_STRING`.
pub const STRING: i32 = 7;

/// One record of a file: exactly one of its last three fields is set.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    #[prost(double, tag = "1")]
    pub wall_time: f64,
    #[prost(int64, tag = "2")]
    pub step: i64,
    #[prost(string, optional, tag = "3")]
    pub file_version: Option<String>,
    #[prost(message, optional, tag = "5")]
    pub summary: Option<Summary>,
    #[prost(message, optional, tag = "7")]
    pub session_log: Option<SessionLog>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SessionLog {
    #[prost(int32, tag = "1")]
    pub status: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Summary {
    #[prost(message, repeated, tag = "1")]
    pub value: Vec<Value>,
}

/// A value: a number, or a tensor with metadata that names the plugin that shows it.
#[derive(Clone, PartialEq, Message)]
pub struct Value {
    #[prost(string, tag = "1")]
    pub tag: String,
    #[prost(float, optional, tag = "2")]
    pub simple_value: Option<f32>,
    #[prost(message, optional, tag = "8")]
    pub tensor: Option<TensorProto>,
    #[prost(message, optional, tag = "9")]
    pub metadata: Option<SummaryMetadata>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SummaryMetadata {
    #[prost(message, optional, tag = "1")]
    pub plugin_data: Option<PluginData>,
}

/// The plugin that shows a value, and what it needs to know.
#[derive(Clone, PartialEq, Message)]
pub struct PluginData {
    #[prost(string, tag = "1")]
    pub plugin_name: String,
    #[prost(bytes = "vec", tag = "2")]
    pub content: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    #[prost(int32, tag = "1")]
    pub dtype: i32,
    #[prost(message, optional, tag = "2")]
    pub tensor_shape: Option<TensorShapeProto>,
    #[prost(bytes = "vec", repeated, tag = "8")]
    pub string_val: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    #[prost(message, repeated, tag = "2")]
    pub dim: Vec<DimensionProto>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DimensionProto {
    #[prost(int64, tag = "1")]
    pub size: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct HParamsPluginData {
    #[prost(message, optional, tag = "3")]
    pub session_start_info: Option<SessionStartInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SessionStartInfo {
    #[prost(btree_map = "string, message", tag = "1")]
    pub hparams: BTreeMap<String, HParam>,
    #[prost(double, tag = "5")]
    pub start_time_secs: f64,
}

/// `google.protobuf.Value`: one of its fields is set.
#[derive(Clone, PartialEq, Message)]
pub struct HParam {
    #[prost(double, optional, tag = "2")]
    pub number_value: Option<f64>,
    #[prost(string, optional, tag = "3")]
    pub string_value: Option<String>,
    #[prost(bool, optional, tag = "4")]
    pub bool_value: Option<bool>,
}
