// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Telemetry commands, asked over DPDK's own socket, beside what their answers should be in JSON.

use crate::{context::panic_on_purpose, model::lock, process::runtime_folder};
use dpdk_rs::{
    Eal,
    telemetry::{TelemetryCommand, TelemetryError, Value},
};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, connect, recv, send, socket};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::{
    collections::BTreeMap,
    os::fd::{AsRawFd, OwnedFd},
    sync::{Arc, Mutex, OnceLock},
};

/// How many commands there are. DPDK forgets none, nor does the memory for their names end: they are always the same.
const COMMANDS: u8 = 4;

/// More than DPDK answers at once.
const LONGEST_ANSWER: usize = 1 << 15;

/// The most bytes of JSON, and of texts: alone, and within something else.
const MOST_JSON: usize = 16_000;
const MOST_ALONE: usize = 8191;
const MOST_WITHIN: usize = 127;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct CommandPlan {
    #[proptest(strategy = "vec(any::<CommandDeed>(), 0..16)")]
    deeds: Vec<CommandDeed>,
}

#[derive(Arbitrary, Clone, Debug)]
pub(crate) enum CommandDeed {
    #[proptest(weight = 3)]
    Register {
        #[proptest(strategy = "0..COMMANDS")]
        command: u8,
        answer: AnswerPlan,
    },
    Drop {
        #[proptest(strategy = "0..COMMANDS")]
        command: u8,
    },
    #[proptest(weight = 4)]
    Ask {
        #[proptest(strategy = "0..COMMANDS")]
        command: u8,
        #[proptest(strategy = "text(0..40)")]
        parameters: String,
    },
}

#[derive(Arbitrary, Clone, Debug)]
pub(crate) enum AnswerPlan {
    #[proptest(weight = 4)]
    Value(#[proptest(strategy = "values()")] Value),
    /// What it is given.
    Echo,
    /// So many texts of one length: around what DPDK has room for.
    Many {
        #[proptest(strategy = "prop_oneof![3 => 0_usize..20, 2 => 115_usize..130, 1 => 500_usize..515]")]
        count: usize,
        #[proptest(strategy = "prop_oneof![1 => 0_usize..4, 3 => 110_usize..129]")]
        len: usize,
    },
    Panic,
}

/// Mostly what DPDK can tell.
fn text(len: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let character = prop_oneof![
        60 => prop::sample::select(vec!['a', 'Z', '0', '_', '/', ' ', '{', ':', ',']),
        6 => prop::sample::select(vec!['"', '\\', '\n', '\t', '\u{1}', '\u{7f}']),
        1 => Just('ü'),
    ];
    vec(character, len).prop_map(|characters| characters.into_iter().collect())
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![20 => "[a-zA-Z0-9_/]{1,8}", 1 => text(0..4), 1 => "a{126,129}"]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text(0..12).prop_map(Value::Text),
        text(120..132).prop_map(Value::Text),
        any::<i32>().prop_map(Value::Int),
        any::<u64>().prop_map(Value::Uint),
        vec(text(0..6), 0..5).prop_map(Value::Texts),
        vec(any::<u64>(), 0..5).prop_map(Value::Uints),
    ];
    leaf.prop_recursive(6, 24, 4, |inner| {
        prop_oneof![
            6 => vec((name(), inner.clone()), 0..4).prop_map(Value::Dict),
            1 => vec(inner, 0..4).prop_map(Value::List),
        ]
    })
}

/// What DPDK should make of a value; `None` if it cannot tell it.
fn json(value: &Value, depth: usize) -> Option<String> {
    let joined = |parts: Option<Vec<String>>| parts.map(|parts| parts.join(","));
    match value {
        Value::Text(text) => quoted(text, if depth == 0 { MOST_ALONE } else { MOST_WITHIN }),
        Value::Int(number) if depth == 0 => Some(format!("\"{number}\"")),
        Value::Int(number) => Some(number.to_string()),
        Value::Uint(number) if depth == 0 => Some(format!("\"{number}\"")),
        Value::Uint(number) => Some(number.to_string()),
        Value::Texts(texts) if texts.len() <= 512 => {
            joined(texts.iter().map(|text| quoted(text, MOST_WITHIN)).collect()).map(|all| format!("[{all}]"))
        }
        Value::Uints(numbers) => {
            joined(Some(numbers.iter().map(u64::to_string).collect())).map(|all| format!("[{all}]"))
        }
        Value::Dict(entries) if depth <= 4 => {
            let entry = |(name, value): &(String, Value)| {
                let right = name.chars().all(|character| character.is_ascii_alphanumeric() || "_/".contains(character));
                let value = json(value, depth + 1)?;
                (right && name.len() <= MOST_WITHIN).then(|| format!("\"{name}\":{value}"))
            };
            joined(entries.iter().map(entry).collect()).map(|all| format!("{{{all}}}"))
        }
        Value::List(values) if depth == 0 => {
            let element = |value: &Value| match value {
                Value::Dict(_) | Value::Texts(_) | Value::Uints(_) => json(value, depth + 1),
                _ => None,
            };
            joined(values.iter().map(element).collect()).map(|all| format!("[{all}]"))
        }
        _ => None,
    }
}

