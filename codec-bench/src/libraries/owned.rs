// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The cases over structs that own what they have: for no library, and for those that decode into such structs.

use serde::{Deserialize, Serialize};

use crate::{
    cases::{
        carsales::{MOST_CARS, Names, Numbers},
        catrank::{self, MOST_PAGES, Page},
        eval::{self, Operand, Operation, Tree},
    },
    digest::Digest,
    random::Random,
};

/// A case: what is done with its messages.
pub trait Work: Default {
    /// From the client.
    type Request: Clone + Default;
    /// From the server.
    type Response: Clone + Default;
    /// What the client knows of the response.
    type Expected;

    /// Builds the next request, over one that was there before.
    fn ask(work: &mut Self, random: &mut Random, request: &mut Self::Request) -> Self::Expected;
    /// Does the server's work, over a response that was there before.
    fn answer(request: &Self::Request, response: &mut Self::Response);
    /// Whether it is the response that was expected.
    fn check(response: &Self::Response, expected: &Self::Expected) -> bool;
    /// Reads each value of a request.
    fn see_request(request: &Self::Request, digest: &mut Digest);
    /// Reads each value of a response.
    fn see_response(response: &Self::Response, digest: &mut Digest);
}

/// A car with its names.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Car {
    make: String,
    model: String,
    numbers: Numbers,
}

/// See [`crate::cases::carsales`].
#[derive(Default)]
pub struct Carsales;

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

    fn see_request(request: &Vec<Car>, digest: &mut Digest) {
        for car in request {
            digest.text(car.make.as_bytes());
            digest.text(car.model.as_bytes());
            car.numbers.see(digest);
        }
    }

    fn see_response(response: &u64, digest: &mut Digest) {
        digest.number(*response);
    }
}

/// See [`crate::cases::catrank`].
#[derive(Default)]
pub struct Catrank {
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

    fn see_request(request: &Vec<Page>, digest: &mut Digest) {
        for page in request {
            digest.text(page.url.as_bytes());
            digest.real(page.score);
            digest.text(page.snippet.as_bytes());
        }
    }

    fn see_response(response: &Vec<Page>, digest: &mut Digest) {
        Self::see_request(response, digest);
    }
}

/// One side of an expression.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Side {
    /// A number.
    Value(i32),
    /// What has to be computed.
    Expression(Box<Expression>),
}

/// An operation with both sides.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Expression {
    operation: Operation,
    left: Side,
    right: Side,
}

/// See [`crate::cases::eval`].
#[derive(Default)]
pub struct Eval {
    tree: Tree,
}

impl Eval {
    fn side(&self, operand: Operand) -> Side {
        match operand {
            Operand::Value(value) => Side::Value(value),
            Operand::Expression(place) => Side::Expression(Box::new(self.expression(self.tree.expressions[place]))),
        }
    }

    fn expression(&self, from: eval::Expression) -> Expression {
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

    fn see(&self, digest: &mut Digest) {
        digest.number(self.operation as u64);
        for side in [&self.left, &self.right] {
            match side {
                Side::Value(value) => digest.number(*value as u64),
                Side::Expression(expression) => expression.see(digest),
            }
        }
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

    fn see_request(request: &Option<Expression>, digest: &mut Digest) {
        if let Some(expression) = request {
            expression.see(digest);
        }
    }

    fn see_response(response: &i32, digest: &mut Digest) {
        digest.number(*response as u64);
    }
}
