// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A case with a library that encodes structs and decodes them: they own what they have, so each decoding allocates.

use std::{
    io::{self, Read as _},
    marker::PhantomData,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    contract::{Case, Exchange, Failure, Form, Part, Peer, judge},
    digest::Digest,
    libraries::owned::{Carsales, Catrank, Eval, Work},
    random::Random,
};

/// What such a library does.
pub(crate) trait Format: 'static {
    /// Appends a message.
    fn encode<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<(), Failure>;
    /// Reads one that has all of these bytes.
    fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure>;
}

/// The case in this form.
pub(crate) fn exchange<F: Format>(case: Case, form: Form) -> Box<dyn Exchange> {
    match case {
        Case::Carsales => Box::new(Decoded::<Carsales, F>::new(form)),
        Case::Catrank => Box::new(Decoded::<Catrank, F>::new(form)),
        Case::Eval => Box::new(Decoded::<Eval, F>::new(form)),
    }
}

struct Decoded<W: Work, F> {
    work: W,
    reuse: bool,
    request: W::Request,
    response: W::Response,
    sent: Vec<u8>,
    replied: Vec<u8>,
    format: PhantomData<F>,
}

// A message has its length before it, in four bytes, between processes.
const PREFIX: usize = 4;

impl<W: Work, F: Format> Decoded<W, F> {
    fn new(form: Form) -> Self {
        Self {
            work: W::default(),
            reuse: form.reuse,
            request: W::Request::default(),
            response: W::Response::default(),
            sent: Vec::new(),
            replied: Vec::new(),
            format: PhantomData,
        }
    }

    /// Leaves a request in `sent`, behind its length.
    fn build(&mut self, random: &mut Random) -> Result<W::Expected, Failure> {
        if !self.reuse {
            self.request = W::Request::default();
        }
        let expected = W::ask(&mut self.work, random, &mut self.request);
        write::<F, _>(&self.request, self.reuse, &mut self.sent)?;
        Ok(expected)
    }

    /// Leaves the response to a request in `replied`, behind its length.
    fn respond(&mut self, request: &[u8]) -> Result<(), Failure> {
        if !self.reuse {
            self.response = W::Response::default();
        }
        W::answer(&F::decode(request)?, &mut self.response);
        write::<F, _>(&self.response, self.reuse, &mut self.replied)
    }
}

fn write<F: Format, T: Serialize>(value: &T, reuse: bool, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    if reuse {
        bytes.clear();
    } else {
        *bytes = Vec::new();
    }
    bytes.extend_from_slice(&[0; PREFIX]);
    F::encode(value, bytes)?;
    let length = u32::try_from(bytes.len() - PREFIX).map_err(|error| Failure::Unreadable(error.to_string()))?;
    bytes[..PREFIX].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// The next message of the peer; false at the end of all.
fn receive(peer: &mut Peer, reuse: bool, bytes: &mut Vec<u8>) -> io::Result<bool> {
    if !reuse {
        *bytes = Vec::new();
    }
    let mut length = [0; PREFIX];
    if peer.input.read(&mut length[..1])? == 0 {
        return Ok(false);
    }
    peer.input.read_exact(&mut length[1..])?;
    bytes.resize(u32::from_le_bytes(length) as usize, 0);
    peer.input.read_exact(bytes)?;
    Ok(true)
}

impl<W: Work, F: Format> Exchange for Decoded<W, F> {
    fn object(&mut self, _: &mut Random) -> Result<(), Failure> {
        Err(Failure::Unreadable("in memory there are only plain structs".to_owned()))
    }

    fn bytes(&mut self, random: &mut Random) -> Result<usize, Failure> {
        let expected = self.build(random)?;
        let sent = std::mem::take(&mut self.sent);
        self.respond(&sent[PREFIX..])?;
        self.sent = sent;
        judge(W::check(&F::decode(&self.replied[PREFIX..])?, &expected))?;
        Ok(self.sent.len() + self.replied.len() - 2 * PREFIX)
    }

    fn ask(&mut self, random: &mut Random, peer: &mut Peer) -> Result<usize, Failure> {
        let expected = self.build(random)?;
        peer.send(&self.sent)?;
        if !receive(peer, self.reuse, &mut self.replied)? {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        judge(W::check(&F::decode(&self.replied)?, &expected))?;
        Ok(self.sent.len() - PREFIX)
    }

    fn answer(&mut self, peer: &mut Peer) -> Result<Option<usize>, Failure> {
        let mut sent = std::mem::take(&mut self.sent);
        if !receive(peer, self.reuse, &mut sent)? {
            return Ok(None);
        }
        self.respond(&sent)?;
        self.sent = sent;
        peer.send(&self.replied)?;
        Ok(Some(self.replied.len() - PREFIX))
    }

    fn request(&mut self, random: &mut Random) -> Result<Vec<u8>, Failure> {
        self.build(random)?;
        Ok(self.sent[PREFIX..].to_vec())
    }

    fn response(&mut self, request: &[u8]) -> Result<Vec<u8>, Failure> {
        self.respond(request)?;
        Ok(self.replied[PREFIX..].to_vec())
    }

    fn see(&mut self, part: Part, message: &[u8], digest: &mut Digest) -> Result<(), Failure> {
        match part {
            Part::Request => W::see_request(&F::decode(message)?, digest),
            Part::Response => W::see_response(&F::decode(message)?, digest),
        }
        Ok(())
    }
}
