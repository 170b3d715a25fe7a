// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What happens on one connection.

use super::{Load, RETRY_NS};
use crate::{
    connection::{Connection, State},
    error::Error,
};
use services::sockets::{Event, Received, Sockets};

impl<S: Sockets> Load<S> {
    pub(super) fn ask(&mut self, number: usize, planned: Option<u64>) -> Result<(), Error> {
        let connection = &mut self.connections[number];
        connection.requests += 1;
        self.asker.ask(&mut connection.exchange, Some(connection.requests) == self.per_connection);
        let sent = self.start.elapsed().as_nanos() as u64;
        if let (State::Idle(since), Some(planned)) = (connection.state, planned) {
            self.record.lag.record(sent - planned.max(since));
        }
        connection.state = State::Busy { planned, sent };
        self.sent = sent;
        self.record.counters.sent += 1;
        self.flush(number)
    }

    pub(super) fn handle(&mut self, event: Event<S::Id>) -> Result<(), Error> {
        let (Event::Accepted(id) | Event::Connected(id) | Event::Ready(id)) = event;
        let number = self.numbers.get(S::place(id)).copied().unwrap_or(usize::MAX);
        // An event can be older than the close of its connection.
        let Some(connection) = self.connections.get_mut(number).filter(|connection| connection.id == Some(id)) else {
            return Ok(());
        };
        match (event, connection.state) {
            (Event::Connected(_), State::Opening) => {
                connection.state = State::Idle(self.start.elapsed().as_nanos() as u64);
                self.record.counters.opened += 1;
                self.idle.push_back(number);
                Ok(())
            }
            (Event::Ready(_), _) => {
                self.receive(number, id)?;
                match self.connections[number].state {
                    State::Busy { .. } | State::Leaving => self.flush(number),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Reads what has come.
    fn receive(&mut self, number: usize, id: S::Id) -> Result<(), Error> {
        loop {
            match self.sockets.receive(id, &mut self.room) {
                Received::Nothing => return Ok(()),
                Received::End | Received::Broken => return self.ended(number),
                Received::Bytes(len) => {
                    let now = self.now();
                    self.record.counters.bytes_received += len as u64;
                    match self.connections[number].exchange.take(&self.room[..len]) {
                        Ok(false) => (),
                        Ok(true) => self.answered(number, now)?,
                        Err(reason) => {
                            self.record.counters.wrong += 1;
                            self.record.first_wrong.get_or_insert(reason);
                            self.retry(number);
                        }
                    }
                    if self.connections[number].id != Some(id) {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn answered(&mut self, number: usize, now: u64) -> Result<(), Error> {
        let connection = &mut self.connections[number];
        // That of a farewell is not counted.
        let State::Busy { planned, sent } = connection.state else { return Ok(()) };
        self.record.counters.answered += 1;
        self.record.in_time += u64::from(now <= self.end);
        self.record.service_time.record(now - sent);
        if let Some(planned) = planned {
            self.record.latency.record(now - planned);
        }
        if Some(connection.requests) == self.per_connection {
            return self.leave(number);
        }
        connection.state = State::Idle(now);
        self.idle.push_back(number);
        Ok(())
    }

    /// Lets the service close a connection: it then keeps what is left of it (TIME-WAIT), and no port is lost here.
    pub(super) fn leave(&mut self, number: usize) -> Result<(), Error> {
        let connection = &mut self.connections[number];
        connection.state = State::Leaving;
        if self.asker.farewell(&mut connection.exchange) {
            return self.flush(number);
        }
        if let (true, Some(id)) = (self.is_closing, connection.id) {
            self.sockets.shutdown(id);
        }
        Ok(())
    }

    /// Sends what is left of a request.
    fn flush(&mut self, number: usize) -> Result<(), Error> {
        let Connection { id: Some(id), exchange, .. } = &mut self.connections[number] else { return Ok(()) };
        let rest = &exchange.request[exchange.sent..];
        if rest.is_empty() {
            return Ok(());
        }
        let Some(len) = self.sockets.send(*id, rest) else { return self.ended(number) };
        exchange.sent += len;
        self.record.counters.bytes_sent += len as u64;
        Ok(())
    }

    /// The service has ended a connection, or it is broken.
    fn ended(&mut self, number: usize) -> Result<(), Error> {
        let connection = &self.connections[number];
        match connection.state {
            State::Leaving if connection.exchange.is_answered() => {
                self.give_back(number, S::close);
                return if self.is_closing { Ok(()) } else { self.open(number) };
            }
            State::Opening => self.record.counters.refused += 1,
            _ => self.record.counters.broken += 1,
        }
        self.retry(number);
        Ok(())
    }

    pub(super) fn open(&mut self, number: usize) -> Result<(), Error> {
        let Some(id) = self.sockets.connect(self.to) else { return Err(self.cannot_open()) };
        let place = S::place(id);
        if place >= self.numbers.len() {
            self.numbers.resize(place + 1, usize::MAX);
        }
        self.numbers[place] = number;
        self.connections[number] = Connection { id: Some(id), state: State::Opening, ..Connection::default() };
        Ok(())
    }

    /// Resets a connection, and opens it anew a little later.
    pub(super) fn retry(&mut self, number: usize) {
        if matches!(self.connections[number].state, State::Idle(_)) {
            self.idle.retain(|idle| *idle != number);
        }
        self.give_back(number, S::abort);
        if !self.is_closing {
            self.retries.push_back((self.now() + RETRY_NS, number));
        }
    }

    pub(super) fn give_back(&mut self, number: usize, give_back: fn(&mut S, S::Id)) {
        let connection = &mut self.connections[number];
        connection.state = State::Closed;
        if let Some(id) = connection.id.take() {
            give_back(&mut self.sockets, id);
        }
    }

    pub(super) fn cannot_open(&self) -> Error {
        let open = self.connections.iter().filter(|one| !matches!(one.state, State::Closed | State::Opening)).count();
        let (to, all, reason) = (self.to, self.connections.len(), (self.reason)(self.to));
        Error::Failed(format!("cannot connect to {to}, {open} of {all} connections are open: {reason}"))
    }
}
