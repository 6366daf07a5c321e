// SPDX-License-Identifier: GPL-2.0-only
//! A BPF program that does nothing, run over and over by the kernel's test runner.
//!
//! The runner disables migration around each batch of runs, so a thread in it is often preempted
//! and queued while it must not move: the only such state that user space can hold a thread in.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `BPF_PROG_LOAD` and `BPF_PROG_TEST_RUN` of `include/uapi/linux/bpf.h`.
const PROG_LOAD: libc::c_long = 5;
const PROG_TEST_RUN: libc::c_long = 10;
/// `BPF_PROG_TYPE_SOCKET_FILTER`.
const SOCKET_FILTER: u32 = 1;

/// `r0 = 0; exit`, two instructions of eight bytes.
static RETURN_0: [u64; 2] = [0xb7, 0x95];
/// A packet of the least length that the runner takes.
static PACKET: [u8; 14] = [0; 14];

#[repr(C)]
#[derive(Default)]
struct Load {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    rest: [u64; 4],
}

#[repr(C)]
#[derive(Default)]
struct TestRun {
    prog_fd: u32,
    retval: u32,
    data_size_in: u32,
    data_size_out: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    rest: [u64; 4],
}

/// The loaded program.
pub struct Idle(OwnedFd);

impl Idle {
    /// Loads the program.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub fn load() -> io::Result<Self> {
        let mut attr = Load {
            prog_type: SOCKET_FILTER,
            insn_cnt: 2,
            insns: RETURN_0.as_ptr() as u64,
            license: c"GPL".as_ptr() as u64,
            ..Load::default()
        };
        let fd = bpf(PROG_LOAD, &mut attr)?;
        // SAFETY: the kernel has just given us this descriptor, and nobody else knows it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Has the kernel run the program `repeat` times on the calling thread.
    ///
    /// # Errors
    /// When the kernel refuses, or a signal interrupts it.
    pub fn run(&self, repeat: u32) -> io::Result<()> {
        let mut attr = TestRun {
            prog_fd: self.0.as_raw_fd().unsigned_abs(),
            data_size_in: PACKET.len() as u32,
            data_in: PACKET.as_ptr() as u64,
            repeat,
            ..TestRun::default()
        };
        bpf(PROG_TEST_RUN, &mut attr).map(|_| ())
    }
}

fn bpf<T>(command: libc::c_long, attr: &mut T) -> io::Result<i32> {
    // SAFETY: `attr` is valid for its whole size and is laid out as the head of `union bpf_attr`;
    // the addresses in it are of statics.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, attr, size_of::<T>()) };
    i32::try_from(result)
        .ok()
        .filter(|fd| *fd >= 0)
        .ok_or_else(io::Error::last_os_error)
}
