// SPDX-License-Identifier: GPL-2.0-only
//! The defaults that a user reads are those that the headers give.

use std::time::Duration;

use evenkeel_policy::{OrderConfig, PredictorConfig};
use evenkeel_scheduler::options::Options;

#[test]
fn options_left_out_are_the_defaults_of_the_headers() {
    let options = Options::default();
    let order = OrderConfig::default();
    let predictor = PredictorConfig::default();
    let slices = [
        (options.slice_min, order.slice_min_ns),
        (options.slice_max, order.slice_max_ns),
        (options.fixed_slice, order.fixed_slice_ns),
        (options.target_latency, order.target_latency_ns),
    ];
    for (option, header_ns) in slices {
        assert_eq!(option, Duration::from_nanos(header_ns));
    }
    assert_eq!(options.warmup, predictor.warmup);
}
