// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rounds, one after the other, and what they take.

use std::{error::Error, time::Instant};

use codec_bench::{
    contract::{Exchange, Failure},
    random::Random,
};
use nix::{
    time::{ClockId, clock_getcpuclockid},
    unistd::Pid,
};
use serde_json::json;

use crate::{
    options::{Mode, Options},
    peer::{self, Server},
};

pub(crate) struct Rounds {
    exchange: Box<dyn Exchange>,
    random: Random,
    mode: Mode,
    server: Option<Server>,
    start: Instant,
    rounds: u64,
    bytes: u64,
}

impl Rounds {
    /// Starts the server too, if the mode has one.
    pub(crate) fn start(options: &Options) -> Result<Self, Box<dyn Error>> {
        let server = match options.mode {
            Mode::Object | Mode::Bytes => None,
            Mode::Pipe | Mode::Tcp => Some(peer::start(options)?),
        };
        Ok(Self {
            exchange: options.exchange(),
            random: Random::default(),
            mode: options.mode,
            server,
            start: Instant::now(),
            rounds: 0,
            bytes: 0,
        })
    }

    /// So many.
    pub(crate) fn run(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            self.bytes += self.round()? as u64;
        }
        self.rounds += rounds;
        Ok(())
    }

    /// One. Callgrind finds it by its name.
    #[inline(never)]
    fn round(&mut self) -> Result<usize, Failure> {
        match (self.mode, &mut self.server) {
            (Mode::Object, _) => self.exchange.object(&mut self.random).map(|()| 0),
            (_, None) => self.exchange.bytes(&mut self.random),
            (_, Some(server)) => self.exchange.ask(&mut self.random, &mut server.peer),
        }
    }

    /// Counters since the start: rounds, the bytes of messages that this process has made, time, and the CPU time of
    /// both processes.
    pub(crate) fn told(&self) -> Result<serde_json::Value, Box<dyn Error>> {
        let mut cpu = cpu_ns(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
        if let Some(server) = &self.server {
            cpu += cpu_ns(clock_getcpuclockid(Pid::from_raw(server.child.id().try_into()?))?)?;
        }
        Ok(json!({
            "type": "counters",
            "rounds": self.rounds,
            "bytes": self.bytes,
            "ns": self.start.elapsed().as_nanos() as u64,
            "cpu_ns": cpu,
        }))
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        if let Some(Server { mut child, peer }) = self.server.take() {
            // Which ends it.
            drop(peer);
            if let Err(error) = child.wait() {
                eprintln!("codec-rust: the server: {error}");
            }
        }
    }
}

fn cpu_ns(clock: ClockId) -> Result<u64, Box<dyn Error>> {
    let time = clock.now()?;
    Ok(u64::try_from(time.tv_sec())? * 1_000_000_000 + u64::try_from(time.tv_nsec())?)
}
