// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Telemetry: what a command is given, and what becomes of its answer on DPDK's socket, as another library reads it.

use crate::{
    environment::{eal_with_telemetry, runtime_folder},
    reader::Reader,
};
use dpdk_rs::telemetry::{TelemetryCommand, Value};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, connect, recv, send, socket};
use serde_json::{Map, Value as Json};
use std::{
    cell::RefCell,
    fs,
    os::fd::{AsRawFd, OwnedFd},
    sync::{Arc, Mutex, PoisonError},
};

const COMMAND: &str = "/fuzz/answer";

/// What DPDK reads at once, and more than it answers at once.
const LONGEST_QUESTION: usize = 1023;
const LONGEST_ANSWER: usize = 1 << 15;

/// The most bytes of JSON, and the limits of its parts.
const MOST_JSON: usize = 16_000;
const MOST_ALONE: usize = 8191;
const MOST_WITHIN: usize = 127;
const MOST_IN_ARRAY: usize = 512;
const MOST_IN_DICT: usize = 256;
const DEEPEST: usize = 4;

/// The next answer, or none for an echo; and what the command was given last.
type Exchange = Arc<Mutex<(Option<Value>, String)>>;

/// A process's telemetry, and a connection to it.
struct Laboratory {
    client: OwnedFd,
    exchange: Exchange,
    _command: TelemetryCommand,
}

impl Laboratory {
    fn new() -> Self {
        let eal = eal_with_telemetry();
        let exchange = Exchange::default();
        let answers = Arc::clone(&exchange);
        let command = eal.register_telemetry(COMMAND, "Answers as the fuzzer likes.", move |parameters| {
            let mut exchange = answers.lock().unwrap_or_else(PoisonError::into_inner);
            parameters.clone_into(&mut exchange.1);
            exchange.0.take().unwrap_or_else(|| Value::from(parameters))
        });
        let folder = runtime_folder();
        let client = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None).expect("a socket");
        let address = UnixAddr::new(&folder.join("dpdk_telemetry.v2")).expect("the path is short enough");
        connect(client.as_raw_fd(), &address).expect("DPDK listens");
        // A process may end in any way: nothing of it is to stay behind.
        fs::remove_dir_all(&folder).expect("the folder is DPDK's own");
        let laboratory = Self { client, exchange, _command: command.expect("nobody else has the command") };
        assert!(laboratory.receive().get("version").is_some(), "DPDK says who it is");
        laboratory
    }

    fn receive(&self) -> Json {
        let mut bytes = vec![0; LONGEST_ANSWER];
        let len = recv(self.client.as_raw_fd(), &mut bytes, MsgFlags::empty()).expect("DPDK answers");
        bytes.truncate(len);
        let parsed = serde_json::from_slice(&bytes);
        parsed.unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&bytes)))
    }

    /// What the command was given, and the answer.
    fn ask(&self, answer: Option<Value>, question: &[u8]) -> (String, Json) {
        *self.exchange.lock().unwrap_or_else(PoisonError::into_inner) = (answer, String::new());
        let sent = send(self.client.as_raw_fd(), question, MsgFlags::empty()).expect("DPDK reads");
        assert_eq!(sent, question.len());
        let mut answer = self.receive();
        let answer = answer.get_mut(COMMAND).unwrap_or_else(|| panic!("{COMMAND} is not answered")).take();
        (self.exchange.lock().unwrap_or_else(PoisonError::into_inner).1.clone(), answer)
    }
}

/// A command is given its parameters, and its answer is read on the other side of the socket as it was, or is an error with a
/// reason if the answer exceeds the limits.
pub fn telemetry_answers(data: &[u8]) {
    thread_local! {
        static LABORATORY: RefCell<Option<Laboratory>> = const { RefCell::new(None) };
    }
    let mut reader = Reader::new(data);
    let answer = (reader.below(4) > 0).then(|| value(&mut reader, 0));
    let parameters = reader.bytes(2 * LONGEST_QUESTION);
    let question = [COMMAND.as_bytes(), b",", parameters].concat();
    let read = question.iter().take(LONGEST_QUESTION).skip(COMMAND.len() + 1);
    let read: Vec<u8> = read.copied().take_while(|byte| *byte != 0).collect();
    let given = String::from_utf8_lossy(&read);
    LABORATORY.with_borrow_mut(|laboratory| {
        let laboratory = laboratory.get_or_insert_with(Laboratory::new);
        let (found, answered) = laboratory.ask(answer.clone(), &question);
        assert_eq!(found, given, "the parameters");
        let value = answer.unwrap_or_else(|| Value::from(&*given));
        let sendable = expected(&value, 0).filter(|json| json.to_string().len() <= MOST_JSON);
        // What DPDK leaves out of a text counts where the bytes of JSON are limited.
        let close = longest(&value) > MOST_JSON;
        assert!(
            sendable.as_ref() == Some(&answered) || is_refusal(&answered) && (sendable.is_none() || close),
            "{value:?}: {answered}"
        );
    });
}

