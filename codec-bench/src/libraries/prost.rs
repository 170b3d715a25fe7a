// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Protocol Buffers by the crate `prost`: the messages of `schemas/cases.proto`, whose texts are checked to be UTF-8.

use prost::Message;

use crate::{
    cases::{
        carsales::{self, MOST_CARS, Names, Numbers},
        catrank::{self, MOST_PAGES},
        eval::{self, Operand, Tree},
    },
    contract::{Case, Exchange, Failure, Form},
    digest::Digest,
    libraries::{
        decoded::{self, Format, unreadable},
        owned::Work,
    },
    random::Random,
};

/// The case in this form.
pub fn exchange(case: Case, form: Form) -> Box<dyn Exchange> {
    match case {
        Case::Carsales => decoded::exchange::<Carsales, Prost>(form),
        Case::Catrank => decoded::exchange::<Catrank, Prost>(form),
        Case::Eval => decoded::exchange::<Eval, Prost>(form),
    }
}

struct Prost;

impl<T: Message + Default> Format<T> for Prost {
    fn encode(value: &T, bytes: &mut Vec<u8>) -> Result<(), Failure> {
        value.encode(bytes).map_err(unreadable)
    }

    fn decode(bytes: &[u8]) -> Result<T, Failure> {
        T::decode(bytes).map_err(unreadable)
    }
}

