// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Commands that the program answers on DPDK's telemetry socket, asked by DPDK's own tool.

use crate::{
    frames::pool,
    process::{VARIABLE, eal_args, finish, init, isolated, isolated_bare},
};
use dpdk_rs::{
    CaptureError, Eal, Mempool,
    telemetry::{TelemetryError, Value},
};
use std::{env, process::Command};

/// What the tool prints for each of these commands.
fn ask(commands: &[&str]) -> Vec<String> {
    let prefix = env::var(VARIABLE).unwrap();
    let lines = commands.join("\n");
    let script = format!("printf '%s\\n' '{lines}' | dpdk-telemetry.py -f {prefix}");
    let finished = finish(Command::new("sh").args(["-c", &script]));
    assert!(finished.status.success(), "{}{}", finished.stdout, finished.stderr);
    finished.stdout.lines().map(str::to_owned).collect()
}

/// An EAL with its telemetry socket.
fn eal() -> Eal {
    let args = eal_args(&["net_null0"]);
    init(args.into_iter().filter(|arg| arg != "--no-telemetry")).unwrap().0
}

fn tool_is_missing() -> bool {
    let missing = Command::new("dpdk-telemetry.py").arg("--help").output().is_err();
    if missing {
        println!("skipped: 'dpdk-telemetry.py' is missing: install the package dpdk-dev");
    }
    missing
}

