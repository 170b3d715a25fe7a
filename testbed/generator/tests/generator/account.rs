// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Every frame is accounted for.

use crate::process::{Folder, Result, result, result_of_wire, run, unique};
use serde_json::{Value, json};
use std::fs;

const RING: [&str; 1] = ["net_ring0"];
const TWO_RINGS: [&str; 2] = ["net_ring0", "net_ring1"];

/// The counters that must be zero when nothing goes wrong.
fn assert_clean(counters: &Value) {
    for name in ["lost", "duplicated", "reordered", "corrupted", "late"] {
        assert_eq!(counters[name], 0, "{name} in {counters}");
    }
}

#[test]
fn what_a_ring_carries_comes_back_whole_at_every_size() -> Result {
    for size in [64, 65, 66, 127, 512, 1518, 2049, 9000] {
        let result = result(&RING, &format!("--ports 0 --count 20000 --size {size}"))?;
        assert_eq!((&result["type"], &result["size"]), (&json!("result"), &json!(size)));
        let stream = &result["streams"][0];
        assert_eq!((&stream["sent"], &stream["received"]), (&json!(20000), &json!(20000)), "{result}");
        assert_clean(stream);
        assert_eq!(result["foreign"], 0);
        assert_eq!(result["interrupted"], false);
        assert_eq!(stream["wrong_mac"], Value::Null);
        assert_eq!(result["rate_asked_pps"], Value::Null);
        assert_eq!((&result["rate_ok"], &result["lateness"]), (&Value::Null, &Value::Null));
        let probes = result["probes"]["sent"].as_u64().unwrap_or(0);
        assert!(probes > 0 && result["probes"]["received"] == probes, "{result}");
        assert_eq!(result["device"][0]["opackets"], 20000 + probes);
        assert_eq!(stream["latency_ns"]["count"], 20000);
        let latency = |name: &str| stream["latency_ns"][name].as_f64().unwrap_or(f64::NAN);
        let ascending = ["min", "p50", "p90", "p99", "p99_9", "p99_99", "max"].map(latency);
        assert!(ascending.is_sorted() && ascending[0] > 0.0, "{result}");
        assert!((ascending[0]..=ascending[6]).contains(&latency("avg")), "{result}");
        assert!(latency("ipdv") >= 0.0, "{result}");
    }
    Ok(())
}

/// Also where the queue does not take all frames at once, and where mbufs were used for other lengths before.
#[test]
fn a_mixture_of_sizes_comes_back_whole() -> Result {
    for options in ["--size 64x7,594x4,1518", "--size 65,9000,64 --burst 512", "--size 64,128 --rate 300k --window 5"] {
        let result = result(&RING, &format!("--ports 0 --count 20000 {options}"))?;
        let stream = &result["streams"][0];
        assert_eq!((&stream["sent"], &stream["received"]), (&json!(20000), &json!(20000)), "{result}");
        assert_clean(stream);
        assert_eq!((&result["size"], &result["foreign"]), (&Value::Null, &json!(0)), "{result}");
        assert_eq!(stream["latency_ns"]["count"], 20000);
    }
    Ok(())
}

/// The lengths on the wire, as another program sees them.
#[test]
fn a_mixture_is_sent_in_its_order() -> Result {
    let folder = Folder::new()?;
    let capture = folder.path().join("sent.pcap");
    let device = format!("net_pcap0,tx_pcap={}", capture.display());
    let outcome = run(&[device], "--ports 0 --count 7 --size 64x2,594,100 --probe 0 --wait 0 --json - --quiet")?;
    let result = outcome.result()?;
    assert_eq!(result["mixture"], json!({"sizes": [64, 64, 594, 100], "mean": 205.5}));
    assert_eq!(lengths(&fs::read(capture)?), [60, 60, 590, 96, 60, 60, 590]);
    Ok(())
}

/// Of the frames in a capture of this machine's byte order.
fn lengths(capture: &[u8]) -> Vec<usize> {
    frames(capture).into_iter().map(<[u8]>::len).collect()
}

fn frames(capture: &[u8]) -> Vec<&[u8]> {
    let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes));
    let mut rest = capture.get(24..).unwrap_or_default();
    let mut found = Vec::new();
    while let Some(header) = rest.get(..16) {
        let (frame, behind) = rest[16..].split_at(number(&header[8..]) as usize);
        found.push(frame);
        rest = behind;
    }
    found
}

