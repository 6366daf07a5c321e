// SPDX-License-Identifier: GPL-2.0-only
//! The CPUs as the kernel shows them, from `/sys/devices/system`.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Machine, cpu_list};

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// How many of each there are among the online CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Topology {
    /// Online CPUs.
    pub cpus: usize,
    /// Cores: groups of CPUs that are SMT siblings.
    pub cores: usize,
    /// Groups of CPUs that share their last cache.
    pub last_level_caches: usize,
    /// NUMA nodes that have an online CPU.
    pub nodes: usize,
}

impl Topology {
    /// Reads it; a kernel that does not say counts each CPU as a core, and one cache and one node for all.
    pub fn read(machine: &Machine) -> Self {
        let list = |path: String| cpu_list::parse(&machine.read(&path).ok()?);
        let online = list(format!("{CPUS}/online")).unwrap_or_default();
        let groups = |group_of: &dyn Fn(u32) -> Option<BTreeSet<u32>>, alone: bool| {
            let set_of = |cpu| {
                let fallback = || {
                    if alone {
                        BTreeSet::from([cpu])
                    } else {
                        online.clone()
                    }
                };
                group_of(cpu).unwrap_or_else(fallback)
            };
            online
                .iter()
                .map(|cpu| set_of(*cpu))
                .collect::<BTreeSet<_>>()
                .len()
        };
        let siblings = |cpu| list(format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list"));
        let cache = |cpu| {
            let indexes = machine.list(&format!("{CPUS}/cpu{cpu}/cache"));
            let last = indexes.iter().rfind(|name| name.starts_with("index"))?;
            list(format!("{CPUS}/cpu{cpu}/cache/{last}/shared_cpu_list"))
        };
        let nodes = machine.list(NODES).into_iter().filter(|name| is_node(name));
        let node_cpus = nodes.filter_map(|name| list(format!("{NODES}/{name}/cpulist")));
        let nodes = node_cpus.filter(|cpus| !cpus.is_disjoint(&online)).count();
        Self {
            cpus: online.len(),
            cores: groups(&siblings, true),
            last_level_caches: groups(&cache, false),
            nodes: nodes.max(usize::from(!online.is_empty())),
        }
    }
}

fn is_node(name: &str) -> bool {
    name.strip_prefix("node")
        .is_some_and(|number| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn siblings_caches_and_nodes_are_counted_once() {
        let fixture = Fixture::empty();
        fixture.write("sys/devices/system/cpu/online", "0-3\n");
        for cpu in 0..4 {
            let base = format!("sys/devices/system/cpu/cpu{cpu}");
            let core = if cpu < 2 { "0-1" } else { "2-3" };
            fixture.write(&format!("{base}/topology/thread_siblings_list"), core);
            fixture.write(&format!("{base}/cache/index0/shared_cpu_list"), core);
            fixture.write(&format!("{base}/cache/index3/shared_cpu_list"), "0-3");
        }
        fixture.write("sys/devices/system/node/node0/cpulist", "0-1");
        fixture.write("sys/devices/system/node/node1/cpulist", "2-3");
        fixture.write("sys/devices/system/node/node2/cpulist", "");
        let wanted = Topology {
            cpus: 4,
            cores: 2,
            last_level_caches: 1,
            nodes: 2,
        };
        assert_eq!(Topology::read(&fixture.machine()), wanted);
    }

    #[test]
    fn a_silent_kernel_still_gives_a_usable_answer() {
        let fixture = Fixture::empty();
        assert_eq!(Topology::read(&fixture.machine()), Topology::default());
        fixture.write("sys/devices/system/cpu/online", "0-1");
        let wanted = Topology {
            cpus: 2,
            cores: 2,
            last_level_caches: 1,
            nodes: 1,
        };
        assert_eq!(Topology::read(&fixture.machine()), wanted);
    }
}
