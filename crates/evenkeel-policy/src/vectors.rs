// SPDX-License-Identifier: GPL-2.0-only
//! Inputs for every function of the policy headers and the host's results, for the kernel to repeat.
//!
//! A [`Vector`] has the layout of `struct ek_vector` in `vectors.h`. A `SEC("syscall")` program
//! calls `ek_vector_run` on the bytes of [`Case::input`]; afterwards they must equal those of
//! [`Case::expected`].

use crate::random::Random;
use crate::raw;

/// The functions, in the order of `enum ek_op`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(u32)]
pub enum Op {
    Log2,
    Exp2,
    Inherit,
    Wake,
    Estimate,
    Overrun,
    Train,
    Charge,
    ClockAdvance,
    ClampWakeup,
    ClampLag,
    Rebase,
    RankInitial,
    RankOverrun,
    Key,
    OvertakeLimit,
    OvertakeService,
    OwedService,
    Slice,
    MakeWay,
}

impl Op {
    /// All of them, in order.
    pub const ALL: [Self; 20] = [
        Self::Log2,
        Self::Exp2,
        Self::Inherit,
        Self::Wake,
        Self::Estimate,
        Self::Overrun,
        Self::Train,
        Self::Charge,
        Self::ClockAdvance,
        Self::ClampWakeup,
        Self::ClampLag,
        Self::Rebase,
        Self::RankInitial,
        Self::RankOverrun,
        Self::Key,
        Self::OvertakeLimit,
        Self::OvertakeService,
        Self::OwedService,
        Self::Slice,
        Self::MakeWay,
    ];
}

/// One function with all that it takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector(raw::Vector);

impl Vector {
    /// Bytes of a vector.
    pub const SIZE: usize = size_of::<raw::Vector>();
    /// 64-bit words of a vector.
    pub const WORDS: usize = Self::SIZE / 8;

    /// A vector of any bits whatever, but for the function.
    pub fn from_words(op: Op, words: [u64; Self::WORDS]) -> Self {
        // SAFETY: both have the same size and no padding, and any bits are valid integers.
        let mut vector: raw::Vector = unsafe { std::mem::transmute(words) };
        vector.op = op as u32;
        Self(vector)
    }

    /// The bytes as C lays them out.
    pub fn as_bytes(&self) -> &[u8; Self::SIZE] {
        // SAFETY: the record has this size and no padding, so that all its bytes are initialised.
        unsafe { &*std::ptr::from_ref(&self.0).cast::<[u8; Self::SIZE]>() }
    }

    /// The vector after its function has run on the host.
    #[must_use]
    pub fn run(mut self) -> Self {
        raw::ek_host_vector_run(&mut self.0);
        self
    }

    /// What the function returned, where it returns a number.
    pub fn out(&self) -> u64 {
        self.0.out
    }
}

/// A vector before and after its function.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is tested, for a failure's message.
    pub op: Op,
    /// What the kernel gets.
    pub input: Vector,
    /// What it must make of it.
    pub expected: Vector,
}

/// Lengths and numbers at which something changes.
const EDGES: [u64; 12] = [
    0,
    1,
    2,
    1023,
    5_000,
    1_000_000,
    3_141_593,
    20_000_000,
    10_000_000_001,
    1 << 40,
    (1 << 63) + 1,
    u64::MAX,
];

const WEIGHTS: [u64; 6] = [0, 1, 11, 100, 10_000, u32::MAX as u64];

fn defaults(op: Op) -> raw::Vector {
    raw::Vector {
        op: op as u32,
        predictor: (&crate::PredictorConfig::default()).into(),
        deadline: (&crate::OrderConfig::default()).into(),
        ..raw::Vector::default()
    }
}

struct List(Vec<Case>);

impl List {
    fn push(&mut self, op: Op, input: raw::Vector) -> raw::Vector {
        let input = Vector(input);
        let expected = input.run();
        self.0.push(Case {
            op,
            input,
            expected,
        });
        expected.0
    }

    fn scalars(&mut self, op: Op, input: [u64; 4]) {
        for mode in 0..3 {
            let mut vector = defaults(op);
            vector.deadline.mode = mode;
            vector.input = input;
            self.push(op, vector);
            if !matches!(op, Op::RankOverrun) {
                break;
            }
        }
    }

    fn logarithms(&mut self) {
        for ns in EDGES {
            self.scalars(Op::Log2, [ns, 0, 0, 0]);
        }
        for log in [
            0,
            1,
            1023,
            1024,
            10_241,
            23_456,
            65_535,
            65_536,
            u64::from(u32::MAX),
        ] {
            self.scalars(Op::Exp2, [log, 0, 0, 0]);
        }
    }

