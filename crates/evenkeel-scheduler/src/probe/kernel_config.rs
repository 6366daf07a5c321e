// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's build configuration.
//!
//! libbpf resolves the kconfig externs of the shared sched_ext headers from it, and without it a load fails with
//! a bare "invalid argument". libbpf looks only at `/proc/config.gz` and `/boot/config-$(uname -r)`; one that lies
//! elsewhere is found here all the same, so that its mend is a copy.

use std::fs::File;
use std::io::{self, Read};

use flate2::read::GzDecoder;

use super::{Machine, Obstacle, Requirement, kernel_version};

const NAME: &str = "kernel configuration";

/// Largest configuration accepted, in bytes; real ones have some 300,000.
const MOST_BYTES: u64 = 16 << 20;

/// What sched_ext with BPF schedulers needs (the kernel's `Documentation/scheduler/sched-ext.rst`).
const NEEDED: [&str; 5] = [
    "CONFIG_BPF_SYSCALL",
    "CONFIG_BPF_JIT",
    "CONFIG_DEBUG_INFO_BTF",
    "CONFIG_SCHED_CLASS_EXT",
    "CONFIG_HZ",
];

/// A configuration that was found and read.
#[derive(Clone, Debug)]
pub struct KernelConfig {
    /// Where, as on a real machine.
    pub path: String,
    /// Whether libbpf looks there.
    pub in_place: bool,
    /// Lines of `CONFIG_NAME=value` and comments.
    pub text: String,
}