#[test]
fn commands_are_answered_until_they_are_dropped() {
    if tool_is_missing() {
        return;
    }
    isolated_bare(|| {
        let eal = eal();
        let mut calls = 0_u32;
        let count = eal.register_telemetry("/test/count", "Counts its calls. No parameters.", move |_| {
            calls += 1;
            Value::dict([("calls", Value::from(calls))])
        });
        let count = count.unwrap();
        let echo = eal.register_telemetry("/test/echo", "Gives its parameter back.", |text| Value::from(text)).unwrap();
        assert_eq!((count.command(), echo.command()), ("/test/count", "/test/echo"));
        let answers =
            ask(&["/test/count", "/test/echo,a \"quoted\" text,1", "/test/echo", "/test/count", "/help,/test/echo"]);
        assert_eq!(
            answers,
            [
                r#"{"/test/count": {"calls": 1}}"#,
                r#"{"/test/echo": "a \"quoted\" text,1"}"#,
                r#"{"/test/echo": ""}"#,
                r#"{"/test/count": {"calls": 2}}"#,
                r#"{"/help": {"/test/echo": "Gives its parameter back."}}"#,
            ]
        );
        assert_eq!(
            eal.register_telemetry("/test/count", "", |_| Value::Int(0)).unwrap_err(),
            TelemetryError::Taken("/test/count".to_owned())
        );
        drop(count);
        assert_eq!(ask(&["/test/count", "/test/echo,x"]), [r#"{"/test/count": null}"#, r#"{"/test/echo": "x"}"#]);
        let again = eal.register_telemetry("/test/count", "", |_| Value::Int(-7)).unwrap();
        assert_eq!(ask(&["/test/count"]), [r#"{"/test/count": "-7"}"#]);
        drop((eal, again));
        // The other command keeps the EAL.
        assert_eq!(ask(&["/test/echo,still"]), [r#"{"/test/echo": "still"}"#]);
    });
}

#[test]
fn values_of_every_kind_come_out_as_json() {
    if tool_is_missing() {
        return;
    }
    isolated_bare(|| {
        let eal = eal();
        let inner = || Value::dict([("deepest", Value::Uint(u64::MAX))]);
        let all = eal.register_telemetry("/test/all", "", move |_| {
            Value::dict([
                ("text", Value::from("with a \" in it")),
                ("int", Value::Int(i32::MIN)),
                ("uint", Value::Uint(u64::MAX)),
                ("texts", Value::from(vec!["a".to_owned(), "b".to_owned()])),
                ("uints", Value::from(vec![0, u64::MAX])),
                ("in/side", Value::dict([("deeper", inner())])),
            ])
        });
        let numbers = eal.register_telemetry("/test/numbers", "", |_| Value::from((0..512).collect::<Vec<u64>>()));
        let bad = eal.register_telemetry("/test/bad", "", |_| Value::dict([("not a name", Value::Int(1))]));
        let panics = eal.register_telemetry("/test/panics", "", |_| std::panic::resume_unwind(Box::new(1)));
        // DPDK would look for 'ü' in front of a table, and write behind an array where so little room is left.
        let foreign = eal.register_telemetry("/test/foreign", "", |_| Value::from("Zürich"));
        let long = eal.register_telemetry("/test/long", "", |text| {
            let rest = text.parse().unwrap_or_default();
            let full = (0..125).map(|_| "x".repeat(127)).chain(["y".repeat(rest), "\"".repeat(3)]);
            Value::from(full.collect::<Vec<_>>())
        });
        let answers = ask(&["/test/all", "/test/numbers", "/test/bad", "/test/panics", "/test/foreign"]);
        assert_eq!(
            answers[0],
            format!(
                "{{\"/test/all\": {{\"text\": \"with a \\\" in it\", \"int\": -2147483648, \"uint\": {max}, \
                 \"texts\": [\"a\", \"b\"], \"uints\": [0, {max}], \"in/side\": {{\"deeper\": {{\"deepest\": {max}}}}}}}}}",
                max = u64::MAX
            )
        );
        assert!(answers[1].ends_with("510, 511]}"), "{}", answers[1]);
        assert_eq!(
            answers[2..],
            [
                r#"{"/test/bad": {"error": "the name \"not a name\", whose characters must be letters, digits, '_' and '/'"}}"#,
                r#"{"/test/panics": null}"#,
                r#"{"/test/foreign": {"error": "a text with '?': only ASCII is allowed"}}"#,
            ]
        );
        let ends: Vec<String> = (90..128).map(|rest| format!("/test/long,{rest}")).collect();
        let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
        assert!(ask(&ends).iter().all(|answer| answer.contains(" bytes of JSON, but the maximum is 16000\"}}")));
        for command in [all, numbers, bad, panics, foreign, long] {
            drop(command.unwrap());
        }
    });
}

/// DPDK 22.11 sends a dictionary in an array, but refuses to add one.
#[test]
fn list_of_dictionaries_comes_out_as_json() {
    if tool_is_missing() {
        return;
    }
    isolated_bare(|| {
        let eal = eal();
        let flow = |port: u64| Value::dict([("port", port.into()), ("in", Value::dict([("frames", Value::Uint(9))]))]);
        let list = eal.register_telemetry("/test/list", "", move |text| match text {
            "mixed" => {
                Value::List(vec![flow(1), vec![1, 2].into(), vec!["a".to_owned()].into(), Value::Dict(Vec::new())])
            }
            "empty" => Value::List(Vec::new()),
            "within" => Value::dict([("flows", Value::List(vec![flow(1)]))]),
            many => Value::List((0..many.parse().unwrap_or(0)).map(flow).collect()),
        });
        let many = |count: u64| {
            let flows: Vec<String> =
                (0..count).map(|port| format!("{{\"port\": {port}, \"in\": {{\"frames\": 9}}}}")).collect();
            format!("{{\"/test/list\": [{}]}}", flows.join(", "))
        };
        let names = ["mixed", "empty", "within", "2", "300", "513"].map(|name| format!("/test/list,{name}"));
        let answers = ask(&names.each_ref().map(String::as_str));
        let expected = [
            r#"{"/test/list": [{"port": 1, "in": {"frames": 9}}, [1, 2], ["a"], {}]}"#,
            r#"{"/test/list": []}"#,
            r#"{"/test/list": {"error": "a list inside another value: DPDK sends a list only as the whole answer"}}"#,
            &many(2),
            &many(300),
            r#"{"/test/list": {"error": "513 elements, but the maximum is 512"}}"#,
        ];
        assert_eq!(answers, expected);
        drop(list.unwrap());
    });
}

#[test]
fn what_cannot_be_registered_is_named() {
    isolated(&[], |eal| {
        for command in ["no/slash", "/with space", &format!("/{}", "x".repeat(56))] {
            let error = eal.register_telemetry(command, "", |_| Value::Int(0)).unwrap_err();
            assert_eq!((error.call(), error.errno().unwrap().get()), (Some("rte_telemetry_register_cmd"), 22));
            assert!(error.to_string().contains(&format!("'{command}'")), "{error}");
        }
        let nul = eal.register_telemetry("/a\0b", "", |_| Value::Int(0)).unwrap_err();
        assert_eq!(nul, TelemetryError::Name("/a\0b".to_owned()));
        let foreign = eal.register_telemetry("/a", "für alle", |_| Value::Int(0)).unwrap_err();
        assert_eq!(foreign, TelemetryError::Name("/a".to_owned()));
        // Without hugepages nobody could. Where somebody can, testbed/tests/test_l2fwd_observation.py captures.
        assert_eq!(eal.enable_capture(), Err(CaptureError::NotShared));
    });
}

/// Other programs see the prefix by which the names of a program differ from DPDK's own.
#[test]
fn objects_are_listed_with_their_prefix() {
    if tool_is_missing() {
        return;
    }
    isolated_bare(|| {
        let eal = eal();
        let _pool: Mempool = pool(&eal, "frames");
        let answers = ask(&["/mempool/list", "/mempool/info,rs.frames", "/mempool/info,frames"]);
        assert_eq!(answers[0], r#"{"/mempool/list": ["rs.frames"]}"#);
        assert!(answers[1].contains(r#""name": "rs.frames""#), "{}", answers[1]);
        assert!(!answers[2].contains("name"), "{}", answers[2]);
    });
}
