//! A panic in the engine's work costs a message, not the engine.

use inkling::engine::{Activity, EngineHandle, supervise};
use inkling::problem::Code;
use inkling::protocol::{Command, Event};
use inkling::records::JobId;

use crate::jobs::failure;

#[test]
fn a_panic_becomes_a_message_and_a_fresh_start() {
    let (handle, side) = EngineHandle::pair(|_| {});
    supervise(side, |context| {
        *context.activity = None;
        while let Ok(command) = context.commands.recv() {
            match command {
                Command::Pause(run) => {
                    *context.activity = Some(Activity::Job(run));
                    panic!("tensor shapes {run:?} disagree");
                }
                Command::Resume(run) => context.events.send(Event::Resumed(run)),
                _ => return,
            }
        }
    })
    .unwrap();
    for round in 1..=3 {
        handle.send(Command::Pause(JobId(round)));
        let failed = handle.recv().and_then(|event| failure(event, round));
        let Some(problem) = failed else {
            panic!("no failure reported")
        };
        assert_eq!(problem.code, Code::Panicked);
        assert!(problem.message.what.contains("disagree"), "{problem}");
        assert_eq!(handle.recv(), Some(Event::Restarted));
        // The command that follows the panic is not lost with the work that died.
        handle.send(Command::Resume(JobId(round)));
        assert_eq!(handle.recv(), Some(Event::Resumed(JobId(round))));
    }
    handle.send(Command::Shutdown);
    assert_eq!(handle.recv(), None, "the line closes when the work returns");
}
