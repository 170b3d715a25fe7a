// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! No library: plain structs, passed by reference, or copied in place of bytes. What all others add is above this.

use crate::{
    cases::{
        carsales::{MOST_CARS, Names, Numbers},
        catrank::{self, MOST_PAGES, Page},
        eval::{Operand, Operation, Tree},
    },
    contract::{Case, Exchange, Failure, Form, Part, Peer},
    digest::Digest,
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

trait Work {
    type Request: Clone + Default;
    type Response: Clone + Default;
    type Expected;

    fn ask(work: &mut Self, random: &mut Random, request: &mut Self::Request) -> Self::Expected;
    fn answer(request: &Self::Request, response: &mut Self::Response);
    fn check(response: &Self::Response, expected: &Self::Expected) -> bool;
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

impl<W: Work + Default> Plain<W> {
    fn new(form: Form) -> Self {
        Self {
            work: W::default(),
            reuse: form.reuse,
            request: W::Request::default(),
            response: W::Response::default(),
            sent: W::Request::default(),
            replied: W::Response::default(),
        }
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

fn judge(right: bool) -> Result<(), Failure> {
    if right { Ok(()) } else { Err(Failure::Wrong) }
}

fn no_bytes<T>() -> Result<T, Failure> {
    Err(Failure::Unreadable("plain structs have no bytes".to_owned()))
}

impl<W: Work + Default> Exchange for Plain<W> {
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

#[derive(Clone)]
#[allow(dead_code, reason = "names are copied, and not looked at")]
struct Car {
    make: String,
    model: String,
    numbers: Numbers,
}

#[derive(Default)]
struct Carsales;

impl Work for Carsales {
    type Request = Vec<Car>;
    type Response = u64;
    type Expected = u64;

    fn ask(_: &mut Self, random: &mut Random, request: &mut Vec<Car>) -> u64 {
        request.clear();
        let mut worth = 0;
        for _ in 0..random.below(MOST_CARS) {
            let (names, numbers) = (Names::draw(random), Numbers::draw(random));
            worth += numbers.worth();
            request.push(Car { make: names.make.to_owned(), model: names.model.to_owned(), numbers });
        }
        worth
    }

    fn answer(request: &Vec<Car>, response: &mut u64) {
        *response = request.iter().map(|car| car.numbers.worth()).sum();
    }

    fn check(response: &u64, expected: &u64) -> bool {
        response == expected
    }
}

#[derive(Default)]
struct Catrank {
    page: Page,
}

impl Work for Catrank {
    type Request = Vec<Page>;
    type Response = Vec<Page>;
    type Expected = u32;

    fn ask(work: &mut Self, random: &mut Random, request: &mut Vec<Page>) -> u32 {
        request.clear();
        let mut good = 0;
        for number in 0..random.below(MOST_PAGES) {
            good += u32::from(work.page.draw(number, random));
            request.push(work.page.clone());
        }
        good
    }

    fn answer(request: &Vec<Page>, response: &mut Vec<Page>) {
        let mut ranked: Vec<_> =
            request.iter().map(|page| (catrank::ranked(page.score, page.snippet.as_bytes()), page)).collect();
        catrank::sort(&mut ranked);
        response.clear();
        response.extend(ranked.into_iter().map(|(score, page)| Page { score, ..page.clone() }));
    }

    fn check(response: &Vec<Page>, expected: &u32) -> bool {
        catrank::count_good(response.iter().map(|page| page.score)) == Some(*expected)
    }
}

#[derive(Clone)]
enum Side {
    Value(i32),
    Expression(Box<Expression>),
}

#[derive(Clone)]
struct Expression {
    operation: Operation,
    left: Side,
    right: Side,
}

#[derive(Default)]
struct Eval {
    tree: Tree,
}

impl Eval {
    fn side(&self, operand: Operand) -> Side {
        match operand {
            Operand::Value(value) => Side::Value(value),
            Operand::Expression(place) => Side::Expression(Box::new(self.expression(self.tree.expressions[place]))),
        }
    }

    fn expression(&self, from: crate::cases::eval::Expression) -> Expression {
        Expression { operation: from.operation, left: self.side(from.left), right: self.side(from.right) }
    }
}

impl Side {
    fn compute(&self) -> i32 {
        match self {
            Self::Value(value) => *value,
            Self::Expression(expression) => expression.compute(),
        }
    }
}

impl Expression {
    fn compute(&self) -> i32 {
        self.operation.apply(self.left.compute(), self.right.compute())
    }
}

impl Work for Eval {
    type Request = Option<Expression>;
    type Response = i32;
    type Expected = i32;

    fn ask(work: &mut Self, random: &mut Random, request: &mut Option<Expression>) -> i32 {
        let (root, value) = work.tree.draw(random);
        *request = Some(work.expression(root));
        value
    }

    fn answer(request: &Option<Expression>, response: &mut i32) {
        *response = request.as_ref().map_or(0, Expression::compute);
    }

    fn check(response: &i32, expected: &i32) -> bool {
        response == expected
    }
}
