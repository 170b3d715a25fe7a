// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The load generator against services on the kernel's sockets, with a thread for each connection, which a test can disturb.
#![allow(clippy::panic, clippy::unwrap_used)]
#![forbid(unsafe_code)]

use core::time::Duration;
use serde_json::{Value, json};
use services::{adder::Adder, echo::Echo, http::Http, origin::Origin, service::Service};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// What is done with the answer to a request, of which it gets the number. Returns whether the connection goes on.
type Disturb = fn(u64, &mut Vec<u8>) -> bool;

/// How many requests a service has answered. Who holds it stops all connections.
type Answered = Arc<Mutex<u64>>;

/// Starts a service, which runs until the test ends. Returns its port.
fn serve<T: Service>(disturb: Disturb) -> (String, Answered) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let answered = Answered::default();
    let all = Arc::clone(&answered);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let answered = Arc::clone(&all);
            thread::spawn(move || answer::<T>(stream.unwrap(), &answered, disturb));
        }
    });
    (port, answered)
}

fn answer<T: Service>(mut stream: TcpStream, answered: &Answered, disturb: Disturb) {
    stream.set_nodelay(true).unwrap();
    let (mut service, mut bytes, mut output) = (T::default(), [0; 8_192], Vec::new());
    while let Ok(len @ 1..) = stream.read(&mut bytes) {
        let taken = service.take(&bytes[..len], &mut output);
        let mut count = answered.lock().unwrap();
        *count += taken.answered;
        let goes_on = disturb(*count, &mut output);
        drop(count);
        if stream.write_all(&output).is_err() || taken.is_last || !goes_on {
            return;
        }
        output.clear();
    }
}