/// A text as DPDK writes it: it leaves out what it has no escape for.
fn quoted(text: &str, most: usize) -> Option<String> {
    if text.len() > most || !text.is_ascii() {
        return None;
    }
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\0'..' ' => (),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    Some(quoted)
}

/// The connection, one for all sequences of a process.
static CLIENT: OnceLock<Mutex<OwnedFd>> = OnceLock::new();

/// Connects to DPDK's socket, and has both sides allocate what they allocate once.
pub(crate) fn warm_up(eal: &Eal) {
    let client = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None).expect("a socket");
    let address = UnixAddr::new(&runtime_folder().join("dpdk_telemetry.v2")).expect("the path is short enough");
    connect(client.as_raw_fd(), &address).expect("DPDK listens");
    let hello = receive(&client);
    assert!(hello.starts_with("{\"version\":"), "{hello}");
    CLIENT.set(Mutex::new(client)).expect("once a process");
    let deeds = (0..COMMANDS).flat_map(|command| {
        let ask = || CommandDeed::Ask { command, parameters: String::new() };
        let register = |answer| CommandDeed::Register { command, answer };
        [register(AnswerPlan::Panic), ask(), CommandDeed::Drop { command }, register(AnswerPlan::Echo), ask()]
    });
    run(eal, &CommandPlan { deeds: deeds.collect() });
}

fn receive(client: &OwnedFd) -> String {
    let mut bytes = vec![0; LONGEST_ANSWER];
    let len = recv(client.as_raw_fd(), &mut bytes, MsgFlags::empty()).expect("DPDK answers");
    String::from_utf8(bytes[..len].to_vec()).expect("an answer is text")
}

fn ask(command: &str, parameters: &str) -> String {
    let client = lock(CLIENT.get().expect("connected before the first sequence"));
    let question = if parameters.is_empty() { command.to_owned() } else { format!("{command},{parameters}") };
    let sent = send(client.as_raw_fd(), question.as_bytes(), MsgFlags::empty()).expect("DPDK reads");
    assert_eq!(sent, question.len());
    receive(&client)
}

/// The error in an answer, as JSON, with a reason that is not empty; nothing if there is no error.
fn error_of(answer: &str) -> String {
    let reason = answer.split_once("{\"error\":\"").and_then(|(_, rest)| rest.strip_suffix("\"}}"));
    reason.filter(|reason| !reason.is_empty()).map_or_else(String::new, |reason| format!("{{\"error\":\"{reason}\"}}"))
}

/// Does with commands what is planned, and drops those that are left.
pub(crate) fn run(eal: &Eal, plan: &CommandPlan) {
    let name = |command: u8| format!("/sequences/c{command}");
    let alive = Arc::new(());
    let mut held: BTreeMap<u8, (TelemetryCommand, &AnswerPlan)> = BTreeMap::new();
    for deed in &plan.deeds {
        match deed {
            CommandDeed::Register { command, answer } => {
                let (planned, counted) = (answer.clone(), Arc::clone(&alive));
                let registered = eal.register_telemetry(&name(*command), "One of the sequences.", move |parameters| {
                    let _ = &counted;
                    planned.answer(parameters)
                });
                match registered {
                    Ok(made) => {
                        assert_eq!(made.command(), name(*command));
                        assert!(held.insert(*command, (made, answer)).is_none(), "registered twice");
                    }
                    Err(error) => {
                        assert_eq!(error, TelemetryError::Taken(name(*command)));
                        assert!(held.contains_key(command));
                    }
                }
            }
            CommandDeed::Drop { command } => drop(held.remove(command)),
            CommandDeed::Ask { command, parameters } => {
                let answer = ask(&name(*command), parameters);
                let expected = match held.get(command) {
                    None | Some((_, AnswerPlan::Panic)) => "null".to_owned(),
                    Some((_, plan)) => {
                        let sendable = plan.expected(parameters).filter(|json| json.len() <= MOST_JSON);
                        // The reason is the library's own.
                        sendable.unwrap_or_else(|| error_of(&answer))
                    }
                };
                assert_eq!(answer, format!("{{\"{}\":{expected}}}", name(*command)));
            }
        }
        assert_eq!(Arc::strong_count(&alive), 1 + held.len(), "closures");
    }
    drop(held);
    assert_eq!(Arc::strong_count(&alive), 1, "closures that were not dropped");
}

impl AnswerPlan {
    fn answer(&self, parameters: &str) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::Echo => Value::from(parameters),
            Self::Many { count, len } => Value::from(vec!["x".repeat(*len); *count]),
            Self::Panic => panic_on_purpose(),
        }
    }

    /// What DPDK should say; `None` if it has no answer.
    fn expected(&self, parameters: &str) -> Option<String> {
        match self {
            Self::Panic => None,
            answer => json(&answer.answer(parameters), 0),
        }
    }
}
