//! A panic in the engine's work costs a message, not the engine.

use inkling::engine::{EngineHandle, supervise};
use inkling::problem::Problem;
use inkling::protocol::{Command, Event, Task};
use inkling::records::RunId;

#[test]
fn a_panic_becomes_a_message_and_a_fresh_start() {
    let (handle, side) = EngineHandle::pair(|| {});
    supervise(side, |context| {
        *context.current = None;
        while let Ok(command) = context.commands.recv() {
            match command {
                Command::Pause(run) => {
                    *context.current = Some(Task::Run(run));
                    panic!("tensor shapes {run:?} disagree");
                }
                Command::Resume(run) => context.events.send(Event::Resumed(run)),
                _ => return,
            }
        }
    });
    for round in 1..=3 {
        handle.send(Command::Pause(RunId(round)));
        let Some(Event::Failed { what, problem: Problem::Panicked { message } }) = handle.recv() else { panic!("no failure reported") };
        assert_eq!(what, Task::Run(RunId(round)));
        assert!(message.contains("disagree"), "{message}");
        assert_eq!(handle.recv(), Some(Event::Restarted));
        // The command that follows the panic is not lost with the work that died.
        handle.send(Command::Resume(RunId(round)));
        assert_eq!(handle.recv(), Some(Event::Resumed(RunId(round))));
    }
    handle.send(Command::Shutdown);
    assert_eq!(handle.recv(), None, "the line closes when the work returns");
}
