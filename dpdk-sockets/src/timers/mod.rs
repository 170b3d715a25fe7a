// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A timer wheel of two levels: to schedule costs the same however many timers there are.

/// Slots of each level. The near one has a slot for each tick, the far one a slot for each turn of the near one.
const SLOTS: u64 = 1_024;

/// Keys that fall due at ticks. A key can be scheduled several times, and nothing is taken back: whoever is handed a key
/// that is due checks whether it has something to do.
#[derive(Debug)]
pub(crate) struct Wheel<K> {
    near: Vec<Vec<K>>,
    far: Vec<Vec<(u64, K)>>,
    /// The first tick that has not passed.
    tick: u64,
}

impl<K: Copy> Wheel<K> {
    pub(crate) fn new() -> Self {
        Self { near: slots(), far: slots(), tick: 0 }
    }

    /// The key is due when tick `at` passes; at the next one, if `at` has passed.
    pub(crate) fn schedule(&mut self, key: K, at: u64) {
        let at = at.max(self.tick);
        if at - self.tick < SLOTS {
            slot(&mut self.near, at).push(key);
        } else {
            // Whatever is too far away for its turn is scheduled again in the last one.
            let turn = (at / SLOTS).min(self.tick / SLOTS + SLOTS - 1);
            slot(&mut self.far, turn).push((at, key));
        }
    }

    /// Moves the keys that are due at tick `now` or before into `due`.
    pub(crate) fn expire(&mut self, now: u64, due: &mut Vec<K>) {
        while self.tick <= now {
            if self.tick.is_multiple_of(SLOTS) {
                for (at, key) in core::mem::take(slot(&mut self.far, self.tick / SLOTS)) {
                    self.schedule(key, at);
                }
            }
            due.append(slot(&mut self.near, self.tick));
            self.tick += 1;
        }
    }
}

fn slots<T>() -> Vec<Vec<T>> {
    (0..SLOTS).map(|_| Vec::new()).collect()
}

fn slot<T>(slots: &mut [T], number: u64) -> &mut T {
    &mut slots[(number % SLOTS) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is scheduled when, it falls due exactly at its tick, and once.
    #[test]
    fn each_key_is_due_at_its_tick() {
        let mut wheel = Wheel::new();
        let mut random = 1_u64;
        let mut expected = std::collections::BTreeMap::<u64, Vec<u64>>::new();
        let mut tick = 0;
        for number in 0..20_000_u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let after = [3, 1_000, 1_030, 70_000, 1_100_000, 3_000_000][(random >> 60) as usize % 6];
            let at = tick + (random >> 20) % after;
            wheel.schedule(number, at);
            expected.entry(at).or_default().push(number);
            if number % 4 == 0 {
                let now = tick + (random >> 30) % 50;
                let mut due = Vec::new();
                wheel.expire(now, &mut due);
                let later = expected.split_off(&(now + 1));
                let mut right: Vec<u64> = core::mem::replace(&mut expected, later).into_values().flatten().collect();
                right.sort_unstable();
                due.sort_unstable();
                assert_eq!(due, right, "at {now}");
                tick = now + 1;
            }
        }
        let mut due = Vec::new();
        wheel.expire(tick + 3_000_000, &mut due);
        assert_eq!(due.len(), expected.values().map(Vec::len).sum::<usize>());
    }
}
