//! Writes a few valid inputs for each fuzz target, so that mutations start close to what is
//! accepted. Usage: make_corpus FOLDER

use inkling::settings::Settings;
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use image::{DynamicImage, ImageFormat};
use inkling::data::{Dataset, builtin};
use inkling::engine::{send_handshake, write};
use inkling::export::{ExportedModel, export};
use inkling::ink::PIXELS;
use inkling::nn::{DeviceContext, Net};
use inkling::progress::Unwatched;
use inkling::protocol::{Command, Event, Job, JobEvent, JobProgress};
use inkling::records::{ExportSpec, ImportSpec, JobId, ModelRef, Replace};
use inkling::run_config::{ExportFormat, ModelKind, Preset, RunConfig, WeightFormat};
use inkling::sweep::{SweepDefinition, SamplerKind, SettingRange};
use inkling::train::{Checkpoint, EndRequest, RunObserver, TrainOutcome, train};
use serde_json::Value;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

#[path = "sweep.rs"]
mod sweep;

/// A sweep as a person writes it.
const SWEEP: &str = "preset = \"balanced\"\ndata = \"mnist\"\ntrials = 30\ntime = \"30m\"\nsampler = \"tpe\"\npruner = \"none\"\nparallel = 2\n\n[set]\nepochs = 4\n\
    lr = \"1e-4..1e-2:log\"\nbatch-size = [32, 64, 128]\naugmentation = [\"off\", \"gentle\"]\nweight-decay = \"0..0.1:5\"\n";

/// A lesson with everything that one can contain.
const LESSON: &str = "# Sevens\n\nWhat makes a seven.\n\n## Try it\nscreen: draw\n\nDraw a seven:\nas you like.\n\nrun: --preset quick --epochs 2 --lr 0.01\n\n\
    ## Well?\nask: Was it read as 7?\n- No\n* Yes\nanswer: It is a seven.\nshow: runs\n";

/// A state dict with one tensor of 2x3 elements, as `torch.save` writes it.
const PICKLE: &[u8] =
    b"\x80\x02}q\x00(X\x09\0\0\0fc.weightctorch._utils\n_rebuild_tensor_v2\nq\x01((X\x07\0\0\0storagectorch\nFloatStorage\n\
    X\x01\0\0\x000X\x03\0\0\0cpuK\x06tQK\x00K\x02K\x03\x86K\x03K\x01\x86\x89ccollections\nOrderedDict\n)RtRu.";

/// Keeps the checkpoints of a run.
#[derive(Default)]
struct Keeper(Vec<Checkpoint>);

impl RunObserver for Keeper {
    fn on_micro_batch(&mut self, _net: &Net) -> Result<(), EndRequest> {
        Ok(())
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        self.0.push(checkpoint);
    }
}

fn main() {
    let root = std::env::args_os()
        .nth(1)
        .expect("usage: make_corpus FOLDER");
    let root = Path::new(&root);
    let add = |target: &str, name: &str, bytes: &[u8]| {
        fs::create_dir_all(root.join(target)).expect("a folder for the target");
        fs::write(root.join(target).join(name), bytes).expect("an input");
    };
    let data = builtin::generate(1, 40, 20, &mut Unwatched).expect("digits");
    add_data(&add, &data);
    add_images(&add);
    add_weights(&add);
    add_run(&add, &data);
    add_frames(&add);
    add_sweeps(&add);
    add("lesson", "own", LESSON.as_bytes());
    add(
        "lesson",
        "learning-rate",
        include_bytes!("../assets/lessons/learning-rate.md"),
    );
    let settings = Settings {
        data_folders: vec!["some/where".into()],
        ..Settings::default()
    };
    add(
        "settings",
        "default",
        &serde_json::to_vec(&Settings::default()).expect("settings"),
    );
    add(
        "settings",
        "folders",
        &serde_json::to_vec_pretty(&settings).expect("settings"),
    );
}

