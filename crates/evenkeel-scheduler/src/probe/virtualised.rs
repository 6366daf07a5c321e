// SPDX-License-Identifier: GPL-2.0-only
//! Whether a hypervisor is below this kernel: its steal time inflates what tasks seem to use.

use super::{Machine, Requirement};

const NAME: &str = "virtualised";

/// Words in the firmware's vendor or product that name a hypervisor, and what to call it.
const VENDORS: [(&str, &str); 9] = [
    ("QEMU", "QEMU"),
    ("KVM", "KVM"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("Xen", "Xen"),
    ("Microsoft Corporation Virtual", "Hyper-V"),
    ("Amazon EC2", "Amazon EC2"),
    ("Google Compute Engine", "Google Compute Engine"),
    ("OpenStack", "OpenStack"),
];

/// The hypervisor's name, "a hypervisor" where it has none, or `None` on bare metal.
pub fn hypervisor(machine: &Machine) -> Option<String> {
    if let Ok(kind) = machine.read("/sys/hypervisor/type")
        && !kind.is_empty()
    {
        return Some(kind);
    }
    let dmi = |name: &str| {
        machine
            .read(&format!("/sys/class/dmi/id/{name}"))
            .unwrap_or_default()
    };
    let firmware = format!("{} {}", dmi("sys_vendor"), dmi("product_name"));
    let vendor = VENDORS
        .iter()
        .find(|(word, _)| firmware.contains(word))
        .map(|(_, name)| *name);
    if vendor.is_some() || has_flag(&machine.read("/proc/cpuinfo").unwrap_or_default()) {
        return Some(vendor.unwrap_or("a hypervisor").to_owned());
    }
    None
}

/// Whether the processor says that a hypervisor is present (CPUID 1, ECX bit 31).
fn has_flag(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

pub(super) fn requirement(machine: &Machine) -> Requirement {
    match hypervisor(machine) {
        None => Requirement::ok(NAME, "no"),
        Some(name) => Requirement::ok(
            NAME,
            format!("yes, by {name}; time that it steals looks like time that tasks used"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn bare_metal_has_no_hypervisor() {
        let fixture = Fixture::empty();
        fixture.write("proc/cpuinfo", "flags\t\t: fpu vmx hypervisor_like\n");
        assert_eq!(hypervisor(&fixture.machine()), None);
    }

    #[test]
    fn the_processor_flag_is_enough() {
        let fixture = Fixture::empty();
        fixture.write(
            "proc/cpuinfo",
            "processor\t: 0\nflags\t\t: fpu hypervisor sse\n",
        );
        assert_eq!(
            hypervisor(&fixture.machine()).as_deref(),
            Some("a hypervisor")
        );
    }

    #[test]
    fn firmware_and_xen_name_themselves() {
        let fixture = Fixture::empty();
        fixture.write("sys/class/dmi/id/sys_vendor", "QEMU\n");
        assert_eq!(hypervisor(&fixture.machine()).as_deref(), Some("QEMU"));
        fixture.write("sys/hypervisor/type", "xen\n");
        assert_eq!(hypervisor(&fixture.machine()).as_deref(), Some("xen"));
    }
}
