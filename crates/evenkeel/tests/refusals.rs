// SPDX-License-Identifier: GPL-2.0-only
//! What a machine lacks is told on one line, with the documented status, and nothing is touched.

mod support;

use support::{Fixture, assert_refused, stderr, stdout};

/// Expects `run`, `trial` and `verify` to be refused, and the machine to stay as it is.
fn assert_all_refused(machine: &Fixture, status: i32, naming: &str) {
    let before = machine.files();
    for args in [
        &["run"][..],
        &["trial"],
        &["verify"],
        &["run", "--json", "--duration", "1s"],
    ] {
        let output = machine.run(args);
        assert_refused(&output, status, args);
        assert!(
            stderr(&output).contains(naming),
            "{args:?}: {}",
            stderr(&output)
        );
    }
    assert_eq!(machine.files(), before);
}

#[test]
fn a_kernel_without_sched_ext_is_unsupported() {
    let machine = Fixture::capable();
    machine.remove("sys/kernel/sched_ext");
    assert_all_refused(&machine, 3, "/sys/kernel/sched_ext");
}

#[test]
fn an_old_kernel_is_unsupported() {
    let machine = Fixture::capable();
    machine.write("proc/sys/kernel/osrelease", b"6.11.0\n");
    assert_all_refused(&machine, 3, "6.12");
}

#[test]
fn a_kernel_without_btf_is_unsupported() {
    let machine = Fixture::capable();
    machine.remove("sys/kernel/btf/vmlinux");
    assert_all_refused(&machine, 3, "BTF");
}

#[test]
fn a_kernel_without_its_configuration_is_unsupported() {
    let machine = Fixture::capable();
    machine.remove("boot/config-7.3.4");
    assert_all_refused(&machine, 3, "/boot/config-7.3.4");
}

#[test]
fn an_unprivileged_user_is_not_permitted() {
    let machine = Fixture::capable();
    machine.no_privileges();
    assert_all_refused(&machine, 5, "root");
}

#[test]
fn another_scheduler_is_named() {
    let machine = Fixture::capable();
    machine.active("bpfland_1.1.4");
    for args in [&["run"][..], &["trial"]] {
        let output = machine.run(args);
        assert_refused(&output, 4, args);
        assert!(stderr(&output).contains("bpfland_1.1.4"));
    }
}

#[test]
fn a_second_evenkeel_is_refused_like_any_other_scheduler() {
    let machine = Fixture::capable();
    machine.active("evenkeel_0.1.0");
    assert_refused(&machine.run(&["run"]), 4, &["run"]);
    // But it runs here, so it can run here.
    assert!(stdout(&machine.run(&["check"])).contains("evenkeel_0.1.0 is active"));
}

#[test]
fn the_order_of_statuses_is_3_then_5_then_4() {
    let machine = Fixture::capable();
    machine.active("bpfland_1.1.4");
    machine.no_privileges();
    assert_refused(&machine.run(&["run"]), 5, &["run"]);
    machine.remove("boot/config-7.3.4");
    assert_refused(&machine.run(&["run"]), 3, &["run"]);
}

#[test]
fn check_names_every_requirement_and_exits_as_run_would() {
    let machine = Fixture::capable();
    machine.no_privileges();
    let output = machine.run(&["check"]);
    // The fixture's BTF names no kernel function, which comes first.
    assert_eq!(output.status.code(), Some(3));
    let text = stdout(&output);
    for name in [
        "kernel version",
        "sched_ext",
        "sched_ext state",
        "BTF",
        "kernel configuration",
        "privileges",
        "active scheduler",
        "kernel features",
        "virtualised",
        "cgroup v2",
    ] {
        assert!(text.contains(name), "{name}: {text}");
    }
    assert!(text.contains("mend: run as root"), "{text}");
}

#[test]
fn check_prints_json_whose_status_is_its_own() {
    let machine = Fixture::capable();
    machine.no_privileges();
    let output = machine.run(&["check", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["status"].as_i64(), output.status.code().map(i64::from));
    assert_eq!(json["able"], false);
    let requirements = json["requirements"].as_array().unwrap();
    for requirement in requirements {
        for field in ["name", "finding", "verdict", "mend"] {
            assert!(requirement.get(field).is_some(), "{field}: {requirement}");
        }
    }
}

#[test]
fn plan_tells_any_user_what_would_be_refused() {
    let machine = Fixture::capable();
    machine.active("bpfland_1.1.4");
    machine.no_privileges();
    let before = machine.files();
    let output = machine.run(&["plan", "--mode", "shadow", "--duration", "30s", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["options"]["mode"], "shadow");
    assert_eq!(json["duration_s"], 30.0);
    assert_eq!(json["topology"]["cpus"], 4);
    assert_eq!(json["run_status"], 3);
    assert_eq!(machine.files(), before);
}

#[test]
fn status_tells_about_any_machine() {
    let machine = Fixture::capable();
    assert!(stdout(&machine.run(&["status"])).contains("the kernel's default"));
    machine.active("bpfland_1.1.4");
    assert!(stdout(&machine.run(&["status"])).contains("not Evenkeel"));
    machine.remove("sys/kernel/sched_ext");
    let output = machine.run(&["status", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["supported"], false);
}
