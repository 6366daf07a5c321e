// SPDX-License-Identifier: GPL-2.0-only

//! What happens in the guest before and after the command: a shell script.

use std::path::{Path, PathBuf};

use crate::quote;

/// Where the guest sees the job's directory (script, kernel configuration).
pub const JOB: &str = "/run/lab-job";
/// The virtio port on which the guest reports; see [`Report`].
pub const STATUS_PORT: &str = "evenkeel.status";

/// The guest's memory file system: `bin` (first on PATH), `home`, `tmp`, and `work`, where the
/// command starts. Nothing in it touches the host during a measurement.
const MEMORY: &str = "/run/lab";

/// How the guest's output and its reports reach the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// virtme carries the output; reports go to the port named [`STATUS_PORT`].
    Virtme,
    /// Three ports of one virtio device: output, errors, reports.
    Ports,
}

impl Output {
    fn report_device(self) -> String {
        match self {
            Self::Virtme => format!("/dev/virtio-ports/{STATUS_PORT}"),
            Self::Ports => "/dev/vport0p3".to_owned(),
        }
    }
}

/// What the guest's script is made of.
pub struct Script<'a> {
    /// Where output and reports go.
    pub output: Output,
    /// Programs copied into the guest's memory and put on its PATH.
    pub programs: &'a [PathBuf],
    /// Shared libraries copied into the guest's memory and looked for there first.
    pub libraries: &'a [PathBuf],
    /// The command and its arguments.
    pub command: &'a [String],
    /// The checkout, if the guest sees it: named to the command by `EVENKEEL_CHECKOUT`.
    pub checkout: Option<&'a Path>,
    /// Paths that must stay visible although the guest gets a `/tmp` of its own.
    pub visible: &'a [PathBuf],
}

impl Script<'_> {
    /// The script's text.
    pub fn text(&self) -> String {
        let mut text = format!(
            "report() {{ echo \"$1\" >{}; }}\n\
             report started\n\
             mkdir -p {MEMORY}\n\
             mount -t tmpfs -o mode=755,size=75% evenkeel {MEMORY}\n\
             mkdir {MEMORY}/bin {MEMORY}/lib {MEMORY}/home {MEMORY}/tmp {MEMORY}/work {MEMORY}/keep\n",
            self.output.report_device()
        );
        if self.output == Output::Ports {
            text.push_str("exec >/dev/vport0p1 2>/dev/vport0p2\n");
        }
        text.push_str(&self.temporary_directory());
        text.push_str(&format!(
            "if [ -e {JOB}/config ]; then\n\
             mkdir -p /boot 2>/dev/null\n\
             mount -t tmpfs -o mode=755 boot /boot && \
             cp {JOB}/config \"/boot/config-$(uname -r)\"\n\
             fi\n"
        ));
        for (files, directory) in [(self.programs, "bin"), (self.libraries, "lib")] {
            if !files.is_empty() {
                let files: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
                let files = quote::shell_words(files.iter().map(AsRef::as_ref));
                text.push_str(&format!("cp -L {files} {MEMORY}/{directory}/\n"));
            }
        }
        if !self.libraries.is_empty() {
            text.push_str(&format!("export LD_LIBRARY_PATH={MEMORY}/lib\n"));
        }
        let command = quote::shell_words(self.command.iter().map(String::as_str));
        let checkout = self.checkout.map_or(String::new(), |path| {
            format!(
                " EVENKEEL_CHECKOUT={}",
                quote::shell(&path.to_string_lossy())
            )
        });
        text.push_str(&format!(
            "unset SHLVL nr_open PWD OLDPWD\n\
             export PATH={MEMORY}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n\
             export HOME={MEMORY}/home TMPDIR={MEMORY}/tmp TERM=dumb LANG=C.UTF-8\n\
             export EVENKEEL_LAB_GUEST=1{checkout}\n\
             cd {MEMORY}/work\n\
             ( {command}\n)\n\
             status=$?\n\
             report \"exit $status\"\n\
             exit $status\n"
        ));
        text
    }

    /// Gives the guest a writable `/tmp`, keeping in it what must stay visible.
    fn temporary_directory(&self) -> String {
        let kept: Vec<String> = self
            .visible
            .iter()
            .filter(|path| path.starts_with("/tmp"))
            .map(|path| quote::shell(&path.to_string_lossy()))
            .collect();
        let mut text = String::new();
        for (index, path) in kept.iter().enumerate() {
            text.push_str(&format!(
                "mkdir {MEMORY}/keep/{index} && mount --bind {path} {MEMORY}/keep/{index}\n"
            ));
        }
        text.push_str("mount -t tmpfs -o mode=1777 tmp /tmp\n");
        for (index, path) in kept.iter().enumerate() {
            text.push_str(&format!(
                "mkdir -p {path} && mount --bind {MEMORY}/keep/{index} {path}\n"
            ));
        }
        text
    }
}

/// What the guest has reported so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// The guest has booted and begun.
    pub started: bool,
    /// The command has ended with this status.
    pub exited: Option<u8>,
}

impl Report {
    /// Reads the text that came through the port; an incomplete last line is passed over.
    pub fn parse(text: &str) -> Self {
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut report = Self::default();
        for line in complete.lines() {
            match line.trim_end().split_once(' ') {
                None if line.trim_end() == "started" => report.started = true,
                Some(("exit", status)) => report.exited = status.parse().ok(),
                _ => {}
            }
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_line_by_line() {
        assert_eq!(Report::parse(""), Report::default());
        assert_eq!(
            Report::parse("started\n"),
            Report {
                started: true,
                exited: None
            }
        );
        assert_eq!(
            Report::parse("started\nexit 25"),
            Report {
                started: true,
                exited: None
            }
        );
        assert_eq!(
            Report::parse("started\nexit 255\n"),
            Report {
                started: true,
                exited: Some(255)
            }
        );
    }

    #[test]
    fn the_script_is_valid_shell_whatever_the_arguments() {
        let command = ["it's".to_owned(), "a b".to_owned(), "new\nline".to_owned()];
        let script = Script {
            output: Output::Ports,
            programs: &[PathBuf::from("/tmp/a b/evenkeel")],
            libraries: &[PathBuf::from("/tmp/a b/libc.so")],
            command: &command,
            checkout: Some(Path::new("/tmp/a b")),
            visible: &[PathBuf::from("/tmp/a b")],
        };
        let status = std::process::Command::new("sh")
            .args(["-n", "-c", &script.text()])
            .status();
        assert!(status.expect("sh runs").success());
    }
}
