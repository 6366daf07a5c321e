// SPDX-License-Identifier: GPL-2.0-only
//! Open, load, attach: one type for each phase, so that a wrong order does not compile.
//!
//! The struct_ops link lives in [`Running`] and is never pinned: when the process ends, by
//! whatever cause, the kernel drops the link and returns every task to its own scheduler.

use std::fs;
use std::mem::MaybeUninit;
use std::time::Duration;

use libbpf_rs::skel::Skel;
use libbpf_rs::{Link, OpenObject, Program, ProgramInput};
use scx_utils::{compat, scx_ops_attach, scx_ops_load, scx_ops_open};

use crate::error::{Error, one_line};
use crate::exit::Exit;
use crate::load_log::LoadLog;
use crate::machine::Machine;
use crate::options::{Forced, Learn, Mode, Options};
use crate::probe::btf;
use crate::skeleton::{BpfSkel, BpfSkelBuilder, OpenBpfSkel, types};
use crate::statistics::Statistics;
use crate::trace::Trace;

/// Where the kernel names the active scheduler.
const ACTIVE_OPS: &str = "/sys/kernel/sched_ext/root/ops";

/// The BPF object with its options set, not yet seen by the kernel.
pub struct Opened<'a> {
    skel: OpenBpfSkel<'a>,
    mode: Mode,
    cpu_ids: usize,
}

/// Programs that the verifier accepted. Nothing is scheduled by them yet.
pub struct Loaded<'a> {
    skel: BpfSkel<'a>,
    mode: Mode,
    cpu_ids: usize,
}

/// The kernel is scheduled by us for as long as this lives.
pub struct Running<'a> {
    skel: BpfSkel<'a>,
    link: Option<Link>,
    mode: Mode,
    cpu_ids: usize,
}

/// A program that passed the verifier.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct VerifiedProgram {
    /// The program's name.
    pub name: String,
    /// Instructions that the verifier walked, over all paths.
    pub verified_instructions: u32,
    /// Instructions of the program as loaded.
    pub instructions: usize,
}

impl<'a> Opened<'a> {
    /// Opens the BPF object in `storage` and sets `options`.
    ///
    /// # Errors
    /// [`Error::Topology`] or [`Error::TooLarge`] if the machine cannot be mapped,
    /// [`Error::Open`] if libbpf refuses the object.
    pub fn open(
        options: &Options,
        storage: &'a mut MaybeUninit<OpenObject>,
    ) -> Result<Self, Error> {
        expect_room_for_types()?;
        let machine = Machine::read()?;
        let log = LoadLog::capture();
        let mut skel = open_skeleton(storage).map_err(|e| {
            Error::Open(
                log.last_warning()
                    .unwrap_or_else(|| one_line(format!("{e:#}"))),
            )
        })?;
        set_options(&mut skel, options, &machine)?;
        Ok(Self {
            skel,
            mode: options.mode,
            cpu_ids: machine.cpu_ids,
        })
    }

    /// Has a deliberately bad program loaded too, so that a rejection can be tested.
    #[doc(hidden)]
    pub fn with_rejected_program(mut self) -> Self {
        self.skel.progs.rejected.set_autoload(true);
        self
    }

    /// Registers under another name, at most as long as ours, so that a test has a stranger.
    #[doc(hidden)]
    pub fn named(mut self, name: &str) -> Self {
        let ops = self.skel.struct_ops.evenkeel_ops_mut();
        for (to, from) in ops.name.iter_mut().zip(name.bytes()) {
            *to = from.cast_signed();
        }
        self
    }

    /// Has the program loaded that [`Loaded::run_vector`] runs.
    #[doc(hidden)]
    pub fn with_vectors(mut self) -> Self {
        self.skel.progs.run_vector.set_autoload(true);
        self
    }

    /// Takes the programs through the verifier.
    ///
    /// # Errors
    /// [`Error::Verifier`] names the rejected program; [`Error::Load`] is any other failure.
    pub fn load(self) -> Result<Loaded<'a>, Error> {
        let log = LoadLog::capture();
        let skel = load_skeleton(self.skel).map_err(|e| match log.rejection() {
            Some((program, log_tail)) => Error::Verifier { program, log_tail },
            None => Error::Load(
                log.last_warning()
                    .unwrap_or_else(|| one_line(format!("{e:#}"))),
            ),
        })?;
        Ok(Loaded {
            skel,
            mode: self.mode,
            cpu_ids: self.cpu_ids,
        })
    }
}

