//! What happens where the system has no more memory: a sentence and exit code 2 instead of an abort.
//!
//! Plans are compared with what is allowed before the work begins; this is for what no plan foresaw, such as a limit
//! that others use up at the same time.
#![expect(unsafe_code, reason = "an allocator cannot be written without it; every call is handed to the system's")]

use crate::{failure, talk};
use lopsided::base::file;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

#[global_allocator]
static MEMORY: Checked = Checked;

/// The system's allocator, whose refusal ends the program.
struct Checked;

// SAFETY: all calls go to the system's allocator with the arguments they came with; what it refuses is not returned.
unsafe impl GlobalAlloc for Checked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator needs.
        there(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { System.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}

fn there(found: *mut u8, bytes: usize) -> *mut u8 {
    if found.is_null() {
        refuse(bytes);
    }
    found
}

/// Ends the program; small pieces of memory are still to be had after a large one was refused.
#[cold]
#[expect(clippy::exit, reason = "there is no memory to go on with")]
fn refuse(bytes: usize) {
    static ENDING: AtomicBool = AtomicBool::new(false);
    if ENDING.swap(true, Ordering::Relaxed) {
        std::process::abort();
    }
    file::remove_unfinished();
    let bytes = lopsided::base::error::bytes(bytes as u64);
    talk::remark(&format!("error: the system has no {bytes} of memory left to give"));
    talk::remark("\nhint: `--dry-run` says what the work needs; fewer rows, landmarks or components need less");
    std::process::exit(failure::USAGE.into());
}
