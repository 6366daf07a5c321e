// SPDX-License-Identifier: GPL-2.0-only
//! Why the scheduler ended, as the kernel tells it.

use std::ffi::CStr;
use std::sync::PoisonError;

use scx_utils::{SCX_ECODE_ACT_RESTART, UEI_DUMP_PTR_MUTEX};
use serde::Serialize;

use crate::skeleton::types;

/// Kinds from this one on are errors (`SCX_EXIT_ERROR` of the kernel's `enum scx_exit_kind`).
const KIND_ERROR: i32 = 1024;
/// The watchdog found a runnable task that was not run in time (`SCX_EXIT_ERROR_STALL`).
const KIND_STALL: i32 = 1026;

/// The end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exit {
    /// The kernel's `enum scx_exit_kind`; 0 if the kernel has not said yet.
    pub kind: i32,
    /// The kernel's exit code: what it asks for.
    pub code: i64,
    /// The kernel's reason, such as `unregistered from user space`.
    pub reason: String,
    /// Details, such as the task that was not run.
    pub message: String,
    /// The exit dump, with the state of each CPU and runnable task. It holds task names.
    #[serde(skip)]
    pub dump: Option<String>,
}

impl Exit {
    /// Reads what the exit operation recorded.
    pub(crate) fn read(info: &types::user_exit_info) -> Self {
        Self {
            kind: info.kind,
            code: info.exit_code,
            reason: text(&info.reason),
            message: text(&info.msg),
            dump: dump(),
        }
    }

    /// Whether the kernel threw the scheduler out.
    pub fn is_error(&self) -> bool {
        self.kind >= KIND_ERROR
    }

    /// Whether a runnable task was not run for longer than the watchdog allows.
    pub fn is_stall(&self) -> bool {
        self.kind == KIND_STALL
    }

    /// Whether the kernel asks for a restart, as it does when the set of CPUs changed under us.
    pub fn wants_restart(&self) -> bool {
        *SCX_ECODE_ACT_RESTART != 0 && self.code as u64 & *SCX_ECODE_ACT_RESTART != 0
    }
}

/// The text in a zero-terminated buffer of the BPF side, whose characters are signed on every
/// architecture.
fn text(buffer: &[i8]) -> String {
    let bytes: Vec<u8> = buffer
        .iter()
        .take_while(|&&c| c != 0)
        .map(|&c| c.cast_unsigned())
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The exit dump, in the buffer that the load set up for it.
fn dump() -> Option<String> {
    let pointer = UEI_DUMP_PTR_MUTEX
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .ptr;
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the load pointed it at the dump map's memory, which stays mapped while the
    // skeleton lives, and the BPF side always terminates the text.
    let text = unsafe { CStr::from_ptr(pointer) }.to_string_lossy();
    (!text.is_empty()).then(|| text.into_owned())
}
