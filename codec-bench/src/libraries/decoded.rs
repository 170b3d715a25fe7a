// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A case with a library that encodes structs and decodes them: they own what they have, so each decoding allocates.

use std::{fmt::Display, io, marker::PhantomData};

use crate::{
    cases::catrank::Page,
    contract::{Case, Exchange, Failure, Form, Part, Peer, judge},
    digest::Digest,
    frames::{self, PREFIX, put_length},
    libraries::owned::{Car, Carsales, Catrank, Eval, Expression, Work},
    random::Random,
};

/// What such a library does with a type.
pub(crate) trait Format<T>: 'static {
    /// Appends a message.
    fn encode(value: &T, bytes: &mut Vec<u8>) -> Result<(), Failure>;
    /// Reads one that has all of these bytes.
    fn decode(bytes: &[u8]) -> Result<T, Failure>;
}

/// What cannot be read, in the words of the library.
pub(crate) fn unreadable(error: impl Display) -> Failure {
    Failure::Unreadable(error.to_string())
}

/// A format of all structs of [`owned`](super::owned).
pub(crate) fn of_owned<F>(case: Case, form: Form) -> Box<dyn Exchange>
where
    F: Format<Vec<Car>> + Format<u64> + Format<Vec<Page>> + Format<Option<Expression>> + Format<i32>,
{
    match case {
        Case::Carsales => exchange::<Carsales, F>(form),
        Case::Catrank => exchange::<Catrank, F>(form),
        Case::Eval => exchange::<Eval, F>(form),
    }
}

/// A case in this form.
pub(crate) fn exchange<W, F>(form: Form) -> Box<dyn Exchange>
where
    W: Work + 'static,
    F: Format<W::Request> + Format<W::Response>,
{
    Box::new(Decoded::<W, F>::new(form))
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

impl<W: Work, F: Format<W::Request> + Format<W::Response>> Decoded<W, F> {
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
        W::answer(&decode::<F, _>(request)?, &mut self.response);
        write::<F, _>(&self.response, self.reuse, &mut self.replied)
    }
}

fn write<F: Format<T>, T>(value: &T, reuse: bool, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    if reuse {
        bytes.clear();
    } else {
        *bytes = Vec::new();
    }
    bytes.extend_from_slice(&[0; PREFIX]);
    F::encode(value, bytes)?;
    put_length(bytes).map_err(unreadable)
}

fn decode<F: Format<T>, T>(bytes: &[u8]) -> Result<T, Failure> {
    F::decode(bytes)
}

/// The next message of the peer; false at the end of all.
fn receive(peer: &mut Peer, reuse: bool, bytes: &mut Vec<u8>) -> io::Result<bool> {
    if !reuse {
        *bytes = Vec::new();
    }
    frames::next(&mut peer.input, bytes)
}

impl<W: Work, F: Format<W::Request> + Format<W::Response>> Exchange for Decoded<W, F> {
    fn object(&mut self, _: &mut Random) -> Result<(), Failure> {
        Err(Failure::Unreadable("in memory there are only plain structs".to_owned()))
    }

    fn bytes(&mut self, random: &mut Random) -> Result<usize, Failure> {
        let expected = self.build(random)?;
        let sent = std::mem::take(&mut self.sent);
        self.respond(&sent[PREFIX..])?;
        self.sent = sent;
        judge(W::check(&decode::<F, _>(&self.replied[PREFIX..])?, &expected))?;
        Ok(self.sent.len() + self.replied.len() - 2 * PREFIX)
    }

    fn ask(&mut self, random: &mut Random, peer: &mut Peer) -> Result<usize, Failure> {
        let expected = self.build(random)?;
        peer.send(&self.sent)?;
        if !receive(peer, self.reuse, &mut self.replied)? {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        judge(W::check(&decode::<F, _>(&self.replied)?, &expected))?;
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
            Part::Request => W::see_request(&decode::<F, _>(message)?, digest),
            Part::Response => W::see_response(&decode::<F, _>(message)?, digest),
        }
        Ok(())
    }
}
