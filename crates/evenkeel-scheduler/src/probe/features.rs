// SPDX-License-Identifier: GPL-2.0-only
//! Kernel functions that later kernels brought, each with what Evenkeel does without it.

use serde::Serialize;

use super::btf::Names;
use super::{Machine, Obstacle, Requirement};

const NAME: &str = "kernel features";

/// A kernel function and what its absence means.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Feature {
    /// The function's name in the kernel's BTF.
    pub symbol: &'static str,
    /// The kernel that brought it.
    pub since: &'static str,
    /// What is used instead; `None` if nothing can be.
    pub without: Option<&'static str>,
}

const fn needed(symbol: &'static str) -> Feature {
    Feature {
        symbol,
        since: "6.12",
        without: None,
    }
}

const fn optional(symbol: &'static str, since: &'static str, without: &'static str) -> Feature {
    Feature {
        symbol,
        since,
        without: Some(without),
    }
}

/// Everything looked for, in the order in which kernels brought it.
pub const FEATURES: [Feature; 17] = [
    needed("scx_bpf_create_dsq"),
    needed("scx_bpf_dsq_nr_queued"),
    needed("scx_bpf_kick_cpu"),
    needed("scx_bpf_pick_idle_cpu"),
    needed("scx_bpf_select_cpu_dfl"),
    needed("scx_bpf_task_cpu"),
    needed("scx_bpf_task_running"),
    needed("scx_bpf_test_and_clear_cpu_idle"),
    needed("bpf_iter_scx_dsq_new"),
    optional("scx_bpf_dsq_insert", "6.13", "scx_bpf_dispatch"),
    optional("scx_bpf_dsq_move", "6.13", "scx_bpf_dispatch_from_dsq"),
    optional("scx_bpf_dsq_move_to_local", "6.13", "scx_bpf_consume"),
    optional("scx_bpf_now", "6.14", "bpf_ktime_get_ns"),
    optional("scx_bpf_select_cpu_and", "6.17", "scx_bpf_select_cpu_dfl"),
    optional("scx_bpf_dsq_peek", "7.1", "an iterator over the queue"),
    optional("scx_bpf_task_set_slice", "6.19", "a store to the slice"),
    optional("scx_bpf_dsq_reenq", "7.1", "scx_bpf_reenqueue_local"),
];

/// A feature and whether the running kernel has it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Found {
    /// The feature.
    #[serde(flatten)]
    pub feature: Feature,
    /// Whether it is there.
    pub present: bool,
}

/// Looks for every feature in the kernel's BTF.
///
/// # Errors
/// Those of reading the BTF.
pub fn find(machine: &Machine) -> std::io::Result<Vec<Found>> {
    let wanted: Vec<_> = FEATURES.iter().map(|feature| feature.symbol).collect();
    let present = Names::read(machine)?.present(&wanted);
    let found = |feature: &Feature| present.contains(feature.symbol);
    Ok(FEATURES
        .iter()
        .map(|f| Found {
            feature: *f,
            present: found(f),
        })
        .collect())
}

pub(super) fn requirement(machine: &Machine) -> Requirement {
    let Ok(found) = find(machine) else {
        return Requirement::warning(NAME, "unknown without BTF", "see BTF");
    };
    let absent: Vec<_> = found
        .iter()
        .filter(|f| !f.present)
        .map(|f| f.feature)
        .collect();
    let needed: Vec<_> = absent
        .iter()
        .filter(|f| f.without.is_none())
        .map(|f| f.symbol)
        .collect();
    if !needed.is_empty() {
        return Requirement::missing(
            NAME,
            format!("without {}", needed.join(", ")),
            "boot a kernel of 6.12 or later built with CONFIG_SCHED_CLASS_EXT=y",
            Obstacle::Unsupported,
        );
    }
    if absent.is_empty() {
        return Requirement::ok(NAME, format!("all {} that are used", found.len()));
    }
    let instead = |f: &Feature| format!("{} (uses {})", f.symbol, f.without.unwrap_or_default());
    let list: Vec<_> = absent.iter().map(instead).collect();
    Requirement::ok(NAME, format!("without {}", list.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::btf::tests::btf_with_names;
    use super::super::{Verdict, fixture};
    use super::*;

    #[test]
    fn an_absent_optional_feature_is_replaced_and_said() {
        let fixture = fixture::capable();
        let names: Vec<_> = FEATURES.iter().map(|f| f.symbol).collect();
        let kept: Vec<_> = names.into_iter().filter(|n| *n != "scx_bpf_now").collect();
        fixture.write("sys/kernel/btf/vmlinux", btf_with_names(&kept));
        let requirement = requirement(&fixture.machine());
        assert_eq!(requirement.verdict, Verdict::Ok);
        assert_eq!(
            requirement.finding,
            "without scx_bpf_now (uses bpf_ktime_get_ns)"
        );
    }

    #[test]
    fn an_absent_needed_feature_is_unsupported() {
        let fixture = fixture::capable();
        fixture.write("sys/kernel/btf/vmlinux", btf_with_names(&["scx_bpf_now"]));
        let requirement = requirement(&fixture.machine());
        assert_eq!(requirement.obstacle, Some(Obstacle::Unsupported));
    }
}