fn add_data(add: &impl Fn(&str, &str, &[u8]), data: &Dataset) {
    let idx = |header: &[u32], items: &[u8]| {
        [
            &header
                .iter()
                .flat_map(|word| word.to_be_bytes())
                .collect::<Vec<_>>(),
            items,
        ]
        .concat()
    };
    let images = idx(&[0x0803, 2, 28, 28], &data.train.images[..2 * PIXELS]);
    let labels = idx(&[0x0801, 40], &data.train.labels);
    for (name, kind, bytes) in [("images", 0, &images), ("labels", 1, &labels)] {
        add("idx", name, &[&[kind], &bytes[..]].concat());
        add(
            "idx",
            &format!("{name}.gz"),
            &[&[kind], &gzipped(bytes)[..]].concat(),
        );
        // The target writes the first three bytes itself.
        add("gzip", name, &gzipped(bytes)[3..]);
    }
    let row = |index: usize| {
        let pixels = data
            .train
            .image(index)
            .iter()
            .map(|pixel| format!(",{pixel}"))
            .collect::<String>();
        format!("{}{pixels}\n", data.train.labels[index])
    };
    let header = format!(
        "label{}\n",
        (0..PIXELS)
            .map(|pixel| format!(",pixel{pixel}"))
            .collect::<String>()
    );
    add("csv", "rows", (row(0) + &row(1)).as_bytes());
    add("csv", "header", (header + &row(2)).as_bytes());
    add("csv", "rows.gz", &gzipped((row(0) + &row(1)).as_bytes()));
    let ink = "{\"strokes\": [[[12.5, 30.0], [14.0, 42.5]], [[10, 36], [20, 36]]], \"pen\": 2.0, \"label\": \"4\"}\n\n{\"label\": 3, \"strokes\": []}\n";
    add("ink", "two", ink.as_bytes());
    add("ink", "two.gz", &gzipped(ink.as_bytes()));
    let npy = |shape: &str, numbers: &[u8]| {
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape}), }}\n");
        [
            b"\x93NUMPY\x01\0",
            &(header.len() as u16).to_le_bytes()[..],
            header.as_bytes(),
            numbers,
        ]
        .concat()
    };
    for (name, method) in [
        ("stored", zip::CompressionMethod::Stored),
        ("deflated", zip::CompressionMethod::Deflated),
    ] {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (file, array) in [
            (
                "x_train.npy",
                npy("2, 28, 28", &data.train.images[..2 * PIXELS]),
            ),
            ("y_train.npy", npy("2,", &data.train.labels[..2])),
        ] {
            zip.start_file(
                file,
                SimpleFileOptions::default().compression_method(method),
            )
            .expect("a file in an archive in memory");
            zip.write_all(&array)
                .expect("a file in an archive in memory");
        }
        add(
            "npz",
            name,
            zip.finish().expect("an archive in memory").get_ref(),
        );
    }
}

fn add_images(add: &impl Fn(&str, &str, &[u8])) {
    let ink = image::GrayImage::from_fn(40, 30, |x, y| {
        image::Luma([if (18..22).contains(&x) && (5..25).contains(&y) {
            20
        } else {
            250
        }])
    });
    let image = DynamicImage::from(ink);
    for (name, image) in [
        ("gray", image.clone()),
        ("rgba", image.to_rgba8().into()),
        ("rgb16", image.to_rgb16().into()),
    ] {
        let mut png = Cursor::new(Vec::new());
        image.write_to(&mut png, ImageFormat::Png).expect("a PNG");
        add("image", &format!("{name}.png"), png.get_ref());
    }
    for (name, image) in [("gray", image.clone()), ("rgb", image.to_rgb8().into())] {
        let mut jpeg = Cursor::new(Vec::new());
        image
            .write_to(&mut jpeg, ImageFormat::Jpeg)
            .expect("a JPEG");
        add("image", &format!("{name}.jpg"), jpeg.get_ref());
    }
    let formats = [
        ImageFormat::Bmp,
        ImageFormat::Gif,
        ImageFormat::Pnm,
        ImageFormat::Tiff,
        ImageFormat::WebP,
    ];
    for (format, (name, image)) in formats.iter().flat_map(|format| {
        [("gray", image.clone()), ("rgb", image.to_rgb8().into())].map(|of| (format, of))
    }) {
        let mut bytes = Cursor::new(Vec::new());
        let image: DynamicImage = image;
        // GIF has no gray.
        if image.write_to(&mut bytes, *format).is_ok() {
            add(
                "image",
                &format!("{name}.{}", format.extensions_str()[0]),
                bytes.get_ref(),
            );
        }
    }
}

