//! Owns stand-ins for the functions of NVIDIA's libraries that candle calls: each loads its library on the first call, so that a program with
//! CUDA in it starts on machines without. Must not know what the functions do.
//!
//! candle links these libraries when it is built, and its features cannot change that; but who calls a function finds ours first, and the
//! linker then leaves the libraries out. A stand-in jumps through a slot. At first the slot leads to `first_call`, which keeps every register
//! that can hold an argument (System V ABI), has `resolve` put the real function into the slot, and jumps there. Where there is no such
//! library, or it has no such function, the slot gets a function that returns that library's own error.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::{cuda_folders, find_cuda_libraries};

/// A function that is stood in for.
struct Function {
    name: &'static CStr,
    /// Its library's place in the order in which they are loaded.
    library: usize,
    /// True where it gives a text instead of a status.
    gives_text: bool,
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
    let Some(function) = FUNCTIONS.get(number) else { return no_text as *mut c_void };
    let real = library(function.library).and_then(|library| {
        // SAFETY: the address is only passed on, as that of a function of whatever type its caller believes it has.
        unsafe { library.get::<*mut c_void>(function.name.to_bytes_with_nul()) }.ok().map(|symbol| symbol.into_raw())
    });
    let target = real.filter(|target| !target.is_null()).unwrap_or_else(|| {
        tracing::info!(function = ?function.name, "NVIDIA's library or function is missing");
        let without: *mut c_void = if function.gives_text { no_text as *mut c_void } else { STATUS[function.library] as *mut c_void };
        without
    });
    // SAFETY: the table of slots holds as many pointers as there are functions, aligned, for as long as the program runs, and nothing but
    // this writes to it.
    let slot = unsafe { &*(&raw const SLOTS).cast::<AtomicPtr<c_void>>().add(number) };
    slot.store(target, Ordering::Release);
    target
}

/// The library in this place of the order, loaded once, after those it needs.
fn library(place: usize) -> Option<&'static Library> {
    static LOADED: OnceLock<Vec<Option<Library>>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let files = find_cuda_libraries(&cuda_folders()).into_iter().map(|library| library.file);
        let load = |file: std::path::PathBuf| {
            // SAFETY: these are NVIDIA's libraries or what somebody put in their place: loading them runs their own initialisation, as it
            // would if the program were linked with them.
            let library = unsafe { Library::open(Some(&file), RTLD_NOW | RTLD_GLOBAL) };
            library.inspect_err(|error| tracing::warn!(?file, %error, "NVIDIA's library cannot be loaded")).ok()
        };
        files.map(|file| file.and_then(load)).collect()
    });
    loaded.get(place)?.as_ref()
}

/// What functions of each library return when it is not there.
const STATUS: [extern "C" fn() -> c_int; 5] = [no_driver, no_cublas, no_cublas, no_curand, no_nvrtc];

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

/// `NVRTC_ERROR_INTERNAL_ERROR`.
extern "C" fn no_nvrtc() -> c_int {
    11
}

extern "C" fn no_text() -> *const c_char {
    c"NVIDIA's library is not installed".as_ptr()
}