#[derive(Clone, PartialEq, Message)]
struct Wheel {
    #[prost(uint32, tag = "1")]
    diameter: u32,
    #[prost(float, tag = "2")]
    pressure: f32,
    #[prost(bool, tag = "3")]
    winter: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Engine {
    #[prost(uint32, tag = "1")]
    horsepower: u32,
    #[prost(uint32, tag = "2")]
    cylinders: u32,
    #[prost(uint32, tag = "3")]
    displacement: u32,
    #[prost(bool, tag = "4")]
    gas: bool,
    #[prost(bool, tag = "5")]
    electric: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Car {
    #[prost(string, tag = "1")]
    make: String,
    #[prost(string, tag = "2")]
    model: String,
    // An enumeration in the schema, which is an integer on the wire.
    #[prost(int32, tag = "3")]
    color: i32,
    #[prost(uint32, tag = "4")]
    seats: u32,
    #[prost(uint32, tag = "5")]
    doors: u32,
    #[prost(message, repeated, tag = "6")]
    wheels: Vec<Wheel>,
    #[prost(uint32, tag = "7")]
    length: u32,
    #[prost(uint32, tag = "8")]
    width: u32,
    #[prost(uint32, tag = "9")]
    height: u32,
    #[prost(uint32, tag = "10")]
    weight: u32,
    #[prost(message, optional, tag = "11")]
    engine: Option<Engine>,
    #[prost(float, tag = "12")]
    fuel_capacity: f32,
    #[prost(float, tag = "13")]
    fuel_level: f32,
    #[prost(bool, tag = "14")]
    power_windows: bool,
    #[prost(bool, tag = "15")]
    power_steering: bool,
    #[prost(bool, tag = "16")]
    cruise_control: bool,
    #[prost(uint32, tag = "17")]
    cup_holders: u32,
    #[prost(bool, tag = "18")]
    navigation: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Lot {
    #[prost(message, repeated, tag = "1")]
    cars: Vec<Car>,
}

#[derive(Clone, PartialEq, Message)]
struct Worth {
    #[prost(uint64, tag = "1")]
    total: u64,
}

impl Car {
    fn new(names: Names, numbers: &Numbers) -> Self {
        Self {
            make: names.make.to_owned(),
            model: names.model.to_owned(),
            color: numbers.color.into(),
            seats: numbers.seats.into(),
            doors: numbers.doors.into(),
            wheels: numbers
                .wheels
                .iter()
                .map(|wheel| Wheel { diameter: wheel.diameter.into(), pressure: wheel.pressure, winter: wheel.winter })
                .collect(),
            length: numbers.length.into(),
            width: numbers.width.into(),
            height: numbers.height.into(),
            weight: numbers.weight,
            engine: Some(Engine {
                horsepower: numbers.engine.horsepower.into(),
                cylinders: numbers.engine.cylinders.into(),
                displacement: numbers.engine.displacement,
                gas: numbers.engine.gas,
                electric: numbers.engine.electric,
            }),
            fuel_capacity: numbers.fuel_capacity,
            fuel_level: numbers.fuel_level,
            power_windows: numbers.power_windows,
            power_steering: numbers.power_steering,
            cruise_control: numbers.cruise_control,
            cup_holders: numbers.cup_holders.into(),
            navigation: numbers.navigation,
        }
    }

    /// The format has no numbers of less than 32 bits.
    fn numbers(&self) -> Numbers {
        let mut wheels = [carsales::Wheel::default(); carsales::WHEELS];
        for (to, from) in wheels.iter_mut().zip(&self.wheels) {
            *to = carsales::Wheel { diameter: from.diameter as u16, pressure: from.pressure, winter: from.winter };
        }
        let engine = self.engine.as_ref().map_or_else(carsales::Engine::default, |engine| carsales::Engine {
            horsepower: engine.horsepower as u16,
            cylinders: engine.cylinders as u8,
            displacement: engine.displacement,
            gas: engine.gas,
            electric: engine.electric,
        });
        Numbers {
            color: self.color as u16,
            seats: self.seats as u8,
            doors: self.doors as u8,
            wheels,
            length: self.length as u16,
            width: self.width as u16,
            height: self.height as u16,
            weight: self.weight,
            engine,
            fuel_capacity: self.fuel_capacity,
            fuel_level: self.fuel_level,
            power_windows: self.power_windows,
            power_steering: self.power_steering,
            cruise_control: self.cruise_control,
            cup_holders: self.cup_holders as u8,
            navigation: self.navigation,
        }
    }
}

#[derive(Default)]
struct Carsales;

impl Work for Carsales {
    type Request = Lot;
    type Response = Worth;
    type Expected = u64;

    fn ask(_: &mut Self, random: &mut Random, request: &mut Lot) -> u64 {
        request.cars.clear();
        let mut worth = 0;
        for _ in 0..random.below(MOST_CARS) {
            let (names, numbers) = (Names::draw(random), Numbers::draw(random));
            worth += numbers.worth();
            request.cars.push(Car::new(names, &numbers));
        }
        worth
    }

    fn answer(request: &Lot, response: &mut Worth) {
        response.total = request.cars.iter().map(|car| car.numbers().worth()).sum();
    }

    fn check(response: &Worth, expected: &u64) -> bool {
        response.total == *expected
    }

    fn see_request(request: &Lot, digest: &mut Digest) {
        for car in &request.cars {
            digest.text(car.make.as_bytes());
            digest.text(car.model.as_bytes());
            car.numbers().see(digest);
        }
    }

    fn see_response(response: &Worth, digest: &mut Digest) {
        digest.number(response.total);
    }
}

#[derive(Clone, PartialEq, Message)]
struct Page {
    #[prost(string, tag = "1")]
    url: String,
    #[prost(double, tag = "2")]
    score: f64,
    #[prost(string, tag = "3")]
    snippet: String,
}

#[derive(Clone, PartialEq, Message)]
struct Pages {
    #[prost(message, repeated, tag = "1")]
    pages: Vec<Page>,
}

#[derive(Default)]
struct Catrank {
    page: catrank::Page,
}

impl Work for Catrank {
    type Request = Pages;
    type Response = Pages;
    type Expected = u32;

    fn ask(work: &mut Self, random: &mut Random, request: &mut Pages) -> u32 {
        request.pages.clear();
        let mut good = 0;
        for number in 0..random.below(MOST_PAGES) {
            good += u32::from(work.page.draw(number, random));
            let catrank::Page { url, score, snippet } = work.page.clone();
            request.pages.push(Page { url, score, snippet });
        }
        good
    }

    fn answer(request: &Pages, response: &mut Pages) {
        let pages = request.pages.iter();
        let mut ranked: Vec<_> =
            pages.map(|page| (catrank::ranked(page.score, page.snippet.as_bytes()), page)).collect();
        catrank::sort(&mut ranked);
        response.pages.clear();
        response.pages.extend(ranked.into_iter().map(|(score, page)| Page { score, ..page.clone() }));
    }

    fn check(response: &Pages, expected: &u32) -> bool {
        catrank::count_good(response.pages.iter().map(|page| page.score)) == Some(*expected)
    }

    fn see_request(request: &Pages, digest: &mut Digest) {
        for page in &request.pages {
            digest.text(page.url.as_bytes());
            digest.real(page.score);
            digest.text(page.snippet.as_bytes());
        }
    }

    fn see_response(response: &Pages, digest: &mut Digest) {
        Self::see_request(response, digest);
    }
}

#[derive(Clone, PartialEq, Message)]
struct Expression {
    #[prost(enumeration = "Operation", tag = "1")]
    operation: i32,
    #[prost(oneof = "Left", tags = "2, 3")]
    left: Option<Left>,
    #[prost(oneof = "Right", tags = "4, 5")]
    right: Option<Right>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
enum Operation {
    Add = 0,
    Subtract = 1,
    Multiply = 2,
    Divide = 3,
    Modulus = 4,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Left {
    #[prost(sint32, tag = "2")]
    Value(i32),
    #[prost(message, tag = "3")]
    Expression(Box<Expression>),
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Right {
    #[prost(sint32, tag = "4")]
    Value(i32),
    #[prost(message, tag = "5")]
    Expression(Box<Expression>),
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(sint32, tag = "1")]
    value: i32,
}

#[derive(Default)]
struct Eval {
    tree: Tree,
}

impl Eval {
    fn expression(&self, from: eval::Expression) -> Expression {
        let at = |place: usize| Box::new(self.expression(self.tree.expressions[place]));
        Expression {
            operation: match from.operation {
                eval::Operation::Add => Operation::Add,
                eval::Operation::Subtract => Operation::Subtract,
                eval::Operation::Multiply => Operation::Multiply,
                eval::Operation::Divide => Operation::Divide,
                eval::Operation::Modulus => Operation::Modulus,
            }
            .into(),
            left: Some(match from.left {
                Operand::Value(value) => Left::Value(value),
                Operand::Expression(place) => Left::Expression(at(place)),
            }),
            right: Some(match from.right {
                Operand::Value(value) => Right::Value(value),
                Operand::Expression(place) => Right::Expression(at(place)),
            }),
        }
    }
}

impl Expression {
    fn apply(&self, left: i32, right: i32) -> i32 {
        match self.operation() {
            Operation::Add => eval::Operation::Add,
            Operation::Subtract => eval::Operation::Subtract,
            Operation::Multiply => eval::Operation::Multiply,
            Operation::Divide => eval::Operation::Divide,
            Operation::Modulus => eval::Operation::Modulus,
        }
        .apply(left, right)
    }

    fn compute(&self) -> i32 {
        let left = match &self.left {
            Some(Left::Value(value)) => *value,
            Some(Left::Expression(expression)) => expression.compute(),
            None => 0,
        };
        let right = match &self.right {
            Some(Right::Value(value)) => *value,
            Some(Right::Expression(expression)) => expression.compute(),
            None => 0,
        };
        self.apply(left, right)
    }

    fn see(&self, digest: &mut Digest) {
        digest.number(self.operation as u64);
        match &self.left {
            Some(Left::Expression(expression)) => expression.see(digest),
            Some(Left::Value(value)) => digest.number(*value as u64),
            None => (),
        }
        match &self.right {
            Some(Right::Expression(expression)) => expression.see(digest),
            Some(Right::Value(value)) => digest.number(*value as u64),
            None => (),
        }
    }
}

impl Work for Eval {
    type Request = Expression;
    type Response = Value;
    type Expected = i32;

    fn ask(work: &mut Self, random: &mut Random, request: &mut Expression) -> i32 {
        let (root, value) = work.tree.draw(random);
        *request = work.expression(root);
        value
    }

    fn answer(request: &Expression, response: &mut Value) {
        response.value = request.compute();
    }

    fn check(response: &Value, expected: &i32) -> bool {
        response.value == *expected
    }

    fn see_request(request: &Expression, digest: &mut Digest) {
        request.see(digest);
    }

    fn see_response(response: &Value, digest: &mut Digest) {
        digest.number(response.value as u64);
    }
}
