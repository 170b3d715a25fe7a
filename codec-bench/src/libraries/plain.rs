// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! No library: plain structs, passed by reference, or copied in place of bytes. What all others add is above this.

use crate::{
    contract::{Case, Exchange, Failure, Form, Part, Peer, judge},
    digest::Digest,
    libraries::owned::{Carsales, Catrank, Eval, Work},
    random::Random,
};

/// The case in this form.
pub fn exchange(case: Case, form: Form) -> Box<dyn Exchange> {
    match case {
        Case::Carsales => Box::new(Plain::<Carsales>::new(form)),
        Case::Catrank => Box::new(Plain::<Catrank>::new(form)),
        Case::Eval => Box::new(Plain::<Eval>::new(form)),
    }
}

#[derive(Default)]
struct Plain<W: Work> {
    work: W,
    reuse: bool,
    request: W::Request,
    response: W::Response,
    // What has been copied in place of bytes.
    sent: W::Request,
    replied: W::Response,
}

impl<W: Work> Plain<W> {
    fn new(form: Form) -> Self {
        Self { reuse: form.reuse, ..Self::default() }
    }

    fn build(&mut self, random: &mut Random) -> W::Expected {
        if !self.reuse {
            self.request = W::Request::default();
            self.response = W::Response::default();
        }
        W::ask(&mut self.work, random, &mut self.request)
    }

    fn copy<T: Clone>(reuse: bool, from: &T, to: &mut T) {
        if reuse {
            to.clone_from(from);
        } else {
            *to = from.clone();
        }
    }
}

fn no_bytes<T>() -> Result<T, Failure> {
    Err(Failure::Unreadable("plain structs have no bytes".to_owned()))
}

impl<W: Work> Exchange for Plain<W> {
    fn object(&mut self, random: &mut Random) -> Result<(), Failure> {
        let expected = self.build(random);
        W::answer(&self.request, &mut self.response);
        judge(W::check(&self.response, &expected))
    }

    fn bytes(&mut self, random: &mut Random) -> Result<usize, Failure> {
        let expected = self.build(random);
        Self::copy(self.reuse, &self.request, &mut self.sent);
        W::answer(&self.sent, &mut self.response);
        Self::copy(self.reuse, &self.response, &mut self.replied);
        judge(W::check(&self.replied, &expected))?;
        Ok(0)
    }

    fn ask(&mut self, _: &mut Random, _: &mut Peer) -> Result<usize, Failure> {
        no_bytes()
    }

    fn answer(&mut self, _: &mut Peer) -> Result<Option<usize>, Failure> {
        no_bytes()
    }

    fn request(&mut self, _: &mut Random) -> Result<Vec<u8>, Failure> {
        no_bytes()
    }

    fn response(&mut self, _: &[u8]) -> Result<Vec<u8>, Failure> {
        no_bytes()
    }

    fn see(&mut self, _: Part, _: &[u8], _: &mut Digest) -> Result<(), Failure> {
        no_bytes()
    }
}
