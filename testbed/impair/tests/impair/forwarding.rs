// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What comes out, and how it is counted.

use crate::{
    capture,
    process::{Folder, Result, Running},
};
use rand::distr::Bernoulli;
use serde_json::{Value, json};
use std::fs;
use testbed_impair::{Decision, Decisions, GilbertElliott, Impairments, Reorder};

/// Numbered frames of different lengths.
fn frames(count: u32) -> Vec<Vec<u8>> {
    let frame = |number: u32| {
        let mut frame = number.to_be_bytes().repeat(15);
        frame.resize(60 + number as usize % 1400, 0);
        frame
    };
    (0..count).map(frame).collect()
}

/// Two ports, which receive these frames.
fn devices(folder: &Folder, inputs: &[Vec<Vec<u8>>; 2]) -> Result<Vec<String>> {
    let device = |(port, frames): (usize, &Vec<Vec<u8>>)| -> Result<String> {
        let (input, output) = (folder.0.join(format!("in{port}")), folder.0.join(format!("out{port}")));
        fs::write(&input, capture::write(frames))?;
        Ok(format!("net_pcap{port},rx_pcap={},tx_pcap={}", input.display(), output.display()))
    };
    inputs.iter().enumerate().map(device).collect()
}

/// What the ports sent, and the result, after they received `inputs`.
fn forward(inputs: &[Vec<Vec<u8>>; 2], options: &str) -> Result<([Vec<Vec<u8>>; 2], Value)> {
    let folder = Folder::new()?;
    let mut running = Running::start(folder.command(&devices(&folder, inputs)?, options))?;
    let [a, b] = inputs.each_ref().map(Vec::len);
    running.wait_for(&[&format!("0 to 1: received {a} "), &format!("1 to 0: received {b} ")])?;
    let result = running.end("INT")?;
    let output = |port: usize| Ok::<_, std::io::Error>(capture::read(&fs::read(folder.0.join(format!("out{port}")))?));
    Ok(([output(0)?, output(1)?], result))
}

/// What is sent by these decisions, sorted by the frame after which each leaves instead of queued, and the counters.
fn expected(mut decisions: Decisions, gap: usize, input: &[Vec<u8>]) -> (Vec<Vec<u8>>, Value) {
    let decided: Vec<(Decision, Vec<u8>)> =
        input.iter().map(|frame| (decisions.decide(frame.len()), frame.clone())).collect();
    let count = |event: &dyn Fn(&Decision) -> bool| decided.iter().filter(|(decision, _)| event(decision)).count();
    let survives = |decision: &Decision| !decision.lost && !decision.lost_in_burst;
    let counters = json!({
        "received": input.len(),
        "sent": count(&survives) + count(&|decision| survives(decision) && decision.duplicated),
        "lost": count(&|decision| decision.lost),
        "lost_in_bursts": count(&|decision| decision.lost_in_burst && !decision.lost),
        "duplicated": count(&|decision| survives(decision) && decision.duplicated),
        "reordered": count(&|decision| survives(decision) && decision.held_back),
        "corrupted": count(&|decision| survives(decision) && decision.flipped.is_some()),
        "over_limit": 0,
        "not_sent": 0,
    });
    let mut passed = 0;
    let mut places = Vec::new();
    for (decision, mut frame) in decided.into_iter().filter(|(decision, _)| survives(decision)) {
        if let Some(bit) = decision.flipped {
            frame[bit / 8] ^= 1 << (bit % 8);
        }
        passed += usize::from(!decision.held_back);
        let place = if decision.held_back { (passed + gap, 1) } else { (passed, 0) };
        places.extend(vec![(place, frame); 1 + usize::from(decision.duplicated)]);
    }
    places.sort_by_key(|(place, _)| *place);
    (places.into_iter().map(|(_, frame)| frame).collect(), counters)
}

