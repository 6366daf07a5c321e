// SPDX-License-Identifier: GPL-2.0-only
//! What the running scheduler has learned of one thread, read from outside the daemon.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::Serialize;

use crate::error::{Error, one_line};
use crate::skeleton::types;

/// The task storage map's name.
const MAP: &str = "ek_tasks";
/// `PIDFD_THREAD` of Linux 6.9: the descriptor names a thread.
const PIDFD_THREAD: u32 = libc::O_EXCL as u32;

/// A thread's record. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskModel {
    /// Estimate of the burst under way, or of the last one that had to wait.
    pub estimate_ns: u64,
    /// 90th percentile that went with it.
    pub q90_ns: u64,
    /// Whether the estimate may order and size.
    pub confident: bool,
    /// The expert that made it.
    pub expert: &'static str,
    /// Bursts learned, up to 255.
    pub bursts: u8,
    /// The last closed burst.
    pub last_burst_ns: u64,
    /// Service since the last wakeup.
    pub burst_ns: u64,
    /// Rank of the burst under way; 0 if it has not had to wait.
    pub rank_ns: u64,
    /// Weight as counted among the runnable; 0 while it sleeps.
    pub weight: u32,
    /// Weighted service on its queue's clock.
    pub v_ns: u64,
    /// Slice assigned last.
    pub slice_ns: u64,
}

/// Reads the record of thread `tid`; `None` if the scheduler is not running or does not know it.
///
/// # Errors
/// [`Error::Read`] if the thread does not exist or the map cannot be read.
pub fn read(tid: u32) -> Result<Option<TaskModel>, Error> {
    let Some(map) = find_map()? else {
        return Ok(None);
    };
    let pidfd = open_thread(tid).map_err(|error| Error::Read {
        what: "the thread",
        error,
    })?;
    let key = pidfd.as_raw_fd().to_ne_bytes();
    let value = map.lookup(&key, MapFlags::ANY).map_err(read_error)?;
    Ok(value
        .filter(|bytes| bytes.len() >= size_of::<types::task_ctx>())
        .map(|bytes| {
            // SAFETY: the bytes are as long as the record, which is plain integers.
            let record = unsafe { bytes.as_ptr().cast::<types::task_ctx>().read_unaligned() };
            TaskModel::from(&record)
        }))
}

impl From<&types::task_ctx> for TaskModel {
    fn from(record: &types::task_ctx) -> Self {
        Self {
            estimate_ns: record.estimate_ns,
            q90_ns: record.q90_ns,
            confident: record.confident != 0,
            expert: ["ewma", "last", "history", "lms"][usize::from(record.expert & 3)],
            bursts: record.model.count,
            last_burst_ns: record.last_burst_ns,
            burst_ns: record.burst_ns,
            rank_ns: record.rank,
            weight: record.weight,
            v_ns: record.v,
            slice_ns: record.slice_ns,
        }
    }
}

fn find_map() -> Result<Option<MapHandle>, Error> {
    let id = MapInfoIter::default()
        .filter(|info| info.name.to_str() == Some(MAP))
        .map(|info| info.id)
        .last();
    id.map(MapHandle::from_map_id)
        .transpose()
        .map_err(read_error)
}

fn read_error(error: libbpf_rs::Error) -> Error {
    Error::Read {
        what: "the task's record",
        error: io::Error::other(one_line(error)),
    }
}

fn open_thread(tid: u32) -> io::Result<OwnedFd> {
    // SAFETY: a system call without pointers; the descriptor it returns is ours alone.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, tid, PIDFD_THREAD);
        let fd = i32::try_from(fd).map_err(io::Error::other)?;
        if fd < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(OwnedFd::from_raw_fd(fd))
        }
    }
}