impl<'a> Loaded<'a> {
    /// What the verifier accepted, in the object's order.
    pub fn programs(&self) -> Vec<VerifiedProgram> {
        let mut programs: Vec<_> = self
            .skel
            .object()
            .progs()
            .filter(|program| program.autoload())
            .map(|program| VerifiedProgram {
                name: program.name().to_string_lossy().into_owned(),
                verified_instructions: verified_instructions(&program),
                instructions: program.insn_cnt(),
            })
            .collect();
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        programs
    }

    /// Runs one vector of the policy inside the kernel: `vector` holds a C `struct ek_vector`,
    /// and its results on return. Attaches nothing.
    ///
    /// # Errors
    /// [`Error::Load`] if the size is not the structure's or the kernel cannot run the program.
    pub fn run_vector(&mut self, vector: &mut [u8]) -> Result<(), Error> {
        let size = size_of::<types::ek_vector>();
        let bss = self
            .skel
            .maps
            .bss_data
            .as_deref_mut()
            .filter(|_| vector.len() == size);
        let Some(bss) = bss else {
            return Err(Error::Load(format!(
                "a vector has {size} bytes, not {}",
                vector.len()
            )));
        };
        let shared = (&raw mut bss.vector).cast::<u8>();
        // SAFETY: both are `size` bytes long, any bytes are a valid vector, and the program that
        // reads and writes it runs only in `test_run`, while no reference to it is used.
        unsafe {
            shared.copy_from_nonoverlapping(vector.as_ptr(), size);
            self.skel
                .progs
                .run_vector
                .test_run(ProgramInput::default())
                .map_err(|e| Error::Load(one_line(e)))?;
            shared.copy_to_nonoverlapping(vector.as_mut_ptr(), size);
        }
        Ok(())
    }

    /// Registers the scheduler: from here on the kernel is scheduled by it.
    ///
    /// # Errors
    /// [`Error::AnotherScheduler`] if the slot is taken, [`Error::Attach`] if the kernel
    /// refuses for another reason.
    pub fn attach(mut self) -> Result<Running<'a>, Error> {
        let _log = LoadLog::capture();
        let link = attach_skeleton(&mut self.skel).map_err(|e| match active_scheduler() {
            Some(name) => Error::AnotherScheduler(name),
            None => Error::Attach(one_line(format!("{e:#}"))),
        })?;
        Ok(Running {
            skel: self.skel,
            link: Some(link),
            mode: self.mode,
            cpu_ids: self.cpu_ids,
        })
    }
}

impl Running<'_> {
    /// The counters since attach.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = Statistics {
            mode: self.mode.name().to_owned(),
            ..Statistics::default()
        };
        if let Some(bss) = &self.skel.maps.bss_data {
            for cpu in bss.cpus.iter().take(self.cpu_ids) {
                statistics.add_cpu(&cpu.counters);
            }
            statistics.trace_lost = bss.trace_lost;
        }
        statistics
    }

    /// Why the kernel ended the scheduler, if it did.
    pub fn exit(&self) -> Option<Exit> {
        let exit = self.read_exit();
        (exit.kind != 0).then_some(exit)
    }

    /// The stream of scheduling decisions, when the options ask for it.
    ///
    /// # Errors
    /// [`Error::Read`] if the ring buffer cannot be mapped.
    pub fn trace(&self) -> Result<Trace<'_>, Error> {
        Trace::open(&self.skel.maps.ek_trace)
    }

    /// Returns every task to the kernel's own scheduler.
    pub fn detach(mut self) -> Exit {
        drop(self.link.take());
        self.read_exit()
    }

    fn read_exit(&self) -> Exit {
        self.skel
            .maps
            .data_data
            .as_ref()
            .map(|data| Exit::read(&data.uei))
            .unwrap_or_default()
    }
}

