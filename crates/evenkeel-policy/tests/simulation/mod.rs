// SPDX-License-Identifier: GPL-2.0-only
//! A machine of a few CPUs over one queue, driven by the policy's own functions.
//!
//! It does what the scheduler does with them: an account per task, one clock, the lowest key first,
//! slices, preemption on wakeup, clamps on wakeup and on queueing. Time is exact; a switch is free.

use evenkeel_policy::Estimate;
use evenkeel_policy::order::{self, CLOCK_START, Contender, OrderConfig};
use evenkeel_policy::random::Random;

/// What a task does.
#[derive(Clone, Copy, Debug)]
pub enum Habit {
    /// Runs for ever.
    Hog,
    /// Runs for up to the first, sleeps for up to the second.
    Sleeper(u64, u64),
    /// Runs for up to this, exits, and is at once forked anew.
    Fork(u64),
}

/// What the predictor says of it.
#[derive(Clone, Copy, Debug)]
pub enum Belief {
    /// The burst's true length, a hog's being long.
    True,
    /// One nanosecond, with confidence: the worst lie.
    Short,
    /// Nothing.
    Unsure,
}

#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub weight: u32,
    pub habit: Habit,
    pub belief: Belief,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Asleep { until: u64 },
    Waiting,
    Running,
}

#[derive(Clone, Debug)]
struct Task {
    spec: Spec,
    state: State,
    estimate: Estimate,
    v: u64,
    rank: u64,
    key: u64,
    attained: u64,
    left: u64,
    service: u64,
    /// The clock when it last woke or was forked.
    came: u64,
    /// When it was queued: clock, time, weight of all (highest since), what others were owed.
    queued: (u64, u64, u64, u64),
}

#[derive(Clone, Copy)]
struct Cpu {
    task: usize,
    started: u64,
    ends: u64,
    preempted: u64,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Service of each task, ns.
    pub service: Vec<u64>,
    /// The highest ratio of a wait to its bound.
    pub worst: f64,
    /// Waits served after somebody who came when that was no longer allowed.
    pub overtaken_late: usize,
    pub waits: usize,
}

pub struct Machine {
    config: OrderConfig,
    random: Random,
    tasks: Vec<Task>,
    cpus: Vec<Option<Cpu>>,
    now: u64,
    clock: u64,
    total_weight: u64,
    outcome: Outcome,
}

impl Machine {
    pub fn new(config: OrderConfig, cpus: usize, specs: &[Spec], seed: u64) -> Self {
        let mut machine = Self {
            config,
            random: Random::new(seed),
            tasks: Vec::new(),
            cpus: vec![None; cpus],
            now: 0,
            clock: CLOCK_START,
            total_weight: 0,
            outcome: Outcome::default(),
        };
        for spec in specs {
            let until = machine.random.below(10_000_000);
            machine.tasks.push(Task {
                spec: *spec,
                state: State::Asleep { until },
                estimate: Estimate::new(1, 1, false),
                v: CLOCK_START,
                rank: 0,
                key: 0,
                attained: 0,
                left: 0,
                service: 0,
                came: CLOCK_START,
                queued: (0, 0, 0, 0),
            });
        }
        machine
    }

    /// Runs until `end`, ns.
    pub fn run(mut self, end: u64) -> Outcome {
        while self.now < end {
            self.wake_sleepers();
            self.dispatch();
            self.now = self.next_event().min(end);
            self.end_slices();
        }
        self.outcome.service = self.tasks.iter().map(|task| task.service).collect();
        self.outcome
    }

    fn next_event(&self) -> u64 {
        let wakes = self.tasks.iter().filter_map(|task| match task.state {
            State::Asleep { until } => Some(until),
            _ => None,
        });
        let ends = self.cpus.iter().flatten().map(|cpu| cpu.ends);
        wakes
            .chain(ends)
            .min()
            .unwrap_or(u64::MAX)
            .max(self.now + 1)
    }

    fn wake_sleepers(&mut self) {
        for i in 0..self.tasks.len() {
            if matches!(self.tasks[i].state, State::Asleep { until } if until <= self.now) {
                self.begin_burst(i, false);
                self.shorten_slices();
                self.preempt_for(i);
            }
        }
    }

    fn begin_burst(&mut self, i: usize, forked: bool) {
        let Spec {
            weight,
            habit,
            belief,
        } = self.tasks[i].spec;
        let burst = match habit {
            Habit::Hog => u64::MAX / 2,
            Habit::Sleeper(most, _) | Habit::Fork(most) => 1000 + self.random.below(most),
        };
        let task = &mut self.tasks[i];
        task.v = if forked {
            self.clock
        } else {
            order::clamp_wakeup(&self.config, task.v, self.clock)
        };
        task.came = self.clock;
        task.left = burst;
        task.attained = 0;
        task.estimate = match belief {
            Belief::True => Estimate::new(burst, burst, true),
            Belief::Short => Estimate::new(1, 1, true),
            Belief::Unsure => Estimate::new(1, 1, false),
        };
        task.rank = order::rank_initial(&self.config, &task.estimate);
        self.total_weight += u64::from(weight);
        self.queue(i);
    }

