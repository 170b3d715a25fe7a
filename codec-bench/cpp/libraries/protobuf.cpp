// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Protocol Buffers by libprotobuf: the messages of `schemas/cases.proto`, whose texts are checked
// to be UTF-8.

#include <utility>

#include "../cases/carsales.hpp"
#include "../cases/catrank.hpp"
#include "../cases/eval.hpp"
#include "../contract.hpp"
#include "../frames.hpp"
#include "cases.pb.h"

namespace {

template <typename Message>
void write(const Message& message, bool reuse, Bytes& bytes) {
  if (!reuse) bytes = Bytes();
  bytes.resize(PREFIX + message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(bytes.data() + PREFIX);
  put_length(bytes);
}

template <typename Message>
void parse(Message& message, std::span<const Byte> bytes) {
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw Failure("cannot read the message: it is not one of " + message.GetTypeName());
}

template <typename Work>
class Protobuf : public Exchange {
  using Request = typename Work::Request;
  using Response = typename Work::Response;

 public:
  explicit Protobuf(Form form) : reuse_(form.reuse) {}

  void object(Random&) override { throw Failure("in memory there are only plain structs"); }

  std::size_t bytes(Random& random) override {
    auto expected = build(random);
    respond(content(sent_));
    judge(Work::check(read(received_, content(replied_)), expected));
    return sent_.size() + replied_.size() - 2 * PREFIX;
  }

  std::size_t ask(Random& random, const Peer& peer) override {
    auto expected = build(random);
    peer.send(sent_);
    if (!receive(peer, replied_)) throw Failure("the server has gone");
    judge(Work::check(read(received_, replied_), expected));
    return sent_.size() - PREFIX;
  }

  std::optional<std::size_t> answer(const Peer& peer) override {
    if (!receive(peer, sent_)) return std::nullopt;
    respond(sent_);
    peer.send(replied_);
    return replied_.size() - PREFIX;
  }

  Bytes request(Random& random) override {
    build(random);
    auto made = content(sent_);
    return {made.begin(), made.end()};
  }

  Bytes response(std::span<const Byte> request) override {
    respond(request);
    auto made = content(replied_);
    return {made.begin(), made.end()};
  }

  void see(Part part, std::span<const Byte> message, Digest& digest) override {
    if (part == Part::request)
      Work::see_request(read(asked_, message), digest);
    else
      Work::see_response(read(received_, message), digest);
  }

 private:
  static std::span<const Byte> content(const Bytes& bytes) {
    return std::span(bytes).subspan(PREFIX);
  }

  // The message for the next content: the same one, emptied, or a new one.
  template <typename Message>
  Message& next(Message& message) const {
    if (reuse_)
      message.Clear();
    else
      message = Message();
    return message;
  }

  template <typename Message>
  const Message& read(Message& message, std::span<const Byte> bytes) const {
    parse(next(message), bytes);
    return message;
  }

  auto build(Random& random) {
    auto expected = work_.ask(random, next(request_));
    write(request_, reuse_, sent_);
    return expected;
  }

  void respond(std::span<const Byte> request) {
    Work::answer(read(asked_, request), next(response_));
    write(response_, reuse_, replied_);
  }

  bool receive(const Peer& peer, Bytes& bytes) {
    if (!frames_) frames_.emplace(peer.input);
    if (!reuse_) bytes = Bytes();
    return frames_->next(bytes);
  }

  Work work_;
  bool reuse_;
  // Of the client, and of the server.
  Request request_;
  Response received_;
  Request asked_;
  Response response_;
  Bytes sent_;
  Bytes replied_;
  std::optional<Frames> frames_;
};

struct Carsales {
  using Request = cases::Lot;
  using Response = cases::Worth;

  static std::uint64_t ask(Random& random, Request& request) {
    std::uint64_t worth = 0;
    for (std::uint32_t left = random.below(carsales::MOST_CARS); left > 0; --left) {
      auto names = carsales::Names::draw(random);
      auto numbers = carsales::Numbers::draw(random);
      worth += numbers.worth();
      write_car(*request.add_cars(), names, numbers);
    }
    return worth;
  }

  static void answer(const Request& request, Response& response) {
    std::uint64_t worth = 0;
    for (const auto& car : request.cars()) worth += read_car(car).worth();
    response.set_total(worth);
  }

  static bool check(const Response& response, std::uint64_t expected) {
    return response.total() == expected;
  }

  static void see_request(const Request& request, Digest& digest) {
    for (const auto& car : request.cars()) {
      digest.text(car.make());
      digest.text(car.model());
      read_car(car).see(digest);
    }
  }

  static void see_response(const Response& response, Digest& digest) {
    digest.number(response.total());
  }

 private:
  // The format has no numbers of less than 32 bits.
  static carsales::Numbers read_car(const cases::Car& car) {
    carsales::Numbers numbers;
    numbers.color = static_cast<std::uint16_t>(car.color());
    numbers.seats = static_cast<std::uint8_t>(car.seats());
    numbers.doors = static_cast<std::uint8_t>(car.doors());
    auto* to = numbers.wheels.begin();
    for (const auto& wheel : car.wheels()) {
      if (to == numbers.wheels.end()) break;
      *to++ = {static_cast<std::uint16_t>(wheel.diameter()), wheel.pressure(), wheel.winter()};
    }
    numbers.length = static_cast<std::uint16_t>(car.length());
    numbers.width = static_cast<std::uint16_t>(car.width());
    numbers.height = static_cast<std::uint16_t>(car.height());
    numbers.weight = car.weight();
    const auto& engine = car.engine();
    numbers.engine = {static_cast<std::uint16_t>(engine.horsepower()),
                      static_cast<std::uint8_t>(engine.cylinders()), engine.displacement(),
                      engine.gas(), engine.electric()};
    numbers.fuel_capacity = car.fuel_capacity();
    numbers.fuel_level = car.fuel_level();
    numbers.power_windows = car.power_windows();
    numbers.power_steering = car.power_steering();
    numbers.cruise_control = car.cruise_control();
    numbers.cup_holders = static_cast<std::uint8_t>(car.cup_holders());
    numbers.navigation = car.navigation();
    return numbers;
  }

  static void write_car(cases::Car& car, const carsales::Names& names,
                        const carsales::Numbers& numbers) {
    car.set_make(names.make);
    car.set_model(names.model);
    car.set_color(static_cast<cases::Color>(numbers.color));
    car.set_seats(numbers.seats);
    car.set_doors(numbers.doors);
    for (const auto& wheel : numbers.wheels) {
      auto* to = car.add_wheels();
      to->set_diameter(wheel.diameter);
      to->set_pressure(wheel.pressure);
      to->set_winter(wheel.winter);
    }
    car.set_length(numbers.length);
    car.set_width(numbers.width);
    car.set_height(numbers.height);
    car.set_weight(numbers.weight);
    auto* engine = car.mutable_engine();
    engine->set_horsepower(numbers.engine.horsepower);
    engine->set_cylinders(numbers.engine.cylinders);
    engine->set_displacement(numbers.engine.displacement);
    engine->set_gas(numbers.engine.gas);
    engine->set_electric(numbers.engine.electric);
    car.set_fuel_capacity(numbers.fuel_capacity);
    car.set_fuel_level(numbers.fuel_level);
    car.set_power_windows(numbers.power_windows);
    car.set_power_steering(numbers.power_steering);
    car.set_cruise_control(numbers.cruise_control);
    car.set_cup_holders(numbers.cup_holders);
    car.set_navigation(numbers.navigation);
  }
};

struct Catrank {
  using Request = cases::Pages;
  using Response = cases::Pages;

  std::uint32_t ask(Random& random, Request& request) {
    std::uint32_t good = 0;
    std::uint32_t many = random.below(catrank::MOST_PAGES);
    for (std::uint32_t number = 0; number < many; ++number) {
      good += page.draw(number, random) ? 1 : 0;
      auto* to = request.add_pages();
      to->set_url(page.url);
      to->set_score(page.score);
      to->set_snippet(page.snippet);
    }
    return good;
  }

  static void answer(const Request& request, Response& response) {
    std::vector<std::pair<double, const cases::Page*>> ranked;
    ranked.reserve(static_cast<std::size_t>(request.pages_size()));
    for (const auto& page : request.pages())
      ranked.emplace_back(catrank::ranked(page.score(), page.snippet()), &page);
    catrank::sort(ranked);
    for (const auto& [score, page] : ranked) {
      auto* to = response.add_pages();
      to->set_url(page->url());
      to->set_score(score);
      to->set_snippet(page->snippet());
    }
  }

  static bool check(const Response& response, std::uint32_t expected) {
    catrank::GoodPages good;
    for (const auto& page : response.pages()) good.add(page.score());
    return good.count() == expected;
  }

  static void see_request(const Request& request, Digest& digest) {
    for (const auto& page : request.pages()) {
      digest.text(page.url());
      digest.real(page.score());
      digest.text(page.snippet());
    }
  }

  static void see_response(const Response& response, Digest& digest) {
    see_request(response, digest);
  }

  catrank::Page page;
};

struct Eval {
  using Request = cases::Expression;
  using Response = cases::Value;

  std::int32_t ask(Random& random, Request& request) {
    auto [root, value] = tree.draw(random);
    write(request, root);
    return value;
  }

  static void answer(const Request& request, Response& response) {
    response.set_value(compute(request));
  }

  static bool check(const Response& response, std::int32_t expected) {
    return response.value() == expected;
  }

  static void see_request(const Request& request, Digest& digest) {
    digest.number(static_cast<std::uint64_t>(request.operation()));
    if (request.has_left_expression())
      see_request(request.left_expression(), digest);
    else
      see_value(request.left_value(), digest);
    if (request.has_right_expression())
      see_request(request.right_expression(), digest);
    else
      see_value(request.right_value(), digest);
  }

  static void see_response(const Response& response, Digest& digest) {
    see_value(response.value(), digest);
  }

 private:
  static void see_value(std::int32_t value, Digest& digest) {
    digest.number(static_cast<std::uint64_t>(std::int64_t{value}));
  }

  void write(cases::Expression& to, const eval::Expression& from) const {
    to.set_operation(static_cast<cases::Operation>(from.operation));
    if (from.left.is_value)
      to.set_left_value(from.left.value);
    else
      write(*to.mutable_left_expression(), tree.expressions[from.left.place]);
    if (from.right.is_value)
      to.set_right_value(from.right.value);
    else
      write(*to.mutable_right_expression(), tree.expressions[from.right.place]);
  }

  static std::int32_t compute(const cases::Expression& from) {
    std::int32_t left =
        from.has_left_expression() ? compute(from.left_expression()) : from.left_value();
    std::int32_t right =
        from.has_right_expression() ? compute(from.right_expression()) : from.right_value();
    return eval::apply(static_cast<eval::Operation>(from.operation()), left, right);
  }

  eval::Tree tree;
};

}  // namespace

std::unique_ptr<Exchange> protobuf_exchange(Case which, Form form) {
  switch (which) {
    case Case::carsales:
      return std::make_unique<Protobuf<Carsales>>(form);
    case Case::catrank:
      return std::make_unique<Protobuf<Catrank>>(form);
    case Case::eval:
      return std::make_unique<Protobuf<Eval>>(form);
  }
  throw Failure("unknown case");
}