/// Tags, IPv6 and tunnels are sent, and frames with them checked: at the least size, at a longer one, and in a mixture.
#[test]
fn frames_with_more_headers_come_back_whole() -> Result {
    let there = "02:00:00:00:01:00";
    let ipv6 = "--src-ip 2001:2::1 --dst-ip 2001:2:0:1::/96";
    for options in [
        "--vlan 100 --size 68",
        "--vlan 5 --size 68x7,594x4,1518 --window 9",
        &format!("{ipv6} --size 84x7,594x4,1518 --flows 1000"),
        &format!("{ipv6} --vxlan 77 --vlan 100,200 --size 9000"),
        "--vxlan 16777215 --size 114x3,1518",
    ] {
        let result = result(&RING, &format!("--ports 0 --count 2000 {options} --expect-dst {there}"))?;
        let stream = &result["streams"][0];
        assert_eq!((&stream["sent"], &stream["received"]), (&json!(2000), &json!(2000)), "{result}");
        assert_clean(stream);
        assert_eq!((&stream["wrong_mac"], &result["foreign"]), (&json!(0), &json!(0)), "{result}");
    }
    let folder = Folder::new()?;
    let capture = folder.path().join("sent.pcap");
    let device = format!("net_pcap0,tx_pcap={}", capture.display());
    let outcome = run(&[device], "--ports 0 --count 3 --vlan 100,200 --size 72 --probe 0 --wait 0 --json - --quiet")?;
    assert_eq!(outcome.result()?["vlan"], json!([100, 200]));
    let capture = fs::read(capture)?;
    let tagged = frames(&capture);
    assert_eq!(tagged.len(), 3);
    for frame in tagged {
        assert_eq!(frame.len(), 68, "without FCS");
        assert_eq!(frame[12..24], [0x88, 0xa8, 0, 100, 0x81, 0, 0, 200, 8, 0, 0x45, 0]);
    }
    Ok(())
}

#[test]
fn every_burst_size_works() -> Result {
    for burst in [1, 2, 31, 33, 257, 512] {
        let result = result(&RING, &format!("--ports 0 --count 5000 --burst {burst}"))?;
        assert_eq!((&result["total"]["sent"], &result["total"]["received"]), (&json!(5000), &json!(5000)), "{result}");
        assert_clean(&result["total"]);
    }
    Ok(())
}

#[test]
fn a_paced_run_by_count_sends_them_all_and_says_how_fast() -> Result {
    let result = result(&RING, "--ports 0 --count 5000 --rate 50k")?;
    let total = &result["total"];
    assert_eq!((&total["sent"], &total["tx_failed"], &total["received"]), (&json!(5000), &json!(0), &json!(5000)));
    assert_clean(total);
    assert_eq!(result["rate_asked_pps"], 50000.0);
    let (duration, reached) = (result["duration_s"].as_f64(), result["rate_reached_pps"].as_f64());
    let reached = reached.ok_or("no rate")?;
    // A tenth of a second at least; how much longer is the machine's business.
    assert!(duration.is_some_and(|duration| duration >= 0.0999), "{result}");
    assert!(reached <= 50_050.0, "{result}");
    assert_eq!(result["rate_ok"], (reached - 50_000.0).abs() <= 50.0);
    // How late it was is the machine's business too.
    assert!(result["received_under_load"].as_u64().is_some_and(|frames| frames <= 5000), "{result}");
    let (lag, caught_up) = (result["lateness"]["worst_lag_s"].as_f64(), result["lateness"]["caught_up"].as_u64());
    assert!(lag.is_some_and(|lag| lag >= 0.0) && caught_up.is_some_and(|frames| frames <= 5000), "{result}");
    let (longest, above) = (result["gaps"]["longest_s"].as_f64(), result["gaps"]["above_100us"].as_u64());
    assert!(longest <= duration && longest.map(|longest| longest > 1e-4) == above.map(|gaps| gaps > 0), "{result}");
    Ok(())
}

#[test]
fn a_paced_run_by_duration_never_sends_more_than_is_due() -> Result {
    let result = result(&RING, "--ports 0 --duration 0.1 --rate 100k")?;
    let (sent, received) = (result["total"]["sent"].as_u64(), result["total"]["received"].as_u64());
    assert!(sent.is_some_and(|sent| (1..=10_000).contains(&sent)), "{result}");
    assert_eq!(sent, received);
    Ok(())
}

#[test]
fn of_two_loads_each_has_its_own_account() -> Result {
    let result = result(&RING, "--ports 0 --rate 50k --duration 0.1 --then 20k:0.05")?;
    let (first, second) = (&result["steps"]["loads"][0], &result["steps"]["loads"][1]);
    let sent = |load: &Value| load["sent"].as_u64().unwrap_or_default();
    // How many were sent in time is the machine's business.
    assert!((1..=5000).contains(&sent(first)) && (1..=1000).contains(&sent(second)), "{result}");
    assert_eq!(Some(sent(first) + sent(second)), result["total"]["sent"].as_u64());
    assert_eq!((&first["lost"], &second["lost"], &result["steps"]["last_loss_s"]), (&json!(0), &json!(0), &json!(0.0)));
    assert_eq!((&result["rate_ok"], &result["total"]["lost"]), (&Value::Null, &json!(0)));
    assert_eq!(result["streams"][0]["outage_s"], Value::Null);
    assert!(result["lateness"]["worst_lag_s"].is_number(), "{result}");
    assert!(second["duration_s"].as_f64().is_some_and(|seconds| seconds >= 0.05), "{result}");
    Ok(())
}

