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
    /// Whether the code asks for a restart, as it does when the set of CPUs changed under us.
    pub restart: bool,
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
            restart: asks_restart(info.exit_code, *SCX_ECODE_ACT_RESTART),
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
}

/// Whether `code` has the kernel's bit `SCX_ECODE_ACT_RESTART`; the bit is 0 in kernels without it.
fn asks_restart(code: i64, bit: u64) -> bool {
    code.cast_unsigned() & bit != 0
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `SCX_ECODE_ACT_RESTART` and `SCX_ECODE_RSN_HOTPLUG` of the kernel's `enum scx_exit_code`.
    const RESTART: u64 = 1 << 48;
    const HOTPLUG: i64 = 1 << 32;

    #[test]
    fn a_hotplug_that_asks_for_a_restart_gets_one() {
        assert!(asks_restart(RESTART.cast_signed() | HOTPLUG, RESTART));
    }

    #[test]
    fn no_other_exit_code_and_no_kernel_without_the_bit_gets_a_restart() {
        for code in [0, HOTPLUG, 1, RESTART.cast_signed() >> 1] {
            assert!(!asks_restart(code, RESTART), "{code:#x}");
        }
        assert!(!asks_restart(-1, 0));
    }
}