fn wait_for(answered: &Answered, count: u64) {
    while *answered.lock().unwrap() < count {
        thread::sleep(Duration::from_millis(1));
    }
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// The program, without a warm-up.
fn command(service: &str, port: &str, options: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_load"));
    command.args(["kernel", service, "127.0.0.1", port, "--warm-up", "0"]).args(options.split_whitespace());
    command
}

/// The exit status, and the objects that are printed.
fn run(service: &str, port: &str, options: &str) -> (Option<i32>, Vec<Value>) {
    let Output { status, stdout, stderr } = command(service, port, options).output().unwrap();
    assert!(stderr.is_empty(), "{}", String::from_utf8_lossy(&stderr));
    (status.code(), objects(&stdout))
}

fn objects(stdout: &[u8]) -> Vec<Value> {
    str::from_utf8(stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The exit status if a step is valid, or what a busy machine makes of it: the test goes on all the same.
fn is_ended(status: Option<i32>) -> bool {
    matches!(status, Some(0 | 3))
}

#[test]
fn every_request_is_answered_and_counted_exactly() {
    let undisturbed: Disturb = |_, _| true;
    let services = [
        ("adder", serve::<Http<Adder>>(undisturbed)),
        ("echo", serve::<Echo>(undisturbed)),
        ("origin", serve::<Http<Origin>>(undisturbed)),
    ];
    for (service, (port, answered)) in services {
        let options = "--rate 100,200 --seconds 0.5 --connections 4 --per-connection 7";
        let (status, objects) = run(service, &port, options);
        let [start, steps @ .., result] = &objects[..] else { panic!("{objects:?}") };
        assert!(is_ended(status) && steps.len() == 2, "{objects:?}");
        assert!(start["type"] == "start" && start["service"] == service && result["type"] == "result", "{objects:?}");
        let number = |object: &Value, field: &str| object[field].as_u64().unwrap();
        for step in steps {
            assert_eq!(step["sent"], step["answered"], "{step}");
            assert_eq!(step["latency_ns"]["count"], step["answered"], "{step}");
            assert!(step["wrong"] == 0 && step["broken"] == 0 && step["refused"] == 0, "{step}");
        }
        let planned: Vec<u64> = steps.iter().map(|step| number(step, "planned")).collect();
        assert_eq!(planned, [50, 100]);
        let sent = number(result, "answered");
        assert_eq!(sent, steps.iter().map(|step| number(step, "answered")).sum::<u64>());
        // Four connections have had seven requests each before they were opened anew.
        assert!(number(result, "opened") >= 4 + (sent / 7).saturating_sub(4), "{result}");
        // A farewell is a request too.
        let farewells = if service == "echo" { number(result, "opened") } else { 0 };
        assert_eq!(*answered.lock().unwrap(), sent + farewells);
    }
}

/// A service that stops once for 200 ms holds all requests up that are due meanwhile. Of those, only one for each connection is
/// sent before it goes on: times from sending on leave the others out (coordinated omission).
#[test]
fn latencies_count_from_the_planned_time() {
    let (port, _) = serve::<Http<Adder>>(|number, _| {
        if number == 500 {
            thread::sleep(Duration::from_millis(200));
        }
        true
    });
    let (status, objects) = run("adder", &port, "--rate 1000 --seconds 2 --connections 2");
    assert!(is_ended(status), "{objects:?}");
    let step = &objects[1];
    let p99 = |times: &str| Duration::from_nanos(step[times]["p99"].as_u64().unwrap());
    let long = Duration::from_millis(100);
    assert_eq!(step["planned"], 2_000);
    assert!(p99("latency_ns") >= long, "{step}");
    assert!(p99("service_time_ns") < long, "{step}");
    assert!(step["service_time_ns"]["max"].as_u64().unwrap() >= 199_000_000, "{step}");
}

/// The program is stopped for 200 ms, in which a tenth of its requests is due. Half of them have a connection, or fewer on a busy
/// machine.
#[test]
fn a_late_load_generator_makes_a_step_invalid() {
    let (port, answered) = serve::<Http<Adder>>(|_, _| true);
    let child = command("adder", &port, "--rate 1000 --seconds 2").stdout(Stdio::piped()).spawn().unwrap();
    wait_for(&answered, 100);
    signal(&child, "-STOP");
    thread::sleep(Duration::from_millis(200));
    signal(&child, "-CONT");
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    let objects = objects(&stdout);
    assert_eq!(status.code(), Some(3), "{objects:?}");
    let step = &objects[1];
    assert!(step["lag_ns"]["max"].as_u64().unwrap() >= 100_000_000, "{step}");
    assert!(step["reasons"].to_string().contains("the load generator was late"), "{step}");
}

#[test]
fn a_closed_loop_says_so_and_has_no_planned_times() {
    let (port, answered) = serve::<Http<Origin>>(|_, _| true);
    let (status, objects) = run("origin", &port, "--seconds 0.2 --connections 3");
    assert!(is_ended(status), "{objects:?}");
    let step = &objects[1];
    assert_eq!(step["loop"], "closed");
    assert!(step["planned"].is_null() && step["latency_ns"].is_null() && step["lag_ns"].is_null(), "{step}");
    assert_eq!(step["service_time_ns"]["count"], *answered.lock().unwrap());
}

#[test]
fn wrong_answers_and_broken_connections_make_a_step_invalid() {
    let (port, _) = serve::<Echo>(|number, output| {
        if number == 5 {
            output[100] ^= 1;
        }
        number != 20
    });
    let (status, objects) = run("echo", &port, "--rate 100 --seconds 0.5 --connections 4 --size 500");
    assert_eq!(status, Some(3), "{objects:?}");
    let (step, result) = (&objects[1], &objects[2]);
    assert!(step["wrong"] == 1 && step["broken"] == 1 && step["valid"] == false, "{step}");
    let reasons = step["reasons"].to_string();
    assert!(reasons.contains("wrong answers: 1, the first one because byte 100 is 0x"), "{reasons}");
    assert!(reasons.contains("broken connections: 1"), "{reasons}");
    assert!(result["valid"] == false && result["invalid_steps"] == json!([1]), "{result}");
    assert!(result["broken"] == 1 && result["reasons"] == json!([]), "{result}");
}

#[test]
fn a_signal_ends_it_with_the_results_so_far() {
    let (port, answered) = serve::<Http<Adder>>(|_, _| true);
    let child = command("adder", &port, "--rate 50,60 --seconds 3600").stdout(Stdio::piped()).spawn().unwrap();
    wait_for(&answered, 5);
    signal(&child, "-INT");
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    let objects = objects(&stdout);
    assert!(is_ended(status.code()), "{objects:?}");
    let [_, step, result] = &objects[..] else { panic!("{objects:?}") };
    assert!(step["interrupted"] == true && result["interrupted"] == true && result["steps"] == 1, "{objects:?}");
}

#[test]
fn what_the_machine_lacks_is_status_1_with_the_remedy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let fails = |mut command: Command, told: &str| {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&stderr);
        assert_eq!((status.code(), stdout.len()), (Some(1), 0), "{stderr}");
        assert!(stderr.starts_with("load: ") && stderr.contains(told) && stderr.lines().count() == 1, "{stderr}");
    };
    // The port of the listener, which is at another address.
    let mut nobody = Command::new(env!("CARGO_BIN_EXE_load"));
    nobody.args(["kernel", "adder", "127.0.0.2", &port]);
    fails(nobody, "0 of 100 connections are open: nothing listens there: start the service");

    let limited = |limit: &str| {
        let mut shell = Command::new("sh");
        let load = env!("CARGO_BIN_EXE_load");
        shell.args(["-c", &format!("ulimit {limit} 50; exec {load} kernel adder 127.0.0.2 {port}")]);
        shell
    };
    fails(limited("-n"), "100 connections need 132 open files, and 50 are allowed: give fewer --connections, or raise");
    // The hard limit is higher.
    fails(limited("-S -n"), "nothing listens there");
}

#[test]
fn wrong_use_is_status_2() {
    let output = command("adder", "80", "--rate fast").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.starts_with("load: invalid value 'fast' for --rate: give max, or requests a second"), "{told}");
    assert!(told.ends_with("Run with '--help' for the options.\n"), "{told}");
    let help = Command::new(env!("CARGO_BIN_EXE_load")).arg("--help").output().unwrap();
    assert!(help.status.success() && help.stdout.starts_with(b"usage: load kernel SERVICE"));
}
