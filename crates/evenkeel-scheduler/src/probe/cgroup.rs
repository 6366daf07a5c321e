// SPDX-License-Identifier: GPL-2.0-only
//! Whether cgroup v2 is mounted, from `/proc/self/mounts`.

use super::{Machine, Requirement};

const NAME: &str = "cgroup v2";

/// Where the unified hierarchy is mounted.
fn mount_point(mounts: &str) -> Option<&str> {
    let mut lines = mounts.lines().map(|line| line.split(' '));
    lines.find_map(|mut fields| {
        let (_, at, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup2").then_some(at)
    })
}

pub(super) fn requirement(machine: &Machine) -> Requirement {
    let mounts = machine.read("/proc/self/mounts").unwrap_or_default();
    match mount_point(&mounts) {
        Some(at) => Requirement::ok(NAME, format!("mounted at {at}")),
        None => Requirement::warning(
            NAME,
            "not mounted; tasks are weighed by their nice value alone",
            "mount it: mount -t cgroup2 none /sys/fs/cgroup",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unified_hierarchy_is_found_among_others() {
        let mounts = "tmpfs / tmpfs rw 0 0\nx /sys/fs/cgroup/cpu cgroup rw 0 0\n\
                      y /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(mount_point(mounts), Some("/sys/fs/cgroup/unified"));
    }

    #[test]
    fn version_one_alone_is_not_enough() {
        assert_eq!(
            mount_point("x /sys/fs/cgroup cgroup rw 0 0\nbroken\n"),
            None
        );
    }
}