#[test]
fn the_frames_that_come_out_are_those_of_the_decisions() -> Result {
    let inputs = [frames(3000), frames(2000)];
    let options = "--seed 42 --loss 5%/20% --gemodel 3%,4 --duplicate 10% --corrupt 25% --reorder 10%,3/2%,50";
    let (outputs, result) = forward(&inputs, options)?;
    assert_eq!(result["seed"], 42);
    let impairments = |loss, share, gap| -> Result<Impairments> {
        Ok(Impairments {
            loss: Some(Bernoulli::new(loss)?),
            gemodel: Some(GilbertElliott::new(0.03, 4.0)?),
            duplicate: Some(Bernoulli::new(0.1)?),
            corrupt: Some(Bernoulli::new(0.25)?),
            reorder: Some(Reorder { share: Bernoulli::new(share)?, gap }),
            ..Impairments::default()
        })
    };
    let [to_1, to_0] = Decisions::of_both(42, &[impairments(0.05, 0.1, 3)?, impairments(0.2, 0.02, 50)?]);
    for (rx_port, decisions, gap) in [(0, to_1, 3), (1, to_0, 50)] {
        let tx_port = 1 - rx_port;
        let (output, mut counters) = expected(decisions, gap, &inputs[rx_port]);
        counters["rx_port"] = json!(rx_port);
        counters["tx_port"] = json!(tx_port);
        assert_eq!(result["directions"][rx_port], counters);
        assert!(["lost", "lost_in_bursts", "reordered"].iter().all(|name| counters[name] != 0), "{counters}");
        assert!(outputs[tx_port] == output, "port {tx_port} sent other frames, or in another order");
    }
    Ok(())
}

/// A burst has more frames than the limit, but none of them waits.
#[test]
fn nothing_changes_without_impairments() -> Result {
    let inputs = [frames(500), frames(700)];
    let (outputs, result) = forward(&inputs, "--limit 1")?;
    let [a, b] = inputs;
    assert!(outputs == [b, a], "{result}");
    Ok(())
}

/// Where the time decides the order, all frames come out all the same.
#[test]
fn delayed_frames_all_come_out() -> Result {
    let inputs = [frames(500), frames(700)];
    let options = "--delay 20ms --jitter 15ms --rate 20mbit/1gbit --limit 1000";
    let (mut outputs, result) = forward(&inputs, options)?;
    outputs.iter_mut().for_each(|frames| frames.sort());
    let [mut a, mut b] = inputs;
    a.sort();
    b.sort();
    assert!(outputs == [b, a], "{result}");
    Ok(())
}

/// Of 100 frames that would wait for an hour, 30 fit; with SIGTERM they are sent in their order.
#[test]
fn what_waits_at_the_end_is_sent_and_what_is_over_the_limit_is_counted() -> Result {
    let folder = Folder::new()?;
    let devices = devices(&folder, &[frames(100), Vec::new()])?;
    let mut running = Running::start(folder.command(&devices, "--delay 3600s --limit 30/1"))?;
    running.wait_for(&["0 to 1: received 100 sent 0 "])?;
    let result = running.end("TERM")?;
    let direction = &result["directions"][0];
    assert_eq!((&direction["sent"], &direction["over_limit"]), (&json!(30), &json!(70)), "{result}");
    assert!(capture::read(&fs::read(folder.0.join("out1"))?) == frames(30));
    Ok(())
}

#[test]
fn frames_that_a_device_does_not_take_are_counted() -> Result {
    let folder = Folder::new()?;
    let input = devices(&folder, &[frames(100), Vec::new()])?.swap_remove(0);
    // A link without a peer.
    let link = format!("net_vhost1,iface={}", folder.0.join("wire").display());
    let mut running = Running::start(folder.command(&[input, link], "--duplicate 100%"))?;
    running.wait_for(&["0 to 1: received 100 sent 0 "])?;
    let result = running.end("INT")?;
    assert_eq!(result["directions"][0]["not_sent"], 200, "{result}");
    Ok(())
}