#[test]
fn the_last_loss_is_when_the_last_frame_was_lost() -> Result {
    // The other ring takes so many frames, and gives none back.
    let options = "--ports 0,1 --rate 50k --duration 0.1 --then 20k:0.05 --wait 0 --probe 0";
    let result = result(&TWO_RINGS, options)?;
    let (first, second) = (&result["steps"]["loads"][0], &result["steps"]["loads"][1]);
    assert_eq!((&first["lost"], &second["lost"]), (&first["sent"], &second["sent"]));
    let lost = |load: &Value| load["lost"].as_u64().zip(load["tx_failed"].as_u64()).map(|(lost, failed)| lost + failed);
    assert!(lost(second).is_some_and(|lost| lost > 0), "{result}");
    // The second load's last frame is due at its end, less one frame.
    assert!(result["steps"]["last_loss_s"].as_f64().is_some_and(|seconds| seconds > 0.0), "{result}");
    Ok(())
}

#[test]
fn frames_that_do_not_come_back_are_lost() -> Result {
    // Port 1 is a ring of its own: what port 0 sends stays in the other one.
    let result = result(&TWO_RINGS, "--ports 0,1 --count 500 --wait 0.1 --probe 0")?;
    let total = &result["total"];
    assert_eq!((&total["sent"], &total["received"], &total["lost"]), (&json!(500), &json!(0), &json!(500)));
    assert_eq!((&result["foreign"], &total["latency_ns"]), (&json!(0), &Value::Null));
    assert_eq!(result["streams"][0]["latency_ns"]["count"], 0);
    Ok(())
}

#[test]
fn frames_of_the_other_stream_are_foreign() -> Result {
    let result = result(&TWO_RINGS, "--ports 0,1 --bidirectional --count 500 --wait 0.1 --probe 0")?;
    let total = &result["total"];
    assert_eq!((&total["sent"], &total["received"], &total["lost"]), (&json!(1000), &json!(0), &json!(1000)));
    assert_eq!(result["foreign"], 1000);
    Ok(())
}

#[test]
fn what_nobody_sent_is_foreign() -> Result {
    // A null device swallows what it is given, and always has frames full of zeros.
    let result = result(&["net_null0"], "--ports 0 --count 500 --wait 0.01 --probe 0")?;
    assert_eq!((&result["total"]["received"], &result["total"]["lost"]), (&json!(0), &json!(500)), "{result}");
    assert!(result["foreign"].as_u64().is_some_and(|foreign| foreign > 0), "{result}");
    Ok(())
}

#[test]
fn both_directions_of_a_wire_are_streams_of_their_own() -> Result {
    for size in [64, 1518] {
        let folder = Folder::new()?;
        let result = result_of_wire(&folder, "", &format!("--ports 0,1 --bidirectional --count 20000 --size {size}"))?;
        for (number, stream) in [0, 1].map(|number| (number, &result["streams"][number])) {
            assert_eq!(stream["stream"], number);
            assert_eq!((&stream["tx_port"], &stream["rx_port"]), (&json!(number), &json!(1 - number)));
            assert_eq!((&stream["sent"], &stream["received"]), (&json!(20000), &json!(20000)), "{result}");
            assert_clean(stream);
        }
        assert_eq!((&result["total"]["sent"], &result["foreign"]), (&json!(40000), &json!(0)));
    }
    Ok(())
}

#[test]
fn any_port_can_be_chosen() -> Result {
    let result = result(&TWO_RINGS, "--ports 1 --count 5000")?;
    let stream = &result["streams"][0];
    assert_eq!((&stream["tx_port"], &stream["rx_port"]), (&json!(1), &json!(1)));
    assert_eq!((&stream["sent"], &stream["received"]), (&json!(5000), &json!(5000)), "{result}");
    assert_eq!(result["device"].as_array().map(Vec::len), Some(1));
    let port = &result["ports"][0];
    assert_eq!((&port["port"], &port["device"]["driver"]), (&json!(1), &json!("net_ring")), "{result}");
    assert_eq!((&port["queues"], &port["device"]["mtu"]), (&json!(1), &json!(1500)), "{result}");
    // The driver of rings reports neither.
    assert_eq!((&port["device"]["firmware"], &port["device"]["rx_offloads"]), (&Value::Null, &Value::Null));
    assert_clean(stream);
    Ok(())
}

