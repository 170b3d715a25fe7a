// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Records of numbers: a client offers cars, and the server says what they are worth.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "../digest.hpp"
#include "../random.hpp"

namespace carsales {

// A request has fewer cars than this.
inline constexpr std::uint32_t MOST_CARS = 200;
// Of each car.
inline constexpr std::size_t WHEELS = 4;
// Who builds cars, and what they are called.
inline constexpr std::array<const char*, 5> MAKES{"Toyota", "GM", "Ford", "Honda", "Tesla"};
inline constexpr std::array<const char*, 6> MODELS{"Camry",  "Prius", "Volt",
                                                   "Accord", "Leaf",  "Model S"};
inline constexpr std::uint32_t COLORS = 9;

// What is drawn for a car before its numbers.
struct Names {
  const char* make;
  const char* model;

  // Of the next car.
  static Names draw(Random& random) {
    const char* make = MAKES[random.below(MAKES.size())];
    const char* model = MODELS[random.below(MODELS.size())];
    return {make, model};
  }
};

struct Wheel {
  std::uint16_t diameter = 0;
  float pressure = 0;
  bool winter = false;
};

struct Engine {
  std::uint16_t horsepower = 0;
  std::uint8_t cylinders = 0;
  std::uint32_t displacement = 0;
  bool gas = false;
  bool electric = false;
};

// The numbers of a car.
struct Numbers {
  std::uint16_t color = 0;
  std::uint8_t seats = 0;
  std::uint8_t doors = 0;
  std::array<Wheel, WHEELS> wheels{};
  std::uint16_t length = 0;
  std::uint16_t width = 0;
  std::uint16_t height = 0;
  std::uint32_t weight = 0;
  Engine engine;
  float fuel_capacity = 0;
  float fuel_level = 0;
  bool power_windows = false;
  bool power_steering = false;
  bool cruise_control = false;
  std::uint8_t cup_holders = 0;
  bool navigation = false;

  // Of the next car. Each number is drawn in this order.
  static Numbers draw(Random& random) {
    Numbers car;
    car.color = static_cast<std::uint16_t>(random.below(COLORS));
    car.seats = static_cast<std::uint8_t>(2 + random.below(6));
    car.doors = static_cast<std::uint8_t>(2 + random.below(3));
    for (Wheel& wheel : car.wheels) {
      wheel.diameter = static_cast<std::uint16_t>(25 + random.below(15));
      wheel.pressure = static_cast<float>(30.0 + random.real(20.0));
      wheel.winter = random.once_in(16);
    }
    car.length = static_cast<std::uint16_t>(170 + random.below(150));
    car.width = static_cast<std::uint16_t>(48 + random.below(36));
    car.height = static_cast<std::uint16_t>(54 + random.below(48));
    car.weight = std::uint32_t{car.length} * car.width * car.height / 200;
    car.engine.horsepower = static_cast<std::uint16_t>(100 * random.below(400));
    car.engine.cylinders = static_cast<std::uint8_t>(4 + 2 * random.below(3));
    car.engine.displacement = 800 + random.below(10'000);
    car.engine.gas = true;
    car.engine.electric = random.once_in(2);
    car.fuel_capacity = static_cast<float>(10.0 + random.real(30.0));
    car.fuel_level = static_cast<float>(random.real(double{car.fuel_capacity}));
    car.power_windows = random.once_in(2);
    car.power_steering = random.once_in(2);
    car.cruise_control = random.once_in(2);
    car.cup_holders = static_cast<std::uint8_t>(random.below(12));
    car.navigation = random.once_in(2);
    return car;
  }

  // What the car is worth: a sum over all of its numbers.
  std::uint64_t worth() const {
    std::uint64_t worth = 200 * std::uint64_t{seats} + 350 * std::uint64_t{doors};
    for (const Wheel& wheel : wheels) {
      worth += std::uint64_t{wheel.diameter} * wheel.diameter;
      worth += wheel.winter ? 100 : 0;
      worth += static_cast<std::uint64_t>(wheel.pressure);
    }
    worth += std::uint64_t{length} * width * height / 50;
    worth += weight / 10 + 10 * std::uint64_t{color};
    worth += 40 * std::uint64_t{engine.horsepower} + engine.displacement / 2;
    worth += 100 * std::uint64_t{engine.cylinders};
    worth += engine.gas ? 200 : 0;
    worth += engine.electric ? 5'000 : 0;
    worth += static_cast<std::uint64_t>(fuel_capacity * 5.0F) +
             static_cast<std::uint64_t>(fuel_level * 2.0F);
    worth += power_windows ? 100 : 0;
    worth += power_steering ? 200 : 0;
    worth += cruise_control ? 400 : 0;
    worth += navigation ? 2'000 : 0;
    return worth + 25 * std::uint64_t{cup_holders};
  }

  // All numbers, in the order in which they are drawn.
  void see(Digest& digest) const {
    for (std::uint64_t number : {std::uint64_t{color}, std::uint64_t{seats}, std::uint64_t{doors}})
      digest.number(number);
    for (const Wheel& wheel : wheels) {
      digest.number(wheel.diameter);
      digest.real(wheel.pressure);
      digest.number(wheel.winter);
    }
    for (std::uint64_t number : {std::uint64_t{length}, std::uint64_t{width}, std::uint64_t{height},
                                 std::uint64_t{weight}})
      digest.number(number);
    digest.number(engine.horsepower);
    digest.number(engine.cylinders);
    digest.number(engine.displacement);
    digest.number(engine.gas);
    digest.number(engine.electric);
    digest.real(fuel_capacity);
    digest.real(fuel_level);
    for (bool flag : {power_windows, power_steering, cruise_control, navigation})
      digest.number(flag);
    digest.number(cup_holders);
  }
};

}  // namespace carsales
