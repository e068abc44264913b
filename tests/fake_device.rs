//! Owns a GPU in name: candle's ops on the processor, and everything that can go wrong with a
//! device where a test says so.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use candle_core::Device;

use inkling::engine::Devices;
use inkling::infer::{Classifier, Classify};
use inkling::ink::Image;
use inkling::nn::backend::COMPOSED;
use inkling::nn::{ComputeError, DeviceContext};
use inkling::problem::Problem;
use inkling::records::Prediction;
use inkling::run_config::{ConfigError, DeviceChoice};

/// How the fake device behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Script {
    /// As a device should.
    #[default]
    Sound,
    /// It cannot be opened.
    Absent,
    /// Every reading takes so much longer.
    Slow(Duration),
    /// It mixes digits up.
    Wrong,
    /// It fails after this many readings, with an error.
    Fails(u32),
    /// It panics after this many readings, as candle does where a driver breaks.
    Panics(u32),
}

/// Every device of a machine; all but the processor behave as the script says.
#[derive(Clone, Debug, Default)]
pub struct FakeDevices {
    pub script: Script,
    /// Opening a device waits until something comes from here.
    pub gate: Option<Arc<Mutex<Receiver<()>>>>,
}

impl FakeDevices {
    pub fn new(script: Script) -> Self {
        Self { script, gate: None }
    }
}

/// Where candle's own ops compute.
pub fn candle() -> DeviceContext {
    DeviceContext::new(Device::Cpu, COMPOSED)
}

impl Devices for FakeDevices {
    fn open(&self, device: DeviceChoice) -> Result<DeviceContext, ConfigError> {
        if device.resolved() == DeviceChoice::Cpu {
            return Ok(DeviceContext::CPU);
        }
        if let Some(gate) = &self.gate {
            // A test that is over lets everything through.
            let _ = gate.lock().unwrap().recv();
        }
        if self.script == Script::Absent {
            return Err(ConfigError::DeviceUnavailable {
                device,
                reason: "it fell out.".to_owned(),
            });
        }
        Ok(candle())
    }

    fn load(&self, model: &Classifier, device: DeviceChoice) -> Result<Box<dyn Classify>, Problem> {
        let classifier = model.to_device(device, &self.open(device)?)?;
        Ok(Box::new(Scripted {
            classifier,
            script: self.script,
            readings: 0.into(),
        }))
    }
}

struct Scripted {
    classifier: Classifier,
    script: Script,
    readings: std::cell::Cell<u32>,
}

impl Classify for Scripted {
    fn classify(&self, image: Image) -> Result<Prediction, Problem> {
        self.readings.set(self.readings.get() + 1);
        match self.script {
            Script::Slow(by) => std::thread::sleep(by),
            Script::Fails(after) if self.readings.get() > after => {
                return Err(Problem::from(ComputeError::Failed {
                    message: "the driver is gone".to_owned(),
                }));
            }
            Script::Panics(after) if self.readings.get() > after => panic!("the driver is gone"),
            _ => {}
        }
        let mut reading = self.classifier.classify(image)?;
        if self.script == Script::Wrong {
            reading.probabilities.rotate_left(1);
        }
        Ok(reading)
    }
}