#[test]
fn long_frames_over_buffers_of_all_sizes_come_back_whole() -> Result {
    for (size, options) in [(3000, ""), (2053, ",bsize=4096"), (9000, ",bsize=9216")] {
        let folder = Folder::new()?;
        let result = result_of_wire(&folder, options, &format!("--ports 0,1 --count 5000 --size {size} --burst 8"))?;
        assert_eq!(result["total"]["received"], 5000, "{result}");
        assert_clean(&result["total"]);
    }
    Ok(())
}

#[test]
fn addresses_are_checked_as_expected() -> Result {
    let there = "02:00:00:00:01:00"; // where port 0 sends to
    let elsewhere = "02:00:00:00:01:01";
    for (options, wrong) in [
        (format!("--expect-dst {there}"), 0),
        (format!("--expect-dst {elsewhere}"), 1000),
        (format!("--dst-mac {elsewhere} --expect-dst {elsewhere}"), 0),
        (format!("--expect-dst {there} --expect-src {there}"), 1000),
    ] {
        let result = result(&RING, &format!("--ports 0 --count 1000 {options}"))?;
        assert_eq!(result["total"]["wrong_mac"], wrong, "{options}: {result}");
        // Such a frame has come back all the same.
        assert_eq!(result["total"]["received"], 1000);
        assert_clean(&result["total"]);
    }
    Ok(())
}

#[test]
fn addresses_expected_of_two_ports_are_in_the_order_of_the_ports() -> Result {
    let folder = Folder::new()?;
    // Port 0 receives what port 1 sent, and the other way round.
    let expected = "--expect-dst 02:00:00:00:01:01,02:00:00:00:01:00";
    let result = result_of_wire(&folder, "", &format!("--ports 0,1 --bidirectional --count 1000 {expected}"))?;
    for stream in [0, 1] {
        assert_eq!(result["streams"][stream]["wrong_mac"], 0, "{result}");
    }
    Ok(())
}

#[test]
fn the_result_goes_to_a_file_that_is_whole_or_not_there() -> Result {
    let folder = Folder::new()?;
    let path = folder.path().join(unique("result.json"));
    let outcome = run(&RING, &format!("--ports 0 --count 100 --quiet --json {}", path.display()))?;
    assert!(outcome.status.success(), "{outcome:?}");
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains("received               100"), "{}", outcome.stderr);
    let result: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
    assert_eq!(result["total"]["received"], 100);
    assert_eq!(fs::read_dir(folder.path())?.count(), 1);

    let outcome = run(&RING, &format!("--ports 9 --json {}", folder.path().join("never").display()))?;
    assert_eq!(outcome.status.code(), Some(1));
    assert_eq!(fs::read_dir(folder.path())?.count(), 1);
    Ok(())
}

/// A device that asks for an address gets an answer on the port where it asks, whichever sends; questions are no foreign frames.
#[test]
fn who_asks_for_an_address_of_the_frames_is_answered() -> Result {
    let folder = Folder::new()?;
    let asked = folder.path().join("asked.pcap");
    let question = [
        &[0xff; 6][..],
        &[2, 0, 0, 0, 0, 7, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 7, 198, 19, 0, 254],
        &[0, 0, 0, 0, 0, 0, 198, 19, 0, 9],
        &[0; 18],
    ]
    .concat();
    let number = |number: u32| number.to_ne_bytes();
    let header = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, 1].map(number).concat();
    let frame = [&[0, 0, 60, 60].map(number).concat()[..], &question].concat();
    fs::write(&asked, [header, frame].concat())?;
    for (place, options) in ["--ports 0", "--ports 1,0", "--ports 0,1 --bidirectional"].into_iter().enumerate() {
        let answered = folder.path().join(format!("answered{place}.pcap"));
        let devices = [
            format!("net_pcap0,rx_pcap={},tx_pcap={}", asked.display(), answered.display()),
            "net_null0,no-rx=1".to_owned(),
        ];
        let options = format!("{options} --count 3 --src-ip 198.18.0.0 --probe 0 --wait 0 --json - --quiet");
        let result = run(&devices, &options)?.result()?;
        assert_eq!(result["answered"], 1, "{options}: {result}");
        let capture = fs::read(answered)?;
        let replies: Vec<_> = frames(&capture).into_iter().filter(|frame| frame[12..14] == [8, 6]).collect();
        assert_eq!(replies.len(), 1, "{options}");
        assert_eq!((&replies[0][..6], &replies[0][20..22]), (&[2, 0, 0, 0, 0, 7][..], &[0, 2][..]), "{options}");
        assert_eq!(replies[0][28..32], [198, 19, 0, 9], "{options}");
    }
    Ok(())
}
