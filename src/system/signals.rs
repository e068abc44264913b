//! What this process is asked for from outside: Ctrl-C, and requests to end (SIGTERM and SIGHUP; on
//! Windows a console that closes, or a session that ends).

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Interrupt,
    /// To end. `status` is the exit status for it, 128 and the signal's number, as shells have it.
    Terminate {
        status: u8,
    },
}

/// From now on the limits of this process are failures like others, with exit status 1 and a
/// sentence. A write beyond a limit on the size of files (`ulimit -f`) is an error. If memory
/// runs out, or the stack, Rust and libraries abort the process: what they say is followed by what
/// can be done.
pub fn turn_limits_into_failures() {
    #[cfg(unix)]
    // SAFETY: the handler only writes to a descriptor and ends the process, which signal handlers
    // may do.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        libc::signal(
            libc::SIGABRT,
            unix::aborted as *const () as libc::sighandler_t,
        );
    }
}

#[cfg(unix)]
pub use unix::listen;
#[cfg(windows)]
pub use windows::listen;

#[cfg(unix)]
mod unix {
    use std::io;
    use std::sync::mpsc::sync_channel;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    use super::Signal;
    use crate::system::threads;

    /// From now on calls `take` with each signal, from a separate thread, instead of what the
    /// system does by default.
    pub fn listen(take: impl Fn(Signal) + Send + Sync + 'static) -> io::Result<()> {
        let (report, registered) = sync_channel(1);
        // Registered on the thread: without one, signals have to do what they usually do.
        threads::spawn("inkling-signals", move || {
            let wanted = [SIGINT, SIGTERM, SIGHUP]
                .into_iter()
                .filter(|signal| !is_ignored(*signal));
            let mut signals = match Signals::new(wanted) {
                Ok(signals) => signals,
                Err(error) => return drop(report.send(Err(error))),
            };
            // Whoever started this thread waits for it.
            let _ = report.send(Ok(()));
            for signal in signals.forever() {
                take(if signal == SIGINT {
                    Signal::Interrupt
                } else {
                    Signal::Terminate {
                        status: 128 + signal as u8,
                    }
                });
            }
        })?;
        registered.recv().map_err(io::Error::other)?
    }

    /// Ends the process instead of a core dump.
    pub extern "C" fn aborted(_signal: libc::c_int) {
        const WORDS: &[u8] = b"Inkling had to end. If it ran out of memory, close other programs, raise its limit (see `ulimit -a`), or choose a smaller network or batch size.\n";
        // SAFETY: the bytes are a constant, and both functions may be called in a signal handler.
        unsafe {
            libc::write(libc::STDERR_FILENO, WORDS.as_ptr().cast(), WORDS.len());
            libc::_exit(1);
        }
    }

    /// True for a hangup that whoever started this process told it to ignore, as `nohup` does.
    fn is_ignored(signal: i32) -> bool {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: without a new action only the present one is written, to memory that has room for
        // it; it is read only if it was.
        signal == SIGHUP
            && unsafe {
                libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
                    && action.assume_init().sa_sigaction == libc::SIG_IGN
            }
    }
}

#[cfg(windows)]
mod windows {
    use std::io;
    use std::sync::OnceLock;
    use std::time::Duration;

    use windows_sys::Win32::System::Console::{
        CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler,
    };
    use windows_sys::core::BOOL;

    use super::Signal;

    static TAKE: OnceLock<Box<dyn Fn(Signal) + Send + Sync>> = OnceLock::new();

    /// From now on calls `take` with each request, from another thread, instead of ending the
    /// process.
    pub fn listen(take: impl Fn(Signal) + Send + Sync + 'static) -> io::Result<()> {
        if TAKE.set(Box::new(take)).is_err() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // SAFETY: the handler lives as long as the process.
        if unsafe { SetConsoleCtrlHandler(Some(handle), 1) } == 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    unsafe extern "system" fn handle(event: u32) -> BOOL {
        let Some(take) = TAKE.get() else { return 0 };
        if [CTRL_C_EVENT, CTRL_BREAK_EVENT].contains(&event) {
            take(Signal::Interrupt);
            return 1;
        }
        // As for SIGTERM elsewhere.
        take(Signal::Terminate { status: 143 });
        loop {
            // The process is ended when this returns; otherwise it has some five seconds to end by
            // itself.
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}
