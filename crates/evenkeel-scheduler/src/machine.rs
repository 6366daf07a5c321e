// SPDX-License-Identifier: GPL-2.0-only
//! The machine as the scheduler needs it: how many CPUs, and which node each belongs to.

use scx_utils::{NR_CPU_IDS, Topology};

use crate::error::{Error, one_line};

/// CPUs the BPF tables hold (`EK_MAX_CPUS`).
pub const CPUS_MOST: usize = 1024;
/// NUMA nodes the BPF tables hold (`EK_MAX_NODES`).
pub const NODES_MOST: usize = 64;

/// CPUs and the queue each of them serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Possible CPU numbers: the highest plus one.
    pub cpu_ids: usize,
    /// The queue domain of each online CPU, as (CPU, node), nodes numbered from 0 without gaps.
    pub cpu_nodes: Vec<(usize, usize)>,
    /// Queue domains, at least 1.
    pub nodes: usize,
    /// Whether cores have more than one thread.
    pub smt: bool,
}

impl Machine {
    /// Reads the topology.
    ///
    /// # Errors
    /// [`Error::Topology`] if it cannot be read, [`Error::TooLarge`] beyond [`CPUS_MOST`] CPUs
    /// or [`NODES_MOST`] nodes.
    pub fn read() -> Result<Self, Error> {
        let topology = Topology::new().map_err(|e| Error::Topology(one_line(format!("{e:#}"))))?;
        let cpu_nodes = topology
            .nodes
            .values()
            .filter(|node| !node.all_cpus.is_empty())
            .enumerate()
            .flat_map(|(index, node)| node.all_cpus.keys().map(move |&cpu| (cpu, index)))
            .collect::<Vec<_>>();
        let nodes = cpu_nodes
            .iter()
            .map(|&(_, node)| node + 1)
            .max()
            .unwrap_or(1);
        let machine = Self {
            cpu_ids: *NR_CPU_IDS,
            cpu_nodes,
            nodes,
            smt: topology.smt_enabled,
        };
        machine.check()?;
        Ok(machine)
    }

    fn check(&self) -> Result<(), Error> {
        for (what, found, most) in [
            ("CPUs", self.cpu_ids, CPUS_MOST),
            ("NUMA nodes", self.nodes, NODES_MOST),
        ] {
            if found > most {
                return Err(Error::TooLarge { what, found, most });
            }
        }
        Ok(())
    }

    /// How many CPUs serve each queue.
    pub fn cpus_per_node(&self) -> Vec<usize> {
        let mut counts = vec![0; self.nodes];
        for &(_, node) in &self.cpu_nodes {
            counts[node] += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_beyond_the_tables_is_refused_by_name() {
        let machine = Machine {
            cpu_ids: 2048,
            cpu_nodes: vec![(0, 0)],
            nodes: 1,
            smt: false,
        };
        let text = machine.check().unwrap_err().to_string();
        assert_eq!(
            text,
            "this machine has 2048 CPUs, more than the 1024 that are supported"
        );
    }

    #[test]
    fn each_queue_counts_its_own_cpus() {
        let cpu_nodes = vec![(0, 0), (1, 0), (2, 1)];
        let machine = Machine {
            cpu_ids: 3,
            cpu_nodes,
            nodes: 2,
            smt: false,
        };
        assert_eq!(machine.cpus_per_node(), [2, 1]);
    }
}