/// The name of the active sched_ext scheduler, if there is one.
pub fn active_scheduler() -> Option<String> {
    let name = fs::read_to_string(ACTIVE_OPS).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The ecosystem's macros read the kernel's types, some megabytes, and panic where memory for them
/// is limited. libbpf needs them once and an index a tenth of their size.
fn expect_room_for_types() -> Result<(), Error> {
    let size = fs::metadata(btf::FILE).map_or(0, |found| found.len());
    let wanted = usize::try_from(2 * size).unwrap_or(usize::MAX);
    Vec::<u8>::new()
        .try_reserve_exact(wanted)
        .map_err(|_| Error::Open("too little memory for the kernel's types".to_owned()))
}

// The ecosystem's macros name their results `anyhow::Result` and break out of a block.

fn open_skeleton(storage: &mut MaybeUninit<OpenObject>) -> anyhow::Result<OpenBpfSkel<'_>> {
    let builder = BpfSkelBuilder::default();
    let mut skel = scx_ops_open!(builder, storage, evenkeel_ops, None)?;
    skel.progs.rejected.set_autoload(false);
    skel.progs.run_vector.set_autoload(false);
    // It tells how kernels before 6.18 count disabled migration; attaching it costs a start more
    // than anything else but the verifier.
    if kernel_release() >= Some((6, 18)) {
        skel.progs.scx_lib_init_probe.set_autoload(false);
    }
    Ok(skel)
}

fn load_skeleton(mut skel: OpenBpfSkel<'_>) -> anyhow::Result<BpfSkel<'_>> {
    scx_ops_load!(skel, evenkeel_ops, uei)
}

fn attach_skeleton(skel: &mut BpfSkel<'_>) -> anyhow::Result<Link> {
    scx_ops_attach!(skel, evenkeel_ops)
}

fn verified_instructions(program: &Program<'_>) -> u32 {
    use std::os::fd::{AsFd, AsRawFd};
    let mut info = libbpf_rs::libbpf_sys::bpf_prog_info::default();
    let mut size = size_of_val(&info) as u32;
    // SAFETY: the descriptor is open for as long as the program, and the kernel writes no more
    // than `size` bytes of `info`.
    let status = unsafe {
        libbpf_rs::libbpf_sys::bpf_obj_get_info_by_fd(
            program.as_fd().as_raw_fd(),
            (&raw mut info).cast(),
            &raw mut size,
        )
    };
    if status == 0 { info.verified_insns } else { 0 }
}

/// The running kernel's major and minor version.
fn kernel_release() -> Option<(u32, u32)> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let mut numbers = release.split(['.', '-', '+']).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Nanoseconds of a duration; validated options are far from the limit.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn set_options(
    skel: &mut OpenBpfSkel<'_>,
    options: &Options,
    machine: &Machine,
) -> Result<(), Error> {
    let ops = skel.struct_ops.evenkeel_ops_mut();
    ops.exit_dump_len = options.exit_dump_len;
    ops.flags = *compat::SCX_OPS_ENQ_MIGRATION_DISABLED | *compat::SCX_OPS_ALLOW_QUEUED_WAKEUP;
    if options.partial {
        ops.flags |= *compat::SCX_OPS_SWITCH_PARTIAL;
    }
    let rodata = skel
        .maps
        .rodata_data
        .as_deref_mut()
        .ok_or_else(|| Error::Open("its constants are missing".to_owned()))?;

    rodata.predictor.predictor = options.predictor as u32;
    rodata.predictor.init = options.init as u32;
    rodata.predictor.updates = options.updates as u32;
    rodata.predictor.warmup = options.warmup;
    rodata.order.mode = options.mode as u32;
    rodata.order.slice_min_ns = nanos(options.slice_min);
    rodata.order.slice_max_ns = nanos(options.slice_max);
    rodata.order.fixed_slice_ns = nanos(options.fixed_slice);
    rodata.order.target_latency_ns = nanos(options.target_latency);
    if let Learn::Prefix(prefix) = &options.learn {
        for (to, from) in rodata.learn_prefix.iter_mut().zip(prefix.bytes()) {
            *to = from.cast_signed();
        }
        rodata.learn_prefix_len = prefix.len() as u32;
    }
    rodata.force_estimate = match options.force_estimate {
        None => 0,
        Some(Forced::Min) => 1,
        Some(Forced::Max) => 2,
    };
    rodata.trace_on = options.trace;
    rodata.nr_cpu_ids = machine.cpu_ids as u32;
    rodata.nr_nodes = machine.nodes as u32;
    for (node, cpus) in machine.cpus_per_node().into_iter().enumerate() {
        rodata.node_cpus[node] = cpus as u32;
    }
    for &(cpu, node) in &machine.cpu_nodes {
        rodata.cpu_node[cpu] = node as u8;
    }
    Ok(())
}
