//! Owns the memory meter: the allocator of this program counts, for threads that ask, the bytes
//! they hold and the most they ever held. What counts is what is asked for, used or not, and memory
//! that grows counts twice for a moment: the worst case on any system.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static METER: Cell<Option<&'static Meter>> = const { Cell::new(None) };
}

/// What some threads hold, in bytes, since they were asked to count.
#[derive(Default)]
struct Meter {
    now: AtomicIsize,
    peak: AtomicIsize,
}

impl Meter {
    fn add(&self, bytes: isize) {
        let now = self.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }

    fn new() -> &'static Self {
        Box::leak(Box::default())
    }
}

fn count(bytes: isize) {
    // A thread that is ending has no meter any more.
    if let Ok(Some(meter)) = METER.try_with(Cell::get) {
        meter.add(bytes);
    }
}

// SAFETY: every call is handed on to the system's allocator as it is; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize);
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `work` on this thread: what it gives, and the most bytes that it held at any moment.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let meter = Meter::new();
    METER.set(Some(meter));
    let given = work();
    METER.set(None);
    (given, meter.peak.load(Ordering::Relaxed).unsigned_abs())
}

/// The same on as many threads, which share what `work` does in parallel.
pub fn peak_on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> (T, usize) {
    let meter = Meter::new();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(|_| METER.set(Some(meter)))
        .build()
        .unwrap();
    let given = pool.install(work);
    (given, meter.peak.load(Ordering::Relaxed).unsigned_abs())
}

#[test]
fn memory_is_counted_at_its_peak_and_by_thread() {
    let (kept, peak) = peak_of(|| {
        drop(vec![1_u8; 3 << 20]);
        std::thread::spawn(|| drop(vec![1_u8; 9 << 20]))
            .join()
            .unwrap();
        vec![1_u8; 1 << 20]
    });
    assert_eq!(kept.len(), 1 << 20);
    assert!((3 << 20..4 << 20).contains(&peak), "{peak}");
}
