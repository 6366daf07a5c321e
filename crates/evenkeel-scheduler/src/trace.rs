// SPDX-License-Identifier: GPL-2.0-only
//! The decision trace: one record for each stretch that a task spends on a CPU.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use libbpf_rs::{MapCore, RingBuffer, RingBufferBuilder};
use serde::Serialize;

use crate::error::Error;

/// A stretch on a CPU (`struct ek_trace_record`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceRecord {
    /// Number of the stretch on its CPU.
    pub seq: u64,
    /// Thread that ran.
    pub tid: u32,
    /// CPU that it ran on.
    pub cpu: i32,
    /// Slice assigned, in nanoseconds.
    pub slice_ns: u64,
    /// Service until it stopped, in nanoseconds.
    pub ran_ns: u64,
    /// Key relative to the queue's clock when the task was last queued; 0 if it never waited.
    pub key: u64,
    /// Someone waited when the slice began.
    pub company: bool,
    /// It stopped against its will.
    pub runnable: bool,
    /// The thread's name.
    pub comm: String,
}

/// Bytes of a record in the ring buffer.
const RECORD_BYTES: usize = 64;

impl TraceRecord {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; RECORD_BYTES] = bytes.get(..RECORD_BYTES)?.try_into().ok()?;
        let long = |at: usize| bytes[at..at + 8].try_into().map(u64::from_ne_bytes).ok();
        let word = |at: usize| bytes[at..at + 4].try_into().map(u32::from_ne_bytes).ok();
        let comm = &bytes[48..64];
        let end = comm.iter().position(|&b| b == 0).unwrap_or(comm.len());
        Some(Self {
            seq: long(0)?,
            tid: word(8)?,
            cpu: word(12)?.cast_signed(),
            slice_ns: long(16)?,
            ran_ns: long(24)?,
            key: long(32)?,
            company: word(40)? != 0,
            runnable: word(44)? != 0,
            comm: String::from_utf8_lossy(&comm[..end]).into_owned(),
        })
    }
}

/// Reader of the decision trace.
pub struct Trace<'a> {
    ring: RingBuffer<'a>,
    records: Rc<RefCell<Vec<TraceRecord>>>,
}

impl<'a> Trace<'a> {
    pub(crate) fn open(map: &'a dyn MapCore) -> Result<Self, Error> {
        let fail = |e: libbpf_rs::Error| Error::Read {
            what: "the decision trace",
            error: std::io::Error::other(e.to_string()),
        };
        let records = Rc::new(RefCell::new(Vec::new()));
        let sink = Rc::clone(&records);
        let mut builder = RingBufferBuilder::new();
        builder
            .add(map, move |bytes| {
                sink.borrow_mut().extend(TraceRecord::parse(bytes));
                0
            })
            .map_err(fail)?;
        Ok(Self {
            ring: builder.build().map_err(fail)?,
            records,
        })
    }

    /// Takes what has been recorded, waiting up to `wait` for a first record.
    ///
    /// # Errors
    /// [`Error::Read`] if the ring buffer fails.
    pub fn take(&self, wait: Duration) -> Result<Vec<TraceRecord>, Error> {
        self.ring.poll(wait).map_err(|e| Error::Read {
            what: "the decision trace",
            error: std::io::Error::other(e.to_string()),
        })?;
        Ok(self.records.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back_as_it_was_written() {
        let mut bytes = [0u8; RECORD_BYTES];
        bytes[0..8].copy_from_slice(&7u64.to_ne_bytes());
        bytes[8..12].copy_from_slice(&1234u32.to_ne_bytes());
        bytes[12..16].copy_from_slice(&(-1i32).to_ne_bytes());
        bytes[16..24].copy_from_slice(&2_000_000u64.to_ne_bytes());
        bytes[40..44].copy_from_slice(&1u32.to_ne_bytes());
        bytes[48..52].copy_from_slice(b"hog\0");
        let record = TraceRecord::parse(&bytes).unwrap();
        assert_eq!((record.seq, record.tid, record.cpu), (7, 1234, -1));
        assert_eq!(
            (record.slice_ns, record.company, record.runnable),
            (2_000_000, true, false)
        );
        assert_eq!(record.comm, "hog");
    }

    #[test]
    fn a_short_record_is_no_record() {
        assert!(TraceRecord::parse(&[0; RECORD_BYTES - 1]).is_none());
    }
}
