//! Stand-ins for the functions of NVIDIA's libraries that candle calls: each loads its library on
//! the first call, so that a program built with CUDA starts on machines without these libraries.
//!
//! candle is linked to the libraries at build time, and its features cannot change that; but the
//! linker finds our definitions first and then drops the libraries. A stand-in jumps through a
//! slot, which at first points to `first_call`: that saves every register that can hold an
//! argument, has `resolve` put the real function into the slot, and jumps there. If the library
//! or the function is missing, the slot gets a function that returns an error code of the library.
//!
//! candle's kernels for the quantized weights of language models, which nothing here uses, are left
//! out in the same way.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

#[cfg(unix)]
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
#[cfg(windows)]
use libloading::os::windows::{LOAD_WITH_ALTERED_SEARCH_PATH, Library};

use crate::device::{Library as CudaLibrary, cuda_folders, find_cuda_libraries};

struct Function {
    name: &'static CStr,
    library: Owner,
}

/// The library that a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Driver,
    Cublas,
    CublasLt,
    Curand,
    Nvrtc,
}

// `FUNCTIONS`, `SLOTS` and the stand-ins themselves, from `build/stand_ins.rs`.
include!(concat!(env!("OUT_DIR"), "/cuda_stand_ins.rs"));

#[cfg(unix)]
core::arch::global_asm!(include_str!("first_call_unix.s"), resolve = sym resolve);
#[cfg(windows)]
core::arch::global_asm!(include_str!("first_call_windows.s"), resolve = sym resolve);

core::arch::global_asm!("inkling_left_out:", "sub rsp, 40", "call {left_out}", left_out = sym left_out);

/// Puts the real function, or one that returns an error, into slot `number`, and returns it.
extern "C" fn resolve(number: usize) -> *mut c_void {
    // Only the stand-ins call this, each with its own number.
    let Some(Function { name, library }) = FUNCTIONS.get(number) else {
        return no_driver as *mut c_void;
    };
    let real = loaded(*library).and_then(|library| {
        // SAFETY: the address is only passed on; the caller declares the type of the function.
        unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) }
            .ok()
            .map(|symbol| *symbol)
    });
    let target = real.filter(|target| !target.is_null()).unwrap_or_else(|| {
        tracing::warn!(?name, ?library, "NVIDIA's library or function is missing");
        library.absent() as *mut c_void
    });
    // SAFETY: the static table has an aligned pointer for each function, and only this writes to
    // it.
    let slot = unsafe { &*(&raw const SLOTS).cast::<AtomicPtr<c_void>>().add(number) };
    slot.store(target, Ordering::Release);
    target
}

/// The library, loaded once, after those it needs.
fn loaded(owner: Owner) -> Option<&'static Library> {
    static LOADED: OnceLock<Vec<(&'static str, Library)>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let load = |found: CudaLibrary| {
            let file = found.file?;
            // SAFETY: loading NVIDIA's libraries runs their initialization, as it would if the
            // program were linked to them.
            #[cfg(unix)]
            let library = unsafe { Library::open(Some(&file), RTLD_NOW | RTLD_GLOBAL) };
            // SAFETY: as above. Its dependencies are looked for in its folder.
            #[cfg(windows)]
            let library = unsafe { Library::load_with_flags(&file, LOAD_WITH_ALTERED_SEARCH_PATH) };
            let library = library.inspect_err(
                |error| tracing::warn!(?file, %error, "NVIDIA's library cannot be loaded"),
            );
            Some((found.name, library.ok()?))
        };
        find_cuda_libraries(&cuda_folders())
            .into_iter()
            .filter_map(load)
            .collect()
    });
    loaded
        .iter()
        .find(|(name, _)| name.starts_with(owner.file()))
        .map(|(_, library)| library)
}

impl Owner {
    const fn file(self) -> &'static str {
        match self {
            Self::Driver if cfg!(windows) => "nvcuda.",
            Self::Driver => "libcuda.",
            Self::Cublas if cfg!(windows) => "cublas64_",
            Self::Cublas => "libcublas.",
            Self::CublasLt if cfg!(windows) => "cublasLt64_",
            Self::CublasLt => "libcublasLt.",
            Self::Curand if cfg!(windows) => "curand64_",
            Self::Curand => "libcurand.",
            // Never loaded: kernels are compiled at build time.
            Self::Nvrtc => "nvrtc",
        }
    }

    /// Replaces its functions when it is missing.
    const fn absent(self) -> extern "C" fn() -> c_int {
        match self {
            Self::Driver => no_driver,
            Self::Cublas | Self::CublasLt => no_cublas,
            Self::Curand => no_curand,
            Self::Nvrtc => no_nvrtc,
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

/// `NVRTC_ERROR_INTERNAL_ERROR`.
extern "C" fn no_nvrtc() -> c_int {
    11
}

/// `CURAND_STATUS_NOT_INITIALIZED`.
extern "C" fn no_curand() -> c_int {
    101
}

/// Replaces the kernels that were left out.
extern "C" fn left_out() -> ! {
    tracing::error!("a kernel that was left out was called");
    std::process::abort()
}
