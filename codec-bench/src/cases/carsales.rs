// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Records of numbers: a client offers cars, and the server says what they are worth.

use serde::{Deserialize, Serialize};

use crate::{digest::Digest, random::Random};

/// A request has fewer cars than this.
pub const MOST_CARS: u32 = 200;
/// Of each car.
pub const WHEELS: usize = 4;
/// Who builds cars.
pub const MAKES: [&str; 5] = ["Toyota", "GM", "Ford", "Honda", "Tesla"];
/// What they are called.
pub const MODELS: [&str; 6] = ["Camry", "Prius", "Volt", "Accord", "Leaf", "Model S"];
const COLORS: u32 = 9;

/// What is drawn for a car before its numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Names {
    /// One of [`MAKES`].
    pub make: &'static str,
    /// One of [`MODELS`].
    pub model: &'static str,
}

impl Names {
    /// Of the next car.
    pub fn draw(random: &mut Random) -> Self {
        let make = MAKES[random.below(MAKES.len() as u32) as usize];
        let model = MODELS[random.below(MODELS.len() as u32) as usize];
        Self { make, model }
    }
}

/// The numbers of a car.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it, as those of the schema do")]
pub struct Numbers {
    pub color: u16,
    pub seats: u8,
    pub doors: u8,
    pub wheels: [Wheel; WHEELS],
    pub length: u16,
    pub width: u16,
    pub height: u16,
    pub weight: u32,
    pub engine: Engine,
    pub fuel_capacity: f32,
    pub fuel_level: f32,
    pub power_windows: bool,
    pub power_steering: bool,
    pub cruise_control: bool,
    pub cup_holders: u8,
    pub navigation: bool,
}

/// Of [`Numbers`].
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[allow(missing_docs, reason = "as above")]
pub struct Wheel {
    pub diameter: u16,
    pub pressure: f32,
    pub winter: bool,
}

/// Of [`Numbers`].
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[allow(missing_docs, reason = "as above")]
pub struct Engine {
    pub horsepower: u16,
    pub cylinders: u8,
    pub displacement: u32,
    pub gas: bool,
    pub electric: bool,
}

impl Numbers {
    /// Of the next car. Each number is drawn in this order.
    pub fn draw(random: &mut Random) -> Self {
        let mut car = Self {
            color: random.below(COLORS) as u16,
            seats: 2 + random.below(6) as u8,
            doors: 2 + random.below(3) as u8,
            ..Self::default()
        };
        for wheel in &mut car.wheels {
            wheel.diameter = 25 + random.below(15) as u16;
            wheel.pressure = (30.0 + random.real(20.0)) as f32;
            wheel.winter = random.once_in(16);
        }
        car.length = 170 + random.below(150) as u16;
        car.width = 48 + random.below(36) as u16;
        car.height = 54 + random.below(48) as u16;
        car.weight = u32::from(car.length) * u32::from(car.width) * u32::from(car.height) / 200;
        car.engine.horsepower = 100 * random.below(400) as u16;
        car.engine.cylinders = 4 + 2 * random.below(3) as u8;
        car.engine.displacement = 800 + random.below(10_000);
        car.engine.gas = true;
        car.engine.electric = random.once_in(2);
        car.fuel_capacity = (10.0 + random.real(30.0)) as f32;
        car.fuel_level = random.real(f64::from(car.fuel_capacity)) as f32;
        car.power_windows = random.once_in(2);
        car.power_steering = random.once_in(2);
        car.cruise_control = random.once_in(2);
        car.cup_holders = random.below(12) as u8;
        car.navigation = random.once_in(2);
        car
    }

    /// What the car is worth: a sum over all of its numbers.
    pub fn worth(&self) -> u64 {
        let mut worth = 200 * u64::from(self.seats) + 350 * u64::from(self.doors);
        for wheel in &self.wheels {
            worth += u64::from(wheel.diameter) * u64::from(wheel.diameter);
            worth += if wheel.winter { 100 } else { 0 };
            worth += wheel.pressure as u64;
        }
        worth += u64::from(self.length) * u64::from(self.width) * u64::from(self.height) / 50;
        worth += u64::from(self.weight) / 10 + 10 * u64::from(self.color);
        worth += 40 * u64::from(self.engine.horsepower) + u64::from(self.engine.displacement) / 2;
        worth += 100 * u64::from(self.engine.cylinders);
        worth += if self.engine.gas { 200 } else { 0 };
        worth += if self.engine.electric { 5_000 } else { 0 };
        worth += (self.fuel_capacity * 5.0) as u64 + (self.fuel_level * 2.0) as u64;
        worth += if self.power_windows { 100 } else { 0 };
        worth += if self.power_steering { 200 } else { 0 };
        worth += if self.cruise_control { 400 } else { 0 };
        worth += if self.navigation { 2_000 } else { 0 };
        worth + 25 * u64::from(self.cup_holders)
    }

    /// All numbers, in the order in which they are drawn.
    pub fn see(&self, digest: &mut Digest) {
        for number in [self.color.into(), self.seats.into(), self.doors.into()] {
            digest.number(number);
        }
        for wheel in &self.wheels {
            digest.number(wheel.diameter.into());
            digest.real(wheel.pressure.into());
            digest.number(wheel.winter.into());
        }
        for number in [self.length.into(), self.width.into(), self.height.into(), self.weight.into()] {
            digest.number(number);
        }
        digest.number(self.engine.horsepower.into());
        digest.number(self.engine.cylinders.into());
        digest.number(self.engine.displacement.into());
        digest.number(self.engine.gas.into());
        digest.number(self.engine.electric.into());
        digest.real(self.fuel_capacity.into());
        digest.real(self.fuel_level.into());
        let flags = [self.power_windows, self.power_steering, self.cruise_control, self.navigation];
        flags.iter().for_each(|flag| digest.number((*flag).into()));
        digest.number(self.cup_holders.into());
    }
}