    fn queue(&mut self, i: usize) {
        let task = &mut self.tasks[i];
        task.v = order::clamp_lag(&self.config, task.v, self.clock, task.spec.weight);
        task.rank = order::rank_overrun(&self.config, task.rank, task.attained);
        task.key = order::key(task.v, task.rank, task.spec.weight);
        task.state = State::Waiting;
        let key = task.key;
        let owed = self.owed_before(key);
        self.tasks[i].queued = (self.clock, self.now, self.total_weight, owed);
        for task in self
            .tasks
            .iter_mut()
            .filter(|task| task.state == State::Waiting)
        {
            task.queued.2 = task.queued.2.max(self.total_weight);
        }
    }

    /// The service that tasks more than L behind the clock get before that lag is made up, as far
    /// as it can keep a waiter with `key` waiting.
    fn owed_before(&self, key: u64) -> u64 {
        let level = key.min(self.clock - self.config.lag_ns);
        let runnable = self
            .tasks
            .iter()
            .filter(|task| !matches!(task.state, State::Asleep { .. }));
        runnable
            .map(|task| level.saturating_sub(task.v) * u64::from(task.spec.weight) / 100)
            .sum()
    }

    /// Somebody waits now: a slice meant for a task alone is too long.
    fn shorten_slices(&mut self) {
        for cpu in self.cpus.iter_mut().flatten() {
            cpu.ends = cpu
                .ends
                .min(self.now.max(cpu.started + self.config.slice_max_ns));
        }
    }

    /// The CPU whose task has the latest key gives way, if the policy says so.
    fn preempt_for(&mut self, i: usize) {
        let newcomer = self.contender(i, 0);
        let victim = self.cpus.iter().enumerate().filter_map(|(at, cpu)| {
            let cpu = (*cpu)?;
            Some((
                at,
                self.contender(cpu.task, self.now - cpu.started),
                cpu.preempted,
            ))
        });
        if self.cpus.iter().any(Option::is_none) {
            return;
        }
        let Some((at, victim, preempted)) = victim.max_by_key(|(_, victim, _)| victim.key) else {
            return;
        };
        let since = self.now.saturating_sub(preempted);
        if let Some(wait) = order::make_way(&self.config, &newcomer, &victim, since) {
            if let Some(cpu) = &mut self.cpus[at]
                && self.now + wait < cpu.ends
            {
                cpu.ends = self.now + wait;
                cpu.preempted = cpu.ends;
            }
            self.end_slices();
        }
    }

    fn contender(&self, i: usize, ran: u64) -> Contender {
        let task = &self.tasks[i];
        let attained = task.attained + ran;
        let rank = order::rank_overrun(&self.config, task.rank, attained);
        let v = task.v + order::charge(ran, task.spec.weight);
        Contender {
            key: order::key(v, rank, task.spec.weight),
            ran_ns: ran,
            attained_ns: attained,
            estimate_ns: task.estimate.burst_ns,
            confident: task.estimate.confident,
        }
    }

    fn end_slices(&mut self) {
        for at in 0..self.cpus.len() {
            let Some(cpu) = self.cpus[at] else { continue };
            if cpu.ends > self.now {
                continue;
            }
            let ran = self.now - cpu.started;
            self.charge(cpu.task, ran);
            self.cpus[at] = None;
            if self.tasks[cpu.task].left == 0 {
                self.end_burst(cpu.task);
            } else {
                self.queue(cpu.task);
            }
        }
    }

    fn charge(&mut self, i: usize, ran: u64) {
        let task = &mut self.tasks[i];
        self.clock += order::clock_advance(task.v, self.clock, ran, self.total_weight);
        task.v += order::charge(ran, task.spec.weight);
        task.attained += ran;
        task.left -= ran;
        task.service += ran;
    }

    fn end_burst(&mut self, i: usize) {
        self.total_weight -= u64::from(self.tasks[i].spec.weight);
        match self.tasks[i].spec.habit {
            Habit::Sleeper(_, most) => {
                let until = self.now + 1000 + self.random.below(most);
                self.tasks[i].state = State::Asleep { until };
            }
            Habit::Hog | Habit::Fork(_) => self.begin_burst(i, true),
        }
    }

    fn dispatch(&mut self) {
        for at in 0..self.cpus.len() {
            if self.cpus[at].is_some() {
                continue;
            }
            let waiting = self
                .tasks
                .iter()
                .enumerate()
                .filter(|(_, task)| task.state == State::Waiting);
            let company = waiting.clone().count() as u32;
            let Some((i, _)) = waiting.min_by_key(|(_, task)| task.key) else {
                break;
            };
            self.note_wait(i);
            let slice = order::slice(&self.config, &self.tasks[i].estimate, company - 1);
            self.tasks[i].state = State::Running;
            self.cpus[at] = Some(Cpu {
                task: i,
                started: self.now,
                ends: self.now + slice.min(self.tasks[i].left),
                preempted: 0,
            });
        }
    }

    fn note_wait(&mut self, i: usize) {
        let task = &self.tasks[i];
        let (clock, since, weight, owed) = task.queued;
        let bound = order::overtake_service(&self.config, task.key, clock, weight)
            + owed
            + self.config.slice_max_ns;
        let ratio = (self.now - since) as f64 / bound as f64;
        self.outcome.worst = self.outcome.worst.max(ratio);
        self.outcome.waits += 1;
        self.outcome.overtaken_late += self
            .tasks
            .iter()
            .enumerate()
            .filter(|(j, other)| *j != i && other.state == State::Waiting)
            .filter(|(_, other)| {
                let limit =
                    order::overtake_limit(&self.config, other.v, other.rank, other.spec.weight);
                task.came > limit
            })
            .count();
    }
}
