// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Cap'n Proto by the crate `capnp`.

use std::mem;

use capnp::{
    Word,
    message::{self, Allocator, Builder, HeapAllocator, ReaderOptions, ScratchSpaceHeapAllocator},
    serialize, serialize_packed,
    traits::Owned,
};

use crate::{
    cases::{
        carsales::{Engine, MOST_CARS, Names, Numbers, WHEELS, Wheel},
        catrank::{self, MOST_PAGES, Page},
        eval::{self, Operand, Operation, Tree},
    },
    contract::{Case, Exchange, Failure, Form, Part, Peer, judge},
    digest::Digest,
    random::Random,
};

#[allow(missing_docs, unreachable_pub, clippy::all, clippy::unwrap_used, reason = "generated")]
mod carsales_capnp {
    include!(concat!(env!("OUT_DIR"), "/carsales_capnp.rs"));
}
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::unwrap_used, reason = "generated")]
mod catrank_capnp {
    include!(concat!(env!("OUT_DIR"), "/catrank_capnp.rs"));
}
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::unwrap_used, reason = "generated")]
mod eval_capnp {
    include!(concat!(env!("OUT_DIR"), "/eval_capnp.rs"));
}

use carsales_capnp as cars;
use catrank_capnp as pages;
use eval_capnp as expressions;

/// Buffers that are used again have as much; as those of the C++ library do here.
const SCRATCH_WORDS: usize = 128 * 1_024;

/// The case in this form.
pub fn exchange(case: Case, form: Form) -> Box<dyn Exchange> {
    match case {
        Case::Carsales => of::<Carsales>(form),
        Case::Catrank => of::<Catrank>(form),
        Case::Eval => of::<Eval>(form),
    }
}

fn of<W: Work + 'static>(form: Form) -> Box<dyn Exchange> {
    if form.reuse { Box::new(Capnp::<W, Scratch>::new(form)) } else { Box::new(Capnp::<W, Fresh>::new(form)) }
}

type Result<T> = capnp::Result<T>;
type Reading<'a, T> = <T as Owned>::Reader<'a>;
type Building<'a, T> = <T as Owned>::Builder<'a>;

/// A case: what is done with its messages.
trait Work: Default {
    type Request: Owned;
    type Response: Owned;
    type Expected;

