// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A run always ends, with its results.

use crate::process::{Folder, Result, Running, run};

#[test]
fn a_signal_ends_a_run_with_its_results() -> Result {
    for signal in ["INT", "TERM"] {
        for rate in ["max", "1000"] {
            let options = format!("--ports 0 --duration 600 --rate {rate} --json -");
            let mut running = Running::start(&["net_ring0"], &options)?;
            running.wait_for(" s  tx ")?;
            running.signal(signal)?;
            let result = running.wait()?.result()?;
            assert_eq!(result["interrupted"], true);
            assert!(result["total"]["sent"].as_u64().is_some_and(|sent| sent > 0), "{result}");
            assert_eq!(result["total"]["sent"], result["total"]["received"]);
            assert_eq!(result["total"]["lost"], 0);
            assert!(result["duration_s"].as_f64().is_some_and(|duration| duration < 600.0));
        }
    }
    Ok(())
}

#[test]
fn a_signal_ends_the_wait_for_a_link() -> Result {
    let folder = Folder::new()?;
    let [server, _] = folder.wire("");
    let mut running = Running::start(&[server], "--ports 0 --wait-link 600 --json -")?;
    running.wait_for("waiting for the link")?;
    running.signal("TERM")?;
    let result = running.wait()?.result()?;
    assert_eq!((&result["interrupted"], &result["total"]["sent"]), (&true.into(), &0.into()));
    Ok(())
}

#[test]
fn a_wire_that_takes_nothing_ends_a_run_by_count() -> Result {
    // Nobody empties the first ring, which holds fewer frames than are to be sent.
    let outcome = run(&["net_ring0", "net_ring1"], "--ports 0,1 --count 5000 --wait 0 --probe 0 --json - --quiet")?;
    assert!(outcome.stderr.contains("generator: warning: stopped: the device took no frame for 5 s"), "{outcome:?}");
    let result = outcome.result()?;
    let sent = result["total"]["sent"].as_u64();
    assert!(sent.is_some_and(|sent| (1..5000).contains(&sent)), "{result}");
    assert_eq!(result["total"]["lost"].as_u64(), sent);
    assert!(result["total"]["tx_failed"].as_u64().is_some_and(|failed| failed > 0), "{result}");
    Ok(())
}

#[test]
fn a_wire_that_takes_nothing_does_not_hold_up_a_paced_run() -> Result {
    // Frames that the full ring does not take are given up, each once.
    let outcome =
        run(&["net_ring0", "net_ring1"], "--ports 0,1 --count 5000 --rate 50k --wait 0 --probe 0 --json - --quiet")?;
    let result = outcome.result()?;
    let (sent, failed) = (result["total"]["sent"].as_u64(), result["total"]["tx_failed"].as_u64());
    assert_eq!(sent.zip(failed).map(|(sent, failed)| sent + failed), Some(5000), "{result}");
    assert!(failed.is_some_and(|failed| failed > 0), "{result}");
    assert_eq!(result["rate_ok"], false);
    Ok(())
}

#[test]
fn a_way_that_stays_closed_is_an_error_before_the_run() -> Result {
    // Port 1 is a ring of its own: nothing comes back to it.
    let outcome = run(&["net_ring0", "net_ring1"], "--ports 0,1 --count 5000 --probe 0.2 --json -")?;
    let message = "generator: no frame came back from port 0 to port 1 within 0.2 s: check whether the device under \
                   test forwards, wait longer with --probe, or start without a check with --probe 0";
    assert!(outcome.stderr.contains(message), "{outcome:?}");
    assert_eq!((outcome.status.code(), outcome.stdout.as_str()), (Some(1), ""));
    Ok(())
}

#[test]
fn a_window_limits_what_is_under_way() -> Result {
    // Nothing comes back, so no more than the window is ever sent.
    let options = "--ports 0,1 --count 5000 --window 7 --wait 0 --probe 0 --json - --quiet";
    let result = run(&["net_ring0", "net_ring1"], options)?.result()?;
    assert_eq!((&result["total"]["sent"], &result["total"]["lost"]), (&7.into(), &7.into()));
    Ok(())
}