fn add_weights(add: &impl Fn(&str, &str, &[u8])) {
    add("pickle", "tensor", PICKLE);
    for (name, options) in [
        ("stored", zip::CompressionMethod::Stored),
        ("deflated", zip::CompressionMethod::Deflated),
    ] {
        let options = SimpleFileOptions::default().compression_method(options);
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (file, bytes) in [
            ("m/data.pkl", PICKLE),
            ("m/byteorder", b"little"),
            ("m/data/0", &[0x3F; 24]),
        ] {
            zip.start_file(file, options)
                .expect("a file in an archive in memory");
            zip.write_all(bytes)
                .expect("a file in an archive in memory");
        }
        add(
            "zip",
            name,
            zip.finish().expect("an archive in memory").get_ref(),
        );
    }
    let header = r#"{"fc.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"__metadata__":{"format":"pt"}}"#;
    add(
        "safetensors",
        "tensor",
        &[
            &(header.len() as u64).to_le_bytes()[..],
            header.as_bytes(),
            &[0x3F; 24],
        ]
        .concat(),
    );
}

/// A short run: its model, its summary and its checkpoints.
fn add_run(add: &impl Fn(&str, &str, &[u8]), data: &Dataset) {
    let config = RunConfig {
        model: ModelKind::Tiny,
        epochs: 2,
        batch_size: 16,
        weight_averaging: Some(0.9),
        ..RunConfig::preset(Preset::QuickLook)
    };
    let mut keeper = Keeper::default();
    let outcome = train(&config, data, &DeviceContext::CPU, None, &mut keeper).expect("a run");
    let TrainOutcome::Trained(outcome) = outcome else {
        panic!("a run that nobody ends has a model")
    };
    let model = outcome.model_file();
    add(
        "safetensors",
        "model",
        &model.to_bytes(WeightFormat::F16).expect("a model's file"),
    );
    let exported = ExportedModel {
        file: model.clone(),
        run: None,
        quantized: None,
    };
    for (name, spec) in [
        ("floats", ExportSpec::new(ExportFormat::Onnx)),
        (
            "bytes",
            ExportSpec {
                quantize: true,
                ..ExportSpec::new(ExportFormat::Onnx)
            },
        ),
        (
            "halves",
            ExportSpec {
                weights: WeightFormat::F16,
                ..ExportSpec::new(ExportFormat::Onnx)
            },
        ),
    ] {
        let export = export(&exported, &spec, "model").expect("an export");
        let file = export
            .files()
            .iter()
            .find(|file| file.info.name == "model")
            .expect("the model's file");
        add("onnx", name, &file.bytes);
    }
    add(
        "card",
        "card",
        serde_json::to_string(&model.card)
            .expect("a card")
            .as_bytes(),
    );
    add(
        "run_json",
        "summary",
        &serde_json::to_vec(&outcome.summary).expect("a summary"),
    );
    add(
        "run_json",
        "annotation",
        br#"{"name":"Best one","note":"with rotation","starred":true}"#,
    );
    for (index, checkpoint) in keeper.0.iter().enumerate() {
        add(
            "checkpoint",
            &index.to_string(),
            &checkpoint_file(checkpoint),
        );
    }
}

/// The file of a checkpoint with the first two of each list of weights: whole, it would be too
/// large to be mutated quickly. The target corrects the checksums.
fn checkpoint_file(checkpoint: &Checkpoint) -> Vec<u8> {
    let card = rmp_serde::to_vec_named(&checkpoint.card).expect("a card");
    let mut whole = serde_json::to_value(checkpoint).expect("a checkpoint");
    shorten(&mut whole);
    let whole = rmp_serde::to_vec_named(&whole).expect("a checkpoint");
    let header = [
        &b"INKCKPT\n"[..],
        &1_u32.to_le_bytes(),
        &(card.len() as u32).to_le_bytes(),
    ]
    .concat();
    [&header, &card, &[0; 32][..], &whole, &[0; 32]].concat()
}

