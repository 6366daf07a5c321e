// SPDX-License-Identifier: GPL-2.0-only

//! Debian's package index, as far as set-up needs it (deb-control(5)).

/// A package in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The names in its `Depends`, without versions; of alternatives, the first.
    pub depends: Vec<String>,
}

/// The packages of an index that `keep` wants by name, in the index's order.
pub fn packages(index: &str, keep: impl Fn(&str) -> bool) -> Vec<Package> {
    index
        .split("\n\n")
        .filter_map(|stanza| package(stanza, &keep))
        .collect()
}

fn package(stanza: &str, keep: impl Fn(&str) -> bool) -> Option<Package> {
    let field = |key: &str| {
        stanza
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))
            .map(str::trim)
    };
    let name = field("Package").filter(|name| keep(name))?;
    let depends = field("Depends").unwrap_or_default();
    Some(Package {
        name: name.to_owned(),
        version: field("Version")?.to_owned(),
        depends: depends
            .split(',')
            .filter_map(|dependency| dependency.split_whitespace().next())
            .map(str::to_owned)
            .collect(),
    })
}

/// The kernel release that a metapackage (`linux-image-amd64`) stands for, and the packages
/// that make it up, with versions. The image has been one package until 7.2; since 7.3 it is an
/// empty one that depends on `linux-binary-`, `linux-base-` and `linux-modules-<release>`.
pub fn kernel(index: &str, architecture: &str) -> Option<(String, Vec<Package>)> {
    let found = packages(index, |name| name.starts_with("linux-"));
    let named = |name: &str| found.iter().rev().find(|package| package.name == name);
    let meta = named(&format!("linux-image-{architecture}"))?;
    let release = meta.depends.iter().find_map(|dependency| {
        let release = dependency.strip_prefix("linux-image-")?;
        release
            .starts_with(|c: char| c.is_ascii_digit())
            .then(|| release.to_owned())
    })?;
    let image = named(&format!("linux-image-{release}"))?;
    let parts = ["binary", "base", "modules"].map(|part| format!("linux-{part}-{release}"));
    let mut packages = vec![image.clone()];
    packages.extend(parts.iter().filter_map(|part| named(part).cloned()));
    Some((release, packages))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPLIT: &str = "Package: linux-base-7.3.4+deb13-amd64\nVersion: 7.3.4-1\n\n\
        Package: linux-modules-7.3.4+deb13-amd64\nVersion: 7.3.4-1\nDepends: kmod\n\n\
        Package: linux-binary-7.3.4+deb13-amd64\nVersion: 7.3.4-1\n\n\
        Package: linux-image-7.3.4+deb13-amd64\nVersion: 7.3.4-1\n\
        Depends: dracut | initramfs-tools (>= 0.120), linux-base-7.3.4+deb13-amd64 (= 7.3.4-1)\n\n\
        Package: other\nVersion: 1\n\n\
        Package: linux-image-amd64\nVersion: 7.3.4-1\nDescription: x\n continued\n\
        Depends: linux-base-amd64 (= 7.3.4-1), linux-image-7.3.4+deb13-amd64 (= 7.3.4-1)\n";

    #[test]
    fn a_kernel_in_parts_is_found_through_its_metapackage() {
        let (release, packages) = kernel(SPLIT, "amd64").expect("it is there");
        assert_eq!(release, "7.3.4+deb13-amd64");
        let names: Vec<&str> = packages
            .iter()
            .map(|package| package.name.as_str())
            .collect();
        assert_eq!(
            names,
            [
                "linux-image-7.3.4+deb13-amd64",
                "linux-binary-7.3.4+deb13-amd64",
                "linux-base-7.3.4+deb13-amd64",
                "linux-modules-7.3.4+deb13-amd64"
            ]
        );
        assert!(packages.iter().all(|package| package.version == "7.3.4-1"));
    }

    #[test]
    fn a_kernel_in_one_package_is_found_too() {
        let index = "Package: linux-image-6.12.9+bpo-amd64\nVersion: 6.12.9-1\n\n\
            Package: linux-image-amd64\nVersion: 6.12.9-1\n\
            Depends: linux-image-6.12.9+bpo-amd64 (= 6.12.9-1)\n";
        let (release, packages) = kernel(index, "amd64").expect("it is there");
        assert_eq!(release, "6.12.9+bpo-amd64");
        assert_eq!(packages.len(), 1);
    }

    #[test]
    fn an_index_without_the_metapackage_has_no_kernel() {
        assert_eq!(kernel("Package: a\nVersion: 1\n", "amd64"), None);
        assert_eq!(kernel("", "amd64"), None);
    }

    #[test]
    fn dependencies_lose_versions_and_alternatives() {
        let found = packages(SPLIT, |name| name == "linux-image-7.3.4+deb13-amd64");
        assert_eq!(found[0].depends, ["dracut", "linux-base-7.3.4+deb13-amd64"]);
    }
}