impl KernelConfig {
    /// Reads the running kernel's configuration from the first place that has it.
    ///
    /// # Errors
    /// That of the last place tried.
    pub fn read(machine: &Machine) -> io::Result<Self> {
        let release = kernel_version::release(machine)?;
        let [first, second] = places_of_libbpf(&release);
        let places = [
            first,
            second,
            format!("/usr/lib/modules/{release}/config"),
            format!("/lib/modules/{release}/config"),
            format!("/lib/modules/{release}/build/.config"),
        ];
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for (index, path) in places.into_iter().enumerate() {
            match read(machine, &path) {
                Ok(text) => {
                    return Ok(Self {
                        path,
                        in_place: index < 2,
                        text,
                    });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The value of `name`, without quotes; `None` if it is not set.
    pub fn value(&self, name: &str) -> Option<&str> {
        let values = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        values.map(|value| value.trim().trim_matches('"')).next()
    }
}

/// Where libbpf looks, in its order.
fn places_of_libbpf(release: &str) -> [String; 2] {
    [
        "/proc/config.gz".to_owned(),
        format!("/boot/config-{release}"),
    ]
}

fn read(machine: &Machine, path: &str) -> io::Result<String> {
    let file = File::open(machine.path(path))?;
    let mut text = String::new();
    if path.ends_with(".gz") {
        GzDecoder::new(file)
            .take(MOST_BYTES)
            .read_to_string(&mut text)?;
    } else {
        file.take(MOST_BYTES).read_to_string(&mut text)?;
    }
    if text.contains("CONFIG_") {
        Ok(text)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "no configuration in it",
        ))
    }
}

/// Whether a configuration is where libbpf looks, without reading it all: that is most of a start.
pub(super) fn in_place(machine: &Machine) -> Requirement {
    let Ok(release) = kernel_version::release(machine) else {
        return requirement(machine);
    };
    let begins = |path: &String| {
        let mut first = [0; 1];
        let file = File::open(machine.path(path));
        file.and_then(|mut file| file.read_exact(&mut first))
            .is_ok()
    };
    match places_of_libbpf(&release).into_iter().find(begins) {
        Some(path) => Requirement::ok(NAME, path),
        None => requirement(machine),
    }
}

pub(super) fn requirement(machine: &Machine) -> Requirement {
    let config = match KernelConfig::read(machine) {
        Ok(config) => config,
        Err(_) => {
            let release = kernel_version::release(machine).unwrap_or_else(|_| "$(uname -r)".into());
            return Requirement::missing(
                NAME,
                "neither /proc/config.gz nor /boot/config-$(uname -r) can be read",
                format!("install or make readable /boot/config-{release}"),
                Obstacle::Unsupported,
            );
        }
    };
    if !config.in_place {
        let release = kernel_version::release(machine).unwrap_or_else(|_| "$(uname -r)".into());
        return Requirement::missing(
            NAME,
            format!("only at {}, where libbpf does not look", config.path),
            format!("cp {} /boot/config-{release}", config.path),
            Obstacle::Unsupported,
        );
    }
    let unset: Vec<_> = NEEDED
        .into_iter()
        .filter(|name| !is_on(&config, name))
        .collect();
    if unset.is_empty() {
        let hz = config.value("CONFIG_HZ").unwrap_or("unknown");
        return Requirement::ok(NAME, format!("{} (HZ={hz})", config.path));
    }
    // The kernel itself answers for sched_ext and BTF; this file may be another kernel's.
    Requirement::warning(
        NAME,
        format!("{} does not set {}", config.path, unset.join(", ")),
        "boot a kernel with these set, or restore the configuration that belongs to this kernel",
    )
}

fn is_on(config: &KernelConfig, name: &str) -> bool {
    config.value(name).is_some_and(|value| value != "n")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::super::{Verdict, fixture};
    use super::*;

    #[test]
    fn values_are_read_whole_and_by_whole_name() {
        let text = "# CONFIG_X is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\nCONFIG_S=\"a b\"\n";
        let config = KernelConfig {
            path: String::new(),
            in_place: true,
            text: text.to_owned(),
        };
        assert_eq!(config.value("CONFIG_HZ"), Some("250"));
        assert_eq!(config.value("CONFIG_S"), Some("a b"));
        assert_eq!(config.value("CONFIG_X"), None);
    }

    #[test]
    fn a_compressed_configuration_is_preferred() {
        let fixture = fixture::capable();
        let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
        gz.write_all(b"CONFIG_HZ=1000\n").unwrap();
        fixture.write("proc/config.gz", gz.finish().unwrap());
        let config = KernelConfig::read(&fixture.machine()).unwrap();
        assert_eq!(
            (config.path.as_str(), config.value("CONFIG_HZ")),
            ("/proc/config.gz", Some("1000"))
        );
    }

    #[test]
    fn a_broken_compressed_configuration_is_passed_over() {
        let fixture = fixture::capable();
        fixture.write("proc/config.gz", "no gzip");
        assert!(
            requirement(&fixture.machine())
                .finding
                .starts_with("/boot/config-7.3.4")
        );
    }

    #[test]
    fn a_missing_or_empty_configuration_is_unsupported() {
        let fixture = fixture::capable();
        fixture.write("boot/config-7.3.4+deb13-amd64", "");
        let requirement = requirement(&fixture.machine());
        assert_eq!(requirement.obstacle, Some(Obstacle::Unsupported));
        assert!(
            requirement
                .mend
                .unwrap()
                .contains("/boot/config-7.3.4+deb13-amd64")
        );
    }

    #[test]
    fn a_configuration_beside_the_modules_needs_a_copy() {
        let fixture = fixture::capable();
        fixture.remove("boot/config-7.3.4+deb13-amd64");
        fixture.write(
            "usr/lib/modules/7.3.4+deb13-amd64/config",
            "CONFIG_HZ=250\n",
        );
        let requirement = requirement(&fixture.machine());
        assert_eq!(requirement.obstacle, Some(Obstacle::Unsupported));
        assert_eq!(
            requirement.mend.unwrap(),
            "cp /usr/lib/modules/7.3.4+deb13-amd64/config /boot/config-7.3.4+deb13-amd64"
        );
    }

    #[test]
    fn unset_options_are_named() {
        let fixture = fixture::capable();
        fixture.write(
            "boot/config-7.3.4+deb13-amd64",
            "CONFIG_HZ=250\nCONFIG_BPF_JIT=n\n",
        );
        let requirement = requirement(&fixture.machine());
        assert_eq!(requirement.verdict, Verdict::Warning);
        assert!(requirement.finding.contains("CONFIG_BPF_JIT"));
    }
}