/// Whether an answer is an error with a reason, and nothing else.
fn is_refusal(answer: &Json) -> bool {
    let reason = answer.as_object().filter(|object| object.len() == 1).and_then(|object| object.get("error"));
    reason.and_then(Json::as_str).is_some_and(|reason| !reason.is_empty())
}

/// A value, mostly one that DPDK can tell.
fn value(reader: &mut Reader<'_>, depth: usize) -> Value {
    let kind = reader.byte();
    match kind % 8 {
        0 => Value::Int(reader.u64() as u32 as i32),
        1 => Value::Uint(reader.u64()),
        2 => Value::Uints((0..count(reader)).map(|_| reader.u64()).collect()),
        3 => Value::Texts((0..count(reader)).map(|_| text(reader)).collect()),
        4 | 5 if depth < DEEPEST + 2 && !reader.is_empty() => {
            let entries = (0..reader.below(6)).map(|number| {
                let name = if reader.below(8) == 0 { text(reader) } else { format!("name_{number}") };
                (name, value(reader, depth + 1))
            });
            Value::Dict(entries.collect())
        }
        6 if kind < 32 => Value::List((0..reader.below(6)).map(|_| value(reader, depth + 1)).collect()),
        6 if kind > 240 => {
            let entry = |number| (format!("/{number}"), Value::Int(number));
            Value::Dict((0..i32::from(reader.u16() % 260)).map(entry).collect())
        }
        _ => Value::Text(text(reader)),
    }
}

fn count(reader: &mut Reader<'_>) -> usize {
    let count = reader.byte();
    if count > 250 { MOST_IN_ARRAY - 2 + reader.below(5) } else { usize::from(count % 12) }
}

/// A text of the fuzzer's own bytes, or one byte many times.
fn text(reader: &mut Reader<'_>) -> String {
    match reader.byte() {
        255 => String::from(char::from(reader.byte() & 0x7f)).repeat(usize::from(reader.u16() % 8200)),
        254 => String::from(char::from(reader.byte() & 0x7f)).repeat(120 + reader.below(10)),
        len => String::from_utf8_lossy(reader.bytes(usize::from(len) % 40)).into_owned(),
    }
}

/// What the other side should read; `None` if the value is beyond the limits.
fn expected(value: &Value, depth: usize) -> Option<Json> {
    let most = if depth == 0 { MOST_ALONE } else { MOST_WITHIN };
    match value {
        Value::Text(text) => passed_on(text, most).map(Json::from),
        Value::Int(number) if depth == 0 => Some(number.to_string().into()),
        Value::Uint(number) if depth == 0 => Some(number.to_string().into()),
        Value::Int(number) => Some((*number).into()),
        Value::Uint(number) => Some((*number).into()),
        Value::Texts(texts) if texts.len() <= MOST_IN_ARRAY => {
            texts.iter().map(|text| passed_on(text, MOST_WITHIN).map(Json::from)).collect()
        }
        Value::Uints(numbers) if numbers.len() <= MOST_IN_ARRAY => {
            Some(numbers.iter().copied().map(Json::from).collect())
        }
        Value::Dict(entries) if depth <= DEEPEST && entries.len() <= MOST_IN_DICT => {
            let usable = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_/".contains(&byte));
            let entry = |(name, value): &(String, Value)| {
                let name = Some(name).filter(|name| usable(name) && name.len() <= MOST_WITHIN)?;
                Some((name.clone(), expected(value, depth + 1)?))
            };
            entries.iter().map(entry).collect::<Option<Map<_, _>>>().map(Json::from)
        }
        Value::List(values) if depth == 0 && values.len() <= MOST_IN_ARRAY => {
            let element = |value: &Value| match value {
                Value::Dict(_) | Value::Texts(_) | Value::Uints(_) => expected(value, depth + 1),
                _ => None,
            };
            values.iter().map(element).collect()
        }
        _ => None,
    }
}

/// A text as DPDK passes it on: without the control characters that it has no escape for.
fn passed_on(text: &str, most: usize) -> Option<String> {
    let usable = text.len() <= most && text.bytes().all(|byte| byte.is_ascii() && byte != 0);
    usable.then(|| text.chars().filter(|character| *character >= ' ' || "\n\r\t".contains(*character)).collect())
}

/// At most so many bytes of JSON.
fn longest(value: &Value) -> usize {
    let text = |text: &String| 2 * text.len() + 3;
    match value {
        Value::Text(alone) => text(alone),
        Value::Texts(texts) => 2 + texts.iter().map(text).sum::<usize>(),
        Value::Uints(numbers) => 2 + 21 * numbers.len(),
        Value::Dict(entries) => 2 + entries.iter().map(|(name, value)| text(name) + 1 + longest(value)).sum::<usize>(),
        Value::List(values) => 2 + values.iter().map(|value| 1 + longest(value)).sum::<usize>(),
        _ => 22,
    }
}
