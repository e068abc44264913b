//! Owns stand-ins for the functions of NVIDIA's libraries that candle calls: each loads its library on the first call, so that a program with
//! CUDA in it starts on machines without. Must not know what the functions do.
//!
//! candle links these libraries when it is built, and its features cannot change that; but who calls a function finds ours first, and the
//! linker then leaves the libraries out. A stand-in jumps through a slot. At first the slot leads to `first_call`, which keeps every register
//! that can hold an argument (System V ABI), has `resolve` put the real function into the slot, and jumps there. Where there is no such
//! library, or it has no such function, the slot gets a function that returns that library's own error.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW, Symbol};

use super::{cuda_folders, find_cuda_libraries};

/// A function that is stood in for.
struct Function {
    name: &'static CStr,
    library: Owner,
}

/// Whose a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Driver,
    Cublas,
    Curand,
}

// `FUNCTIONS`, `SLOTS` and the stand-ins themselves, from `build/cuda_functions.txt`.
include!(concat!(env!("OUT_DIR"), "/cuda_stand_ins.rs"));

core::arch::global_asm!(
    ".pushsection .text.inkling_first_call,\"ax\",@progbits",
    ".p2align 4",
    "inkling_first_call:",
    // On the stack: the function's number, then the caller's return address. Both together keep it aligned to 16.
    "push rdi",
    "push rsi",
    "push rdx",
    "push rcx",
    "push r8",
    "push r9",
    "push rax",
    "sub rsp, 136",
    "movups [rsp], xmm0",
    "movups [rsp + 16], xmm1",
    "movups [rsp + 32], xmm2",
    "movups [rsp + 48], xmm3",
    "movups [rsp + 64], xmm4",
    "movups [rsp + 80], xmm5",
    "movups [rsp + 96], xmm6",
    "movups [rsp + 112], xmm7",
    "mov rdi, [rsp + 192]",
    "call {resolve}",
    "mov r11, rax",
    "movups xmm0, [rsp]",
    "movups xmm1, [rsp + 16]",
    "movups xmm2, [rsp + 32]",
    "movups xmm3, [rsp + 48]",
    "movups xmm4, [rsp + 64]",
    "movups xmm5, [rsp + 80]",
    "movups xmm6, [rsp + 96]",
    "movups xmm7, [rsp + 112]",
    "add rsp, 136",
    "pop rax",
    "pop r9",
    "pop r8",
    "pop rcx",
    "pop rdx",
    "pop rsi",
    "pop rdi",
    "add rsp, 8",
    "jmp r11",
    ".popsection",
    resolve = sym resolve,
);

/// Puts the real function, or one that returns an error, into slot `number`, and gives it.
extern "C" fn resolve(number: usize) -> *mut c_void {
    // Only the stand-ins call this, each with its own number.
    let Some(Function { name, library }) = FUNCTIONS.get(number) else { return no_driver as *mut c_void };
    let real = loaded(*library).and_then(|library| {
        // SAFETY: the address is only passed on, as that of a function of whatever type its caller believes it has.
        unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) }.ok().map(Symbol::into_raw)
    });
    let target = real.filter(|target| !target.is_null()).unwrap_or_else(|| {
        tracing::warn!(?name, ?library, "NVIDIA's library or function is missing");
        library.absent() as *mut c_void
    });
    // SAFETY: the table of slots holds as many pointers as there are functions, aligned, for as long as the program runs, and nothing but
    // this writes to it.
    let slot = unsafe { &*(&raw const SLOTS).cast::<AtomicPtr<c_void>>().add(number) };
    slot.store(target, Ordering::Release);
    target
}

/// The library, loaded once, after those it needs.
fn loaded(owner: Owner) -> Option<&'static Library> {
    static LOADED: OnceLock<Vec<(&'static str, Library)>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let load = |found: super::Library| {
            let file = found.file?;
            // SAFETY: these are NVIDIA's libraries or what somebody put in their place: loading them runs their own initialisation, as it
            // would if the program were linked with them.
            let library = unsafe { Library::open(Some(&file), RTLD_NOW | RTLD_GLOBAL) };
            let library = library.inspect_err(|error| tracing::warn!(?file, %error, "NVIDIA's library cannot be loaded"));
            Some((found.name, library.ok()?))
        };
        find_cuda_libraries(&cuda_folders()).into_iter().filter_map(load).collect()
    });
    loaded.iter().find(|(name, _)| name.starts_with(owner.file())).map(|(_, library)| library)
}

impl Owner {
    /// How the names of its files begin.
    const fn file(self) -> &'static str {
        match self {
            Self::Driver => "libcuda.",
            Self::Cublas => "libcublas.",
            Self::Curand => "libcurand.",
        }
    }

    /// What its functions are when it is not there.
    const fn absent(self) -> extern "C" fn() -> c_int {
        match self {
            Self::Driver => no_driver,
            Self::Cublas => no_cublas,
            Self::Curand => no_curand,
        }
    }
}

/// `CUDA_ERROR_SHARED_OBJECT_INIT_FAILED`.
extern "C" fn no_driver() -> c_int {
    303
}

/// `CUBLAS_STATUS_NOT_INITIALIZED`.
extern "C" fn no_cublas() -> c_int {
    1
}

/// `CURAND_STATUS_NOT_INITIALIZED`.
extern "C" fn no_curand() -> c_int {
    101
}