    fn ask(&mut self, random: &mut Random, request: Building<'_, Self::Request>) -> Self::Expected;
    fn answer(request: Reading<'_, Self::Request>, response: Building<'_, Self::Response>) -> Result<()>;
    fn check(response: Reading<'_, Self::Response>, expected: &Self::Expected) -> Result<bool>;
    fn see_request(request: Reading<'_, Self::Request>, digest: &mut Digest) -> Result<()>;
    fn see_response(response: Reading<'_, Self::Response>, digest: &mut Digest) -> Result<()>;
}

/// Where a message is built, and where it is put.
trait Place {
    type Allocator<'a>: Allocator
    where
        Self: 'a;

    fn new() -> Self;
    fn allocator(&mut self) -> Self::Allocator<'_>;
    fn write<A: Allocator>(message: &Builder<A>, packed: bool, bytes: &mut Vec<u8>) -> Result<()>;
    /// Calls `then` with the root of a packed message in these bytes.
    fn unpack<T: Owned, R>(&mut self, bytes: &[u8], then: impl FnOnce(Reading<'_, T>) -> Result<R>) -> Result<R>;
    /// The same with a message that may be packed. One that is not is read where it lies.
    fn read<T: Owned, R>(
        &mut self,
        bytes: &[u8],
        packed: bool,
        then: impl FnOnce(Reading<'_, T>) -> Result<R>,
    ) -> Result<R> {
        if packed { self.unpack::<T, R>(bytes, then) } else { then(in_place(bytes)?.get_root()?) }
    }
    /// The same with a message from the peer; `None` at the end of all messages.
    fn receive<T: Owned, R>(
        &mut self,
        peer: &mut Peer,
        packed: bool,
        then: impl FnOnce(Reading<'_, T>) -> Result<R>,
    ) -> Result<Option<R>>;
}

/// New buffers for each message.
struct Fresh;

impl Place for Fresh {
    type Allocator<'a> = HeapAllocator;

    fn new() -> Self {
        Self
    }

    fn allocator(&mut self) -> HeapAllocator {
        HeapAllocator::new()
    }

    fn write<A: Allocator>(message: &Builder<A>, packed: bool, bytes: &mut Vec<u8>) -> Result<()> {
        if packed {
            *bytes = Vec::new();
            serialize_packed::write_message(bytes, message)
        } else {
            *bytes = serialize::write_message_to_words(message);
            Ok(())
        }
    }

    fn unpack<T: Owned, R>(&mut self, bytes: &[u8], then: impl FnOnce(Reading<'_, T>) -> Result<R>) -> Result<R> {
        then(serialize_packed::read_message(bytes, ReaderOptions::new())?.get_root()?)
    }

    fn receive<T: Owned, R>(
        &mut self,
        peer: &mut Peer,
        packed: bool,
        then: impl FnOnce(Reading<'_, T>) -> Result<R>,
    ) -> Result<Option<R>> {
        let message = if packed {
            serialize_packed::try_read_message(&mut peer.input, ReaderOptions::new())?
        } else {
            serialize::try_read_message(&mut peer.input, ReaderOptions::new())?
        };
        message.map(|message| then(message.get_root()?)).transpose()
    }
}

/// The same buffers for all messages.
struct Scratch {
    building: ScratchSpaceHeapAllocator<'static>,
    reading: Vec<Word>,
}

impl Place for Scratch {
    type Allocator<'a> = &'a mut ScratchSpaceHeapAllocator<'static>;

    fn new() -> Self {
        let words = Word::allocate_zeroed_vec(SCRATCH_WORDS).leak();
        Self {
            building: ScratchSpaceHeapAllocator::new(Word::words_to_bytes_mut(words)),
            reading: Word::allocate_zeroed_vec(SCRATCH_WORDS),
        }
    }

    fn allocator(&mut self) -> &mut ScratchSpaceHeapAllocator<'static> {
        &mut self.building
    }

    fn write<A: Allocator>(message: &Builder<A>, packed: bool, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        if packed { serialize_packed::write_message(bytes, message) } else { serialize::write_message(bytes, message) }
    }

    fn unpack<T: Owned, R>(&mut self, bytes: &[u8], then: impl FnOnce(Reading<'_, T>) -> Result<R>) -> Result<R> {
        let room = Word::words_to_bytes_mut(&mut self.reading);
        then(serialize_packed::read_message_no_alloc(bytes, room, ReaderOptions::new())?.get_root()?)
    }

    fn receive<T: Owned, R>(
        &mut self,
        peer: &mut Peer,
        packed: bool,
        then: impl FnOnce(Reading<'_, T>) -> Result<R>,
    ) -> Result<Option<R>> {
        let room = Word::words_to_bytes_mut(&mut self.reading);
        let message = if packed {
            serialize_packed::try_read_message_no_alloc(&mut peer.input, room, ReaderOptions::new())?
        } else {
            serialize::try_read_message_no_alloc(&mut peer.input, room, ReaderOptions::new())?
        };
        message.map(|message| then(message.get_root()?)).transpose()
    }
}

/// The allocator aligns what it gives to 16 bytes; if it did not, this would be an error.
fn in_place(mut bytes: &[u8]) -> Result<message::Reader<serialize::NoAllocSliceSegments<'_>>> {
    serialize::read_message_from_flat_slice_no_alloc(&mut bytes, ReaderOptions::new())
}

struct Capnp<W, P> {
    work: W,
    packed: bool,
    // Of the client, and of the server.
    request: P,
    response: P,
    sent: Vec<u8>,
    replied: Vec<u8>,
}

impl<W: Work, P: Place> Capnp<W, P> {
    fn new(form: Form) -> Self {
        Self {
            work: W::default(),
            packed: form.packed,
            request: P::new(),
            response: P::new(),
            sent: Vec::new(),
            replied: Vec::new(),
        }
    }

    /// Leaves a request in `sent`.
    fn build(&mut self, random: &mut Random) -> Result<W::Expected> {
        let mut message = Builder::new(self.request.allocator());
        let expected = self.work.ask(random, message.init_root());
        P::write(&message, self.packed, &mut self.sent)?;
        Ok(expected)
    }

    /// Leaves the response to a request in `replied`.
    fn respond(&mut self, request: &[u8]) -> Result<()> {
        let mut response = Builder::new(self.response.allocator());
        self.request.read::<W::Request, _>(request, self.packed, |it| W::answer(it, response.init_root()))?;
        P::write(&response, self.packed, &mut self.replied)
    }
}

impl<W: Work, P: Place> Exchange for Capnp<W, P> {
    fn object(&mut self, random: &mut Random) -> std::result::Result<(), Failure> {
        let mut request = Builder::new(self.request.allocator());
        let expected = self.work.ask(random, request.init_root());
        let mut response = Builder::new(self.response.allocator());
        W::answer(request.get_root_as_reader()?, response.init_root())?;
        judge(W::check(response.get_root_as_reader()?, &expected)?)
    }

    fn bytes(&mut self, random: &mut Random) -> std::result::Result<usize, Failure> {
        let expected = self.build(random)?;
        let sent = mem::take(&mut self.sent);
        self.respond(&sent)?;
        self.sent = sent;
        let packed = self.packed;
        judge(self.response.read::<W::Response, _>(&self.replied, packed, |response| W::check(response, &expected))?)?;
        Ok(self.sent.len() + self.replied.len())
    }

    fn ask(&mut self, random: &mut Random, peer: &mut Peer) -> std::result::Result<usize, Failure> {
        let expected = self.build(random)?;
        peer.send(&self.sent)?;
        let right = self.response.receive::<W::Response, _>(peer, self.packed, |it| W::check(it, &expected))?;
        judge(right.unwrap_or(false))?;
        Ok(self.sent.len())
    }

    fn answer(&mut self, peer: &mut Peer) -> std::result::Result<Option<usize>, Failure> {
        let mut response = Builder::new(self.response.allocator());
        let answered = self
            .request
            .receive::<W::Request, _>(peer, self.packed, |request| W::answer(request, response.init_root()))?;
        if answered.is_none() {
            return Ok(None);
        }
        P::write(&response, self.packed, &mut self.replied)?;
        peer.send(&self.replied)?;
        Ok(Some(self.replied.len()))
    }

    fn request(&mut self, random: &mut Random) -> std::result::Result<Vec<u8>, Failure> {
        self.build(random)?;
        Ok(self.sent.clone())
    }

    fn response(&mut self, request: &[u8]) -> std::result::Result<Vec<u8>, Failure> {
        self.respond(request)?;
        Ok(self.replied.clone())
    }

    fn see(&mut self, part: Part, message: &[u8], digest: &mut Digest) -> std::result::Result<(), Failure> {
        let packed = self.packed;
        match part {
            Part::Request => self.request.read::<W::Request, _>(message, packed, |it| W::see_request(it, digest))?,
            Part::Response => self.request.read::<W::Response, _>(message, packed, |it| W::see_response(it, digest))?,
        }
        Ok(())
    }
}

impl From<capnp::Error> for Failure {
    fn from(error: capnp::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

#[derive(Default)]
struct Carsales;

impl Carsales {
    fn read(car: cars::car::Reader<'_>) -> Result<Numbers> {
        let mut wheels = [Wheel::default(); WHEELS];
        for (wheel, from) in wheels.iter_mut().zip(car.get_wheels()?) {
            *wheel = Wheel { diameter: from.get_diameter(), pressure: from.get_pressure(), winter: from.get_winter() };
        }
        let engine = car.get_engine()?;
        Ok(Numbers {
            color: car.get_color()? as u16,
            seats: car.get_seats(),
            doors: car.get_doors(),
            wheels,
            length: car.get_length(),
            width: car.get_width(),
            height: car.get_height(),
            weight: car.get_weight(),
            engine: Engine {
                horsepower: engine.get_horsepower(),
                cylinders: engine.get_cylinders(),
                displacement: engine.get_displacement(),
                gas: engine.get_gas(),
                electric: engine.get_electric(),
            },
            fuel_capacity: car.get_fuel_capacity(),
            fuel_level: car.get_fuel_level(),
            power_windows: car.get_power_windows(),
            power_steering: car.get_power_steering(),
            cruise_control: car.get_cruise_control(),
            cup_holders: car.get_cup_holders(),
            navigation: car.get_navigation(),
        })
    }

    fn write(mut car: cars::car::Builder<'_>, names: Names, numbers: &Numbers) {
        car.set_make(names.make);
        car.set_model(names.model);
        // Drawn below the number of colors.
        car.set_color(cars::Color::try_from(numbers.color).unwrap_or(cars::Color::Black));
        car.set_seats(numbers.seats);
        car.set_doors(numbers.doors);
        let mut wheels = car.reborrow().init_wheels(WHEELS as u32);
        for (place, wheel) in (0..).zip(&numbers.wheels) {
            let mut to = wheels.reborrow().get(place);
            to.set_diameter(wheel.diameter);
            to.set_pressure(wheel.pressure);
            to.set_winter(wheel.winter);
        }
        car.set_length(numbers.length);
        car.set_width(numbers.width);
        car.set_height(numbers.height);
        car.set_weight(numbers.weight);
        let mut engine = car.reborrow().init_engine();
        engine.set_horsepower(numbers.engine.horsepower);
        engine.set_cylinders(numbers.engine.cylinders);
        engine.set_displacement(numbers.engine.displacement);
        engine.set_gas(numbers.engine.gas);
        engine.set_electric(numbers.engine.electric);
        car.set_fuel_capacity(numbers.fuel_capacity);
        car.set_fuel_level(numbers.fuel_level);
        car.set_power_windows(numbers.power_windows);
        car.set_power_steering(numbers.power_steering);
        car.set_cruise_control(numbers.cruise_control);
        car.set_cup_holders(numbers.cup_holders);
        car.set_navigation(numbers.navigation);
    }
}

impl Work for Carsales {
    type Request = cars::lot::Owned;
    type Response = cars::worth::Owned;
    type Expected = u64;

    fn ask(&mut self, random: &mut Random, request: cars::lot::Builder<'_>) -> u64 {
        let mut list = request.init_cars(random.below(MOST_CARS));
        let mut worth = 0;
        for place in 0..list.len() {
            let (names, numbers) = (Names::draw(random), Numbers::draw(random));
            Self::write(list.reborrow().get(place), names, &numbers);
            worth += numbers.worth();
        }
        worth
    }

    fn answer(request: cars::lot::Reader<'_>, mut response: cars::worth::Builder<'_>) -> Result<()> {
        let mut worth = 0;
        for car in request.get_cars()? {
            worth += Self::read(car)?.worth();
        }
        response.set_total(worth);
        Ok(())
    }

    fn check(response: cars::worth::Reader<'_>, expected: &u64) -> Result<bool> {
        Ok(response.get_total() == *expected)
    }

    fn see_request(request: cars::lot::Reader<'_>, digest: &mut Digest) -> Result<()> {
        for car in request.get_cars()? {
            digest.text(car.get_make()?.as_bytes());
            digest.text(car.get_model()?.as_bytes());
            Self::read(car)?.see(digest);
        }
        Ok(())
    }

    fn see_response(response: cars::worth::Reader<'_>, digest: &mut Digest) -> Result<()> {
        digest.number(response.get_total());
        Ok(())
    }
}

#[derive(Default)]
struct Catrank {
    page: Page,
}

impl Work for Catrank {
    type Request = pages::pages::Owned;
    type Response = pages::pages::Owned;
    type Expected = u32;

    fn ask(&mut self, random: &mut Random, request: pages::pages::Builder<'_>) -> u32 {
        let mut list = request.init_pages(random.below(MOST_PAGES));
        let mut good = 0;
        for place in 0..list.len() {
            good += u32::from(self.page.draw(place, random));
            let mut page = list.reborrow().get(place);
            page.set_url(self.page.url.as_str());
            page.set_score(self.page.score);
            page.set_snippet(self.page.snippet.as_str());
        }
        good
    }

    fn answer(request: pages::pages::Reader<'_>, response: pages::pages::Builder<'_>) -> Result<()> {
        let list = request.get_pages()?;
        let mut ranked = Vec::with_capacity(list.len() as usize);
        for page in list {
            ranked.push((catrank::ranked(page.get_score(), page.get_snippet()?.as_bytes()), page));
        }
        catrank::sort(&mut ranked);
        let mut list = response.init_pages(list.len());
        for (place, (score, page)) in (0..).zip(ranked) {
            let mut to = list.reborrow().get(place);
            to.set_url(page.get_url()?);
            to.set_score(score);
            to.set_snippet(page.get_snippet()?);
        }
        Ok(())
    }

    fn check(response: pages::pages::Reader<'_>, expected: &u32) -> Result<bool> {
        let scores = response.get_pages()?.iter().map(|page| page.get_score());
        Ok(catrank::count_good(scores) == Some(*expected))
    }

    fn see_request(request: pages::pages::Reader<'_>, digest: &mut Digest) -> Result<()> {
        for page in request.get_pages()? {
            digest.text(page.get_url()?.as_bytes());
            digest.real(page.get_score());
            digest.text(page.get_snippet()?.as_bytes());
        }
        Ok(())
    }

    fn see_response(response: pages::pages::Reader<'_>, digest: &mut Digest) -> Result<()> {
        Self::see_request(response, digest)
    }
}

#[derive(Default)]
struct Eval {
    tree: Tree,
}

impl Eval {
    fn write(&self, mut to: expressions::expression::Builder<'_>, from: eval::Expression) {
        to.set_operation(match from.operation {
            Operation::Add => expressions::Operation::Add,
            Operation::Subtract => expressions::Operation::Subtract,
            Operation::Multiply => expressions::Operation::Multiply,
            Operation::Divide => expressions::Operation::Divide,
            Operation::Modulus => expressions::Operation::Modulus,
        });
        match from.left {
            Operand::Value(value) => to.reborrow().init_left().set_value(value),
            Operand::Expression(place) => {
                self.write(to.reborrow().init_left().init_expression(), self.tree.expressions[place]);
            }
        }
        match from.right {
            Operand::Value(value) => to.init_right().set_value(value),
            Operand::Expression(place) => {
                self.write(to.init_right().init_expression(), self.tree.expressions[place]);
            }
        }
    }

    fn operation(from: expressions::expression::Reader<'_>) -> Result<Operation> {
        Ok(match from.get_operation()? {
            expressions::Operation::Add => Operation::Add,
            expressions::Operation::Subtract => Operation::Subtract,
            expressions::Operation::Multiply => Operation::Multiply,
            expressions::Operation::Divide => Operation::Divide,
            expressions::Operation::Modulus => Operation::Modulus,
        })
    }

    fn compute(from: expressions::expression::Reader<'_>) -> Result<i32> {
        use expressions::expression::{left, right};
        let left = match from.get_left().which()? {
            left::Value(value) => value,
            left::Expression(expression) => Self::compute(expression?)?,
        };
        let right = match from.get_right().which()? {
            right::Value(value) => value,
            right::Expression(expression) => Self::compute(expression?)?,
        };
        Ok(Self::operation(from)?.apply(left, right))
    }
}

impl Work for Eval {
    type Request = expressions::expression::Owned;
    type Response = expressions::value::Owned;
    type Expected = i32;

    fn ask(&mut self, random: &mut Random, request: expressions::expression::Builder<'_>) -> i32 {
        let (root, value) = self.tree.draw(random);
        self.write(request, root);
        value
    }

    fn answer(
        request: expressions::expression::Reader<'_>,
        mut response: expressions::value::Builder<'_>,
    ) -> Result<()> {
        response.set_value(Self::compute(request)?);
        Ok(())
    }

    fn check(response: expressions::value::Reader<'_>, expected: &i32) -> Result<bool> {
        Ok(response.get_value() == *expected)
    }

    fn see_request(request: expressions::expression::Reader<'_>, digest: &mut Digest) -> Result<()> {
        use expressions::expression::{left, right};
        digest.number(Self::operation(request)? as u64);
        match request.get_left().which()? {
            left::Value(value) => digest.number(value as u64),
            left::Expression(expression) => Self::see_request(expression?, digest)?,
        }
        match request.get_right().which()? {
            right::Value(value) => digest.number(value as u64),
            right::Expression(expression) => Self::see_request(expression?, digest)?,
        }
        Ok(())
    }

    fn see_response(response: expressions::value::Reader<'_>, digest: &mut Digest) -> Result<()> {
        digest.number(response.get_value() as u64);
        Ok(())
    }
}
