// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The stacks of a process by their names, for a thread that asks them.

use super::answers::{describe_page, describe_sums, error};
use super::question::{Query, Question, Watched};
use crate::stack::Stack;
use crate::wire::Wire;
use core::time::Duration;
use dpdk_rs::telemetry::Value;
use std::collections::BTreeMap;
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use thiserror::Error;

/// As many questions wait for a stack.
const MOST_QUESTIONS: usize = 4;

/// The longest name of a stack.
const LONGEST_NAME: usize = 63;

/// Why a stack was not added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name cannot be a name in an answer.
    #[error("'{0}' is no name of a stack: give 1 to 63 letters, digits or '_'")]
    Bad(String),
    /// Another stack has it.
    #[error("there is another stack with the name '{0}'")]
    Taken(String),
}

/// The ways to all stacks.
#[derive(Clone, Debug)]
pub(super) struct Stacks {
    by_name: Arc<Mutex<BTreeMap<String, Way>>>,
    patience: Duration,
}

#[derive(Debug)]
struct Way {
    questions: SyncSender<Question>,
    stack: Weak<()>,
}

impl Stacks {
    pub(super) fn new(patience: Duration) -> Self {
        Self { by_name: Arc::default(), patience }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Way>> {
        let mut ways = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        ways.retain(|_, way| way.stack.strong_count() > 0);
        ways
    }

    pub(super) fn add<W: Wire>(&self, name: &str, stack: &mut Stack<W>) -> Result<(), NameError> {
        let is_good = (1..=LONGEST_NAME).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_good {
            return Err(NameError::Bad(name.to_owned()));
        }
        let mut ways = self.lock();
        if ways.contains_key(name) {
            return Err(NameError::Taken(name.to_owned()));
        }
        let (questions, asked) = mpsc::sync_channel(MOST_QUESTIONS);
        let alive = Arc::new(());
        ways.insert(name.to_owned(), Way { questions, stack: Arc::downgrade(&alive) });
        stack.watch(Watched { questions: asked, _alive: alive });
        Ok(())
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Asks a stack, and waits for its answer.
    fn ask<T>(&self, name: &str, question: impl FnOnce(SyncSender<T>) -> Question) -> Result<T, String> {
        let (answer, answered) = mpsc::sync_channel(1);
        let questions = self.lock().get(name).map(|way| way.questions.clone());
        let questions =
            questions.ok_or_else(|| format!("no stack has the name '{name}': /sockets/list has the names"))?;
        let is_asked = questions.try_send(question(answer)).is_ok();
        let answer = is_asked.then(|| answered.recv_timeout(self.patience).ok()).flatten();
        let silence = || format!("stack '{name}' is not polled: it has not answered within {:?}", self.patience);
        answer.ok_or_else(silence)
    }

    pub(super) fn counters(&self, name: &str) -> Value {
        if !name.is_empty() {
            return self.ask(name, Question::Counters).map_or_else(error, |sums| describe_sums(&sums));
        }
        let describe = |name: String| {
            let sums = self.ask(&name, Question::Counters).map_or_else(error, |sums| describe_sums(&sums));
            (name, sums)
        };
        Value::dict(self.names().into_iter().map(describe))
    }

    pub(super) fn list(&self, text: &str) -> Value {
        if text.is_empty() {
            return Value::dict([("stacks", Value::from(self.names()))]);
        }
        let (name, conditions) = text.split_once(',').unwrap_or((text, ""));
        let page =
            Query::parse(conditions).and_then(|query| self.ask(name, |answer| Question::Connections(query, answer)));
        page.map_or_else(error, |page| describe_page(&page))
    }
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::wire::Memory;
    use dpdk_rs::MacAddr;
    use std::thread;

    /// A stack with so many connections, which have failed: nobody answers to ARP.
    fn stack(connections: u16) -> Stack<Memory> {
        let mut config = Config::new(MacAddr([2, 0, 0, 0, 0, 1]), "192.0.2.1/24".parse().unwrap());
        (config.receive_buffer, config.send_buffer) = (1, 1);
        let mut stack = Stack::new(Memory::default(), config).unwrap();
        for number in 0..connections {
            stack.connect(([192, 0, 2, if number % 2 == 0 { 2 } else { 3 }], 443).into()).unwrap();
        }
        for _ in 0..10 {
            stack.wire_mut().now += Duration::from_secs(1);
            stack.poll();
        }
        stack
    }

    /// What another thread gets while this one polls.
    fn ask<T: Send>(stack: &mut Stack<Memory>, ask: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let asking = scope.spawn(ask);
            while !asking.is_finished() {
                stack.wire_mut().now += Duration::from_millis(10);
                stack.poll();
            }
            asking.join().unwrap()
        })
    }

    fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
        let Value::Dict(fields) = value else { return None };
        fields.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// The names in a dictionary.
    fn names(value: Option<&Value>) -> Vec<&str> {
        let Some(Value::Dict(fields)) = value else { return Vec::new() };
        fields.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn a_list_has_pages() {
        let stacks = Stacks::new(Duration::from_secs(60));
        let mut stack = stack(20);
        assert_eq!(stacks.add("web", &mut stack), Ok(()));
        for (text, count, next) in [
            ("web", 16, Some(16)),
            ("web,from=16", 4, None),
            ("web,peer=192.0.2.2", 10, None),
            ("web,from=15,peer=192.0.2.2,state=CLOSED", 2, None),
            ("web,state=ESTABLISHED", 0, None),
            ("web,port=443", 0, None),
            ("web,from=99999999999", 0, None),
        ] {
            let answer = ask(&mut stack, || stacks.list(text));
            assert_eq!(field(&answer, "total"), Some(&Value::Uint(20)), "{text}");
            assert_eq!(field(&answer, "next"), next.map(Value::Uint).as_ref(), "{text}");
            assert_eq!(names(field(&answer, "connections")).len(), count, "{text}");
        }
        let answer = ask(&mut stack, || stacks.list("web,from=19"));
        let connections = field(&answer, "connections");
        assert_eq!(names(connections), ["19"], "each has its place in the list");
        let one = connections.and_then(|connections| field(connections, "19"));
        let peer = one.and_then(|one| field(one, "peer"));
        assert_eq!(peer, Some(&Value::from("192.0.2.3:443")));
    }

    /// Its other work does not wait until all were looked at.
    #[test]
    fn a_stack_looks_at_some_connections_only() {
        let stacks = Stacks::new(Duration::from_secs(60));
        let mut stack = stack(1_010);
        assert_eq!(stacks.add("web", &mut stack), Ok(()));
        for (text, next) in [("web,port=80", Some(1_000)), ("web,port=80,from=1000", None)] {
            let answer = ask(&mut stack, || stacks.list(text));
            assert_eq!(field(&answer, "next"), next.map(Value::Uint).as_ref(), "{text}");
            assert_eq!(names(field(&answer, "connections")), [""; 0]);
        }
    }

    #[test]
    fn stacks_are_told_apart_by_name() {
        let stacks = Stacks::new(Duration::from_secs(60));
        let (mut one, mut two) = (stack(1), stack(0));
        assert_eq!((stacks.add("one", &mut one), stacks.add("two_2", &mut two)), (Ok(()), Ok(())));
        let all = ask(&mut one, || ask(&mut two, || stacks.counters("")));
        let connects = |name| field(&all, name).and_then(|stack| field(stack, "connects"));
        assert_eq!((connects("one"), connects("two_2")), (Some(&Value::Uint(1)), Some(&Value::Uint(0))));
        let connections = field(&all, "one").and_then(|stack| field(stack, "connections"));
        assert_eq!(connections, Some(&Value::Uint(1)));

        assert_eq!(stacks.add("one", &mut two), Err(NameError::Taken("one".to_owned())));
        for bad in ["", "a b", "a,b", "ü", &"x".repeat(64)] {
            assert_eq!(stacks.add(bad, &mut two), Err(NameError::Bad(bad.to_owned())));
        }
        drop(one);
        assert_eq!(stacks.list(""), Value::dict([("stacks", vec!["two_2".to_owned()].into())]));
        assert_eq!(stacks.add("one", &mut two), Ok(()), "the name is free again");
        assert_eq!(stacks.names(), ["one"], "the old name of the other one is gone");
    }

    #[test]
    fn whoever_cannot_answer_is_named() {
        let stacks = Stacks::new(Duration::ZERO);
        let mut stack = stack(0);
        assert_eq!(stacks.add("web", &mut stack), Ok(()));
        for (answer, word) in [
            (stacks.counters("mail"), "'mail'"),
            (stacks.list("mail,from=1"), "'mail'"),
            (stacks.list("web,to=1"), "'to=1'"),
            (stacks.counters("web"), "not polled"),
        ] {
            let Some(Value::Text(error)) = field(&answer, "error") else { panic!("{answer:?}") };
            assert!(error.contains(word), "{error}");
        }
        // Questions that nobody waits for do not pile up, and are no harm when the stack is polled again.
        for _ in 0..100 {
            stacks.counters("web");
        }
        stack.wire_mut().now += Duration::from_secs(1);
        stack.poll();
    }
}