    fn accounts(&mut self) {
        for ns in EDGES {
            for weight in WEIGHTS {
                self.scalars(Op::Charge, [ns, weight, 0, 0]);
                self.scalars(Op::Key, [1 << 40, ns, weight, 0]);
            }
            let clock = 1 << 40;
            for total in [0, 100, 250, u64::MAX] {
                self.scalars(Op::ClockAdvance, [clock + 7_000_000, clock, ns, total]);
                self.scalars(Op::ClockAdvance, [clock - 7_000_000, clock, ns, total]);
                self.scalars(Op::OvertakeService, [ns, clock, total, 0]);
            }
            self.scalars(Op::OwedService, [ns, 0, 0, 0]);
            self.scalars(Op::ClampWakeup, [ns, clock, 0, 0]);
            self.scalars(Op::ClampLag, [ns, clock, 100, 0]);
            self.scalars(Op::ClampLag, [ns, clock, 1, 0]);
            self.scalars(Op::Rebase, [ns, clock, 5_000_000, 0]);
            self.scalars(Op::Rebase, [ns, 5_000_000, clock, 0]);
            self.scalars(Op::RankOverrun, [2_000_000, ns, 0, 0]);
            self.scalars(Op::OvertakeLimit, [clock, ns, 88, 0]);
        }
    }

    fn slices(&mut self) {
        for mode in 0..3 {
            for ns in [0, 400_000, 1_000_000, 9_000_000, u64::MAX] {
                for confident in 0..2 {
                    for waiting in [0, 1, 4, u64::from(u32::MAX)] {
                        let mut vector = defaults(Op::Slice);
                        vector.deadline.mode = mode;
                        vector.estimate = raw::Estimate {
                            burst_ns: ns / 2,
                            q90_ns: ns,
                            confident,
                            expert: 0,
                        };
                        vector.input[0] = waiting;
                        self.push(Op::Slice, vector);
                        vector.op = Op::RankInitial as u32;
                        if waiting == 0 {
                            self.push(Op::RankInitial, vector);
                        }
                    }
                }
            }
        }
    }

    fn preemptions(&mut self, random: &mut Random) {
        for _ in 0..40 {
            let mut vector = defaults(Op::MakeWay);
            let mut contender = || raw::Contender {
                key: (1 << 40) + random.below(3_000_000),
                ran_ns: random.below(1_000_000),
                attained_ns: random.below(2_000_000),
                estimate_ns: random.below(4_000_000),
                confident: random.below(4).min(1) as u32,
                pad: 0,
            };
            vector.newcomer = contender();
            vector.victim = contender();
            vector.input[0] = random.below(1_000_000);
            self.push(Op::MakeWay, vector);
        }
    }

    /// A model from birth through sleeps, estimates and bursts, each step a vector; then a fork.
    fn life(&mut self, random: &mut Random, config: raw::PredictorConfig, bursts: [u64; 2]) {
        let mut state = defaults(Op::Wake);
        state.predictor = config;
        for round in 0..14 {
            let burst = random.around(bursts[round % 2], 0.1);
            let step = |list: &mut Self, mut vector: raw::Vector, op: Op, input: [u64; 4]| {
                vector.op = op as u32;
                vector.input = input;
                list.push(op, vector)
            };
            let wake = [
                random.log_uniform(1_000, 1_000_000_000),
                random.below(4),
                0,
                0,
            ];
            state = step(self, state, Op::Wake, wake);
            state = step(self, state, Op::Estimate, [0; 4]);
            if round % 5 == 4 {
                state = step(self, state, Op::Overrun, [burst / 2, 0, 0, 0]);
                state = step(self, state, Op::Estimate, [0; 4]);
            }
            state = step(self, state, Op::Train, [burst, 0, 0, 0]);
        }
        state.parent = state.model;
        state.model = raw::Model::default();
        state.op = Op::Inherit as u32;
        self.push(Op::Inherit, state);
    }

    fn lives(&mut self, random: &mut Random) {
        let config = raw::PredictorConfig::from(&crate::PredictorConfig::default());
        for predictor in 0..5 {
            for (init, updates) in [(0, 0), (1, 1)] {
                let config = raw::PredictorConfig {
                    predictor,
                    init,
                    updates,
                    ..config
                };
                self.life(random, config, [1_000_000, 5_000_000]);
            }
        }
        self.life(random, config, [5_000, 5_000]);
        self.life(random, config, [0, u64::MAX]);
    }

    /// Any bits at all.
    fn anything(&mut self, random: &mut Random) {
        for op in Op::ALL {
            for _ in 0..6 {
                let words = std::array::from_fn(|_| random.word());
                self.push(op, Vector::from_words(op, words).0);
            }
        }
    }
}

/// The list: the same on every machine and for every build of the same headers.
pub fn vectors() -> Vec<Case> {
    let mut list = List(Vec::new());
    let mut random = Random::new(1);
    list.logarithms();
    list.accounts();
    list.slices();
    list.preemptions(&mut random);
    list.lives(&mut random);
    list.anything(&mut random);
    list.0
}
