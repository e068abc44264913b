//! Event files: their framing, computed here in another way, and what is in them. `TensorBoard`
//! itself reads them in `.ci/exports`.

use std::path::Path;

use inkling::export::tensorboard::{Event, EventFile, HParamsPluginData, SESSION_START};
use inkling::run_config::{DataSource, DataSpec, Preset, RunConfig};
use prost::Message;

/// CRC-32C bit by bit, by its definition: the remainder of a division of polynomials over GF(2), of
/// reversed bits.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut remainder = u32::MAX;
    for byte in bytes {
        for bit in 0..8 {
            let divide = (remainder ^ u32::from(byte >> bit)) & 1 == 1;
            remainder = (remainder >> 1) ^ if divide { 0x82F6_3B78 } else { 0 };
        }
    }
    !remainder
}

fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8)
}

/// The events in a file, whose checksums must be right.
fn events_in(file: &Path) -> Vec<Event> {
    let bytes = std::fs::read(file).unwrap();
    let mut rest = &bytes[..];
    let mut events = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_at(8);
        let count = u64::from_le_bytes(length.try_into().unwrap()) as usize;
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        assert_eq!(number(&after[..4]), masked(length));
        let record = &after[4..4 + count];
        assert_eq!(number(&after[4 + count..8 + count]), masked(record));
        events.push(Event::decode(record).unwrap());
        rest = &after[8 + count..];
    }
    events
}

/// All events of the one run in a folder of event files, file by file.
pub fn events_of_run(folder: &Path) -> Vec<Vec<Event>> {
    let runs: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    let mut files: Vec<_> = std::fs::read_dir(&runs[0])
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.iter().map(|file| events_in(file)).collect()
}

/// The steps and figures with this tag.
pub fn scalars(events: &[Event], tag: &str) -> Vec<(i64, f32)> {
    let of = |event: &Event| {
        let values = event
            .summary
            .iter()
            .flat_map(|summary| &summary.value)
            .filter(|value| value.tag == tag);
        values
            .filter_map(|value| Some((event.step, value.simple_value?)))
            .collect::<Vec<_>>()
    };
    events.iter().flat_map(of).collect()
}

#[test]
fn checksums_are_those_of_the_standard() {
    // RFC 3720, appendix B.4, and the usual check value.
    assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
    assert_eq!(crc32c(b"123456789"), 0xE306_9283);
}

#[test]
fn an_event_file_grows_by_whole_records_and_holds_settings_and_figures() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("a run");
    let mut file = EventFile::begin(&run).unwrap();
    let data = DataSpec::single(DataSource::Path("/home/somebody/digits|mine".into()));
    file.settings(&RunConfig {
        data,
        ..RunConfig::preset(Preset::Balanced)
    });
    file.scalars(1, &[("loss/train", 2.25), ("accuracy/train", 0.0)]);
    file.flush().unwrap();
    let so_far = events_of_run(folder.path()).remove(0);
    assert_eq!(
        so_far[0].file_version.as_deref(),
        Some("brain.Event:2"),
        "TensorBoard wants to know that first"
    );
    assert_eq!(
        so_far[1].session_log.as_ref().map(|log| log.status),
        Some(SESSION_START)
    );
    assert!(so_far.iter().all(|event| event.wall_time > 1.7e9));
    assert_eq!(scalars(&so_far, "loss/train"), [(1, 2.25)]);
    assert_eq!(
        scalars(&so_far, "accuracy/train"),
        [(1, 0.0)],
        "a zero is a figure as well"
    );

    let value = |tag: &str| {
        so_far
            .iter()
            .flat_map(|event| &event.summary)
            .flat_map(|summary| &summary.value)
            .find(|value| value.tag == tag)
    };
    let text = value("settings/text_summary")
        .unwrap()
        .tensor
        .as_ref()
        .unwrap()
        .string_val[0]
        .clone();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("| learning_rate | 0.006 |"), "{text}");
    assert!(
        !text.contains("somebody"),
        "folders of this machine stay here: {text}"
    );
    let content = &value("_hparams_/session_start_info")
        .unwrap()
        .metadata
        .as_ref()
        .unwrap()
        .plugin_data
        .as_ref()
        .unwrap()
        .content;
    let params = HParamsPluginData::decode(&content[..])
        .unwrap()
        .session_start_info
        .unwrap()
        .hparams;
    assert_eq!(params["learning_rate"].number_value, Some(0.006));
    assert_eq!(params["nesterov"].bool_value, Some(true));
    assert_eq!(params["model"].string_value.as_deref(), Some("speedrun"));

    file.scalars(2, &[("loss/train", 2.0)]);
    file.flush().unwrap();
    let later = events_of_run(folder.path()).remove(0);
    assert_eq!(later[..so_far.len()], so_far[..], "what was written stays");
    assert_eq!(scalars(&later, "loss/train"), [(1, 2.25), (2, 2.0)]);
}
