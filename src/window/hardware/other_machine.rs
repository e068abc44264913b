//! Another machine to train and recognize drawings on, reached by SSH: naming it, its hardware and
//! self-test, and moving the engine there.

use std::path::PathBuf;
use std::sync::Arc;

use super::device_check::{Checked, Checks};
use super::sending::SentView;
use crate::engine::{EngineHost, RemoteHost, SshHost};
use crate::hardware::{Hardware, device_availability};
use crate::problem::{Message, Problem};
use crate::records::BundleId;
use crate::records::benchmark::Effort;
use crate::run_config::DeviceChoice;
use crate::window::{ComparisonKind, Ctx, Machine, Purpose, Request, Screen};

/// Hosts that are remembered, the last one used first.
const REMEMBERED: usize = 8;

/// Looks a host's hardware up and self-tests its devices; blocks until it is done.
pub type ReachHost = Arc<dyn Fn(&SshHost) -> Result<OtherMachine, Problem> + Send + Sync>;

#[derive(Clone, Debug, PartialEq)]
pub struct OtherMachine {
    pub host: SshHost,
    pub hardware: Hardware,
    pub checks: Checks,
}

/// The dialog that asks for a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherMachineDialog {
    pub text: String,
    pub state: ReachState,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum ReachState {
    /// Nothing was tried with what is typed.
    #[default]
    Typing,
    /// It is connected to, and runs its self-test.
    Connecting(SshHost),
    Failed(Message),
    Reached(Box<OtherMachine>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineAction {
    CheckDevice(DeviceChoice),
    Benchmark(Effort),
    /// Compare batch sizes or devices with the settings of the next run.
    Compare(ComparisonKind),
    /// Choose the folder of NVIDIA's libraries in a dialog.
    ChooseCudaFolder,
    /// Search this folder for NVIDIA's libraries first, or only the standard locations.
    UseCudaFolder(Option<PathBuf>),
    /// Copy what helps to find a fault.
    CopyDiagnostics,
    /// Ask for a host; for this one immediately, if it is given.
    Ask(Option<String>),
    Type(String),
    /// Connect to the host that is typed.
    Connect,
    /// Train on the machine that was reached.
    Use,
    /// Train on this machine again.
    UseThis,
    /// Answer whether My digits may be sent to the other machine.
    AnswerSending(bool),
    /// Send My digits to it no longer.
    WithdrawMyDigits,
    /// List again what was sent to it.
    ListSent,
    DeleteSent(BundleId),
    Close,
}

impl OtherMachine {
    /// Looks up the hardware of a host, and self-tests its CPU, and its NVIDIA GPU if there is one
    /// that can be used.
    pub fn reach(
        host: &SshHost,
        hardware: impl Fn(&SshHost) -> Result<Hardware, Problem>,
        self_test: impl Fn(&SshHost, DeviceChoice) -> Result<crate::self_test::SelfTestReport, Problem>,
    ) -> Result<Self, Problem> {
        let hardware = hardware(host)?;
        let has_gpu =
            !hardware.gpus.is_empty() && device_availability(DeviceChoice::Cuda, &hardware).is_ok();
        let gpu = has_gpu.then_some(DeviceChoice::Cuda);
        let devices = [DeviceChoice::Cpu].into_iter().chain(gpu);
        let check = |device| Checked::Done(Box::new(self_test(host, device)));
        let checks = devices.map(|device| (device, check(device))).collect();
        let host = host.clone();
        Ok(Self {
            host,
            hardware,
            checks,
        })
    }

    pub fn passed(&self) -> impl Iterator<Item = DeviceChoice> {
        let passed = |check: &Checked| matches!(check, Checked::Done(found) if found.as_ref().as_ref().is_ok_and(|report| report.failed() == 0));
        [DeviceChoice::Cpu, DeviceChoice::Cuda]
            .into_iter()
            .filter(move |device| self.checks.get(device).is_some_and(passed))
    }

    /// The obstacle to training there: its CPU failed the self-test, or that did not run.
    fn failure(&self) -> Option<String> {
        match self.checks.get(&DeviceChoice::Cpu) {
            Some(Checked::Done(found)) => match &**found {
                Ok(report) if report.failed() == 0 => None,
                Ok(report) => Some(report.verdict()),
                Err(problem) => Some(problem.message.what.clone()),
            },
            _ => None,
        }
    }
}

impl Machine {
    pub fn update(&mut self, ctx: &mut Ctx, action: MachineAction) {
        match action {
            // It concerns every feature.
            MachineAction::CopyDiagnostics => {}
            MachineAction::CheckDevice(device) => ctx.check_device(device),
            MachineAction::Benchmark(effort) => ctx.benchmark(effort),
            MachineAction::Compare(what) => self.compare(ctx, what),
            MachineAction::ChooseCudaFolder => ctx.ask_for_folder(
                "Choose the folder with NVIDIA's libraries",
                Purpose::CudaFolder,
            ),
            MachineAction::UseCudaFolder(folder) => self.use_cuda_folder(ctx, folder),
            MachineAction::Ask(host) => {
                let last = || ctx.settings.hosts.first().cloned();
                let text = host.clone().or_else(last).unwrap_or_default();
                self.ask_for_host(text);
                if host.is_some() {
                    self.connect_to_host(ctx);
                }
            }
            MachineAction::Type(text) => {
                if self.machine_dialog.is_some() {
                    self.ask_for_host(text);
                }
            }
            MachineAction::Connect => self.connect_to_host(ctx),
            MachineAction::Use => self.use_other_machine(ctx),
            MachineAction::UseThis => {
                if ctx.why_not_move().is_none() && ctx.other_machine.take().is_some() {
                    ctx.request(Request::MoveEngine(ctx.deps.host.clone()));
                }
            }
            MachineAction::AnswerSending(may_send) => self.answer_sending(ctx, may_send),
            MachineAction::WithdrawMyDigits => self.withdraw_my_digits(ctx),
            MachineAction::ListSent => self.list_sent(ctx),
            MachineAction::DeleteSent(bundle) => self.delete_sent(ctx, bundle),
            MachineAction::Close => self.machine_dialog = None,
        }
    }

    fn ask_for_host(&mut self, text: String) {
        let state = ReachState::Typing;
        self.machine_dialog = Some(OtherMachineDialog { text, state });
    }

    fn use_other_machine(&mut self, ctx: &mut Ctx) {
        if ctx.why_not_move().is_some() {
            return;
        }
        let dialog = self.machine_dialog.take();
        let Some(ReachState::Reached(machine)) = dialog.map(|dialog| dialog.state) else {
            return;
        };
        let typed = machine.host.to_string();
        ctx.settings.hosts.retain(|host| *host != typed);
        ctx.settings.hosts.insert(0, typed);
        ctx.settings.hosts.truncate(REMEMBERED);
        let host = EngineHost::Remote(RemoteHost::Ssh(machine.host.clone()));
        ctx.other_machine = Some(*machine);
        self.read_recipients(ctx);
        self.sent = SentView::default();
        ctx.request(Request::MoveEngine(host));
        if ctx.screen == Screen::Hardware {
            self.list_sent(ctx);
        }
    }

    /// Looks for NVIDIA's libraries in the folder, again if it is the same one: its files may have
    /// changed.
    pub fn use_cuda_folder(&mut self, ctx: &mut Ctx, folder: Option<PathBuf>) {
        ctx.settings.cuda_folder = folder;
        // The GPU's self-test was made with the libraries that were found before.
        ctx.checks.remove(&DeviceChoice::Cuda);
        self.looking_for_cuda = true;
        ctx.probe();
        // A process looks for its libraries once. One that trains has what it needs and is left
        // alone.
        if ctx.engine.host == EngineHost::Process && !ctx.is_training() {
            ctx.request(Request::RestartEngine);
        }
    }
}

impl Ctx {
    /// Why the engine cannot move to another machine now.
    pub fn why_not_move(&self) -> Option<&'static str> {
        if self.is_training() {
            Some("Unavailable during training. Wait for the run to end, or stop it")
        } else if self.is_sweeping() {
            Some("Unavailable during a sweep. Wait for it to end, or pause it")
        } else if self.is_at_work() {
            Some("Unavailable while another task is running")
        } else {
            None
        }
    }
}

impl Machine {
    fn connect_to_host(&mut self, ctx: &mut Ctx) {
        let Some(dialog) = &mut self.machine_dialog else {
            return;
        };
        let Ok(host) = dialog.text.parse::<SshHost>() else {
            dialog.state = ReachState::Failed(Message::not_a_host(&dialog.text));
            return;
        };
        dialog.state = ReachState::Connecting(host.clone());
        let reach = Arc::clone(&ctx.deps.reach_host);
        ctx.background.run(
            move || (reach(&host).map(Box::new), host),
            |app, (reached, host)| app.machine.host_reached(&host, reached),
        );
    }

    /// Shows the result, unless another host was typed in the meantime.
    pub fn host_reached(&mut self, host: &SshHost, reached: Result<Box<OtherMachine>, Problem>) {
        let connecting = ReachState::Connecting(host.clone());
        let dialog = self.machine_dialog.as_mut();
        let Some(dialog) = dialog.filter(|dialog| dialog.state == connecting) else {
            return;
        };
        dialog.state = match reached.map(|machine| (machine.failure(), machine)) {
            Ok((None, machine)) => ReachState::Reached(machine),
            Ok((Some(failure), _)) => {
                ReachState::Failed(Message::self_test_failed_on(host.name(), &failure))
            }
            Err(problem) => ReachState::Failed(problem.message.clone()),
        };
    }
}
