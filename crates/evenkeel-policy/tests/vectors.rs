// SPDX-License-Identifier: GPL-2.0-only
//! The vectors that the kernel repeats.

use evenkeel_policy::vectors::{Op, Vector, vectors};

#[test]
fn every_function_has_vectors() {
    let list = vectors();
    for op in Op::ALL {
        assert!(
            list.iter().filter(|case| case.op == op).count() >= 6,
            "{op:?}"
        );
    }
    assert!(
        list.len() < 2048,
        "{} vectors are more than the kernel's map holds",
        list.len()
    );
}

#[test]
fn the_list_is_the_same_each_time() {
    let (first, second) = (vectors(), vectors());
    assert_eq!(first.len(), second.len());
    for (a, b) in first.iter().zip(&second) {
        assert_eq!(a.input.as_bytes(), b.input.as_bytes());
        assert_eq!(a.expected.as_bytes(), b.expected.as_bytes());
    }
}

#[test]
fn running_an_input_again_gives_what_is_expected() {
    for case in vectors() {
        assert_eq!(case.input.run(), case.expected, "{:?}", case.op);
    }
}

#[test]
fn a_vector_has_the_layout_of_the_header() {
    let vector = Vector::from_words(Op::Train, std::array::from_fn(|i| i as u64));
    let bytes = vector.as_bytes();
    assert_eq!(bytes.len(), 424);
    assert_eq!(bytes[..4], (Op::Train as u32).to_ne_bytes());
    assert_eq!(bytes[8..16], 1_u64.to_ne_bytes());
    assert_eq!(bytes[416..], 52_u64.to_ne_bytes());
}