fn shorten(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.truncate(if items.iter().all(Value::is_number) {
                2
            } else {
                8
            });
            items.iter_mut().for_each(shorten);
        }
        Value::Object(entries) => entries.values_mut().for_each(shorten),
        _ => {}
    }
}

fn add_frames(add: &impl Fn(&str, &str, &[u8])) {
    let mut handshake = Vec::new();
    send_handshake(&mut handshake).expect("a pipe in memory");
    add("frames", "handshake", &handshake);
    let submit = |job: Job| Command::Submit {
        id: JobId(1),
        job: Box::new(job),
        data: None,
    };
    let commands = [
        submit(Job::Train {
            config: RunConfig::default(),
            from: Some("checkpoints/one".into()),
        }),
        submit(Job::Import(ImportSpec::of("a.pt".into()))),
        submit(Job::Export {
            model: ModelRef::Starter,
            spec: ExportSpec::new(ExportFormat::Zip),
            to: None,
            replace: Replace::Nothing,
        }),
        Command::Ping,
    ];
    let mut pipe = Vec::new();
    commands
        .iter()
        .for_each(|command| write(&mut pipe, command).expect("a pipe in memory"));
    add("frames", "commands", &pipe);
    let mut pipe = Vec::new();
    let progress = JobEvent::Progress(JobProgress {
        fraction: 0.5,
        ..JobProgress::default()
    });
    for event in [
        Event::Job {
            id: JobId(1),
            event: progress,
        },
        Event::Pong,
    ] {
        write(&mut pipe, &event).expect("a pipe in memory");
    }
    add("frames", "events", &pipe);
}

/// A sweep as a person writes it and as it is kept, and a journal with everything that can happen
/// to a trial.
fn add_sweeps(add: &impl Fn(&str, &str, &[u8])) {
    add("sweep_definition", "toml", SWEEP.as_bytes());
    add("sweep_definition", "time", b"1.5h");
    let definition = sweep::definition();
    add(
        "sweep_definition",
        "random",
        &serde_json::to_vec(&definition).expect("a definition"),
    );
    let mut grid = SweepDefinition {
        sampler: SamplerKind::Grid,
        pruner: None,
        ..definition
    };
    grid.set(SettingRange::parse("learning-rate=1e-4..1e-1:log:4").expect("a range"))
        .expect("a setting");
    add(
        "sweep_definition",
        "grid",
        &serde_json::to_vec_pretty(&grid).expect("a definition"),
    );
    let started = |trial: u32, rate: f64| {
        format!(
            r#"{{"trial":{trial},"elapsed":0.5,"event":"started","values":{{"batch-size":64,"lr":{rate}}}}}"#
        )
    };
    let epoch = |trial: u32| {
        format!(
            r#"{{"trial":{trial},"elapsed":4.1,"event":"epoch","epoch":1,"validation_accuracy":0.98,"validation_loss":0.07,"seconds":3.9}}"#
        )
    };
    let ended =
        |trial: u32, event: &str| format!(r#"{{"trial":{trial},"elapsed":9.25,"event":{event}}}"#);
    let lines = [
        started(1, 0.003),
        started(2, 0.01),
        epoch(1),
        epoch(2),
        ended(1, r#""completed""#),
        ended(2, r#""pruned""#),
        started(3, 0.1),
        ended(3, r#""failed","reason":"diverged""#),
        ended(1, r#""tested","run":"runs/1","test_accuracy":0.99"#),
        started(4, 0.02),
    ];
    let journal = lines.join("\n") + "\n";
    add("sweep_journal", "whole", journal.as_bytes());
    add(
        "sweep_journal",
        "cut",
        &journal.as_bytes()[..journal.len() - 9],
    );
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("gzip in memory");
    encoder.finish().expect("gzip in memory")
}
