// SPDX-License-Identifier: GPL-2.0-only
//! CPUs of the guest: how many, and taking one offline.

use std::fs;
use std::io;

/// The number of CPUs that are online.
///
/// # Panics
/// When the kernel does not say.
pub fn online() -> usize {
    let list = fs::read_to_string("/sys/devices/system/cpu/online").expect("sysfs is mounted");
    list.trim()
        .split(',')
        .map(|range| match range.split_once('-') {
            None => 1,
            Some((first, last)) => number(last) - number(first) + 1,
        })
        .sum()
}

/// Takes `cpu` offline or brings it back.
///
/// # Errors
/// When the kernel refuses, as it does for the last CPU.
pub fn set_online(cpu: usize, online: bool) -> io::Result<()> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/online");
    fs::write(path, if online { "1" } else { "0" })
}

/// Brings every CPU online.
pub fn restore() {
    for cpu in 1.. {
        match fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/online")) {
            Err(_) => return,
            Ok(state) if state.trim() == "0" => {
                // The next test would notice.
                let _ = set_online(cpu, true);
            }
            Ok(_) => {}
        }
    }
}

fn number(text: &str) -> usize {
    text.parse()
        .unwrap_or_else(|_| panic!("{text:?} is no CPU"))
}
