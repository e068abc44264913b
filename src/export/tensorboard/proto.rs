//! The messages of `TensorBoard`'s protocol buffers that Inkling writes: of `event.proto`,
//! `summary.proto`, `tensor.proto`, and of its hparams plugin `plugin_data.proto`.

use std::collections::BTreeMap;

use prost::Message;

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

/// A value: a number, or a tensor with metadata that says which plugin shows it.
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
