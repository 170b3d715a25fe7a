// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Cap'n Proto by libcapnp.

#include <capnp/message.h>
#include <capnp/serialize-packed.h>
#include <capnp/serialize.h>
#include <kj/io.h>

#include <cstring>
#include <utility>

#include "../cases/carsales.hpp"
#include "../cases/catrank.hpp"
#include "../cases/eval.hpp"
#include "../contract.hpp"
#include "carsales.capnp.h"
#include "catrank.capnp.h"
#include "eval.capnp.h"

namespace {

// Buffers that are used again have as much; as those of the crate do here.
constexpr std::size_t SCRATCH_WORDS = 128 * 1'024;

using Written = std::span<const Byte>;

Written bytes_of(kj::ArrayPtr<const kj::byte> array) { return {array.begin(), array.size()}; }

kj::ArrayPtr<const kj::byte> array_of(Written bytes) { return {bytes.data(), bytes.size()}; }

// The allocator aligns what it gives to 16 bytes.
capnp::FlatArrayMessageReader in_place(Written bytes) {
  return capnp::FlatArrayMessageReader(kj::arrayPtr(
      reinterpret_cast<const capnp::word*>(bytes.data()), bytes.size() / sizeof(capnp::word)));
}

// Where a message is built, and where it is put: new buffers for each.
class Fresh {
 public:
  class Builder : public capnp::MallocMessageBuilder {
   public:
    explicit Builder(Fresh&) {}
  };

  Written write(capnp::MessageBuilder& message, bool packed) {
    if (packed) {
      packed_ = kj::heap<kj::VectorOutputStream>();
      capnp::writePackedMessage(*packed_, message);
      return bytes_of(packed_->getArray());
    }
    words_ = capnp::messageToFlatArray(message);
    return bytes_of(words_.asBytes());
  }

  kj::ArrayPtr<capnp::word> reading() { return nullptr; }

 private:
  kj::Own<kj::VectorOutputStream> packed_;
  kj::Array<capnp::word> words_;
};

// The same buffers for all messages.
class Scratch {
 public:
  class Builder : public capnp::MallocMessageBuilder {
   public:
    explicit Builder(Scratch& place) : capnp::MallocMessageBuilder(place.building_) {}
  };

  Scratch() { std::memset(building_.begin(), 0, building_.asBytes().size()); }

  Written write(capnp::MessageBuilder& message, bool packed) {
    kj::ArrayOutputStream output(written_.asBytes());
    if (packed)
      capnp::writePackedMessage(output, message);
    else
      capnp::writeMessage(output, message);
    return bytes_of(output.getArray());
  }

  kj::ArrayPtr<capnp::word> reading() { return reading_; }

 private:
  kj::Array<capnp::word> building_ = kj::heapArray<capnp::word>(SCRATCH_WORDS);
  kj::Array<capnp::word> reading_ = kj::heapArray<capnp::word>(SCRATCH_WORDS);
  kj::Array<capnp::word> written_ = kj::heapArray<capnp::word>(SCRATCH_WORDS);
};

// What is received, through a buffer of 8,192 bytes.
class Received {
 public:
  explicit Received(int input) : file_(input), stream(file_) {}

 private:
  kj::FdInputStream file_;

 public:
  kj::BufferedInputStreamWrapper stream;
};

template <typename Work, typename Place>
class Capnp : public Exchange {
  using Request = typename Work::Request;
  using Response = typename Work::Response;
  using Builder = typename Place::Builder;

 public:
  explicit Capnp(Form form) : packed_(form.packed) {}
  // Those of kj may throw.
  ~Capnp() noexcept override {}

  void object(Random& random) override {
    Builder request(request_);
    auto expected = work_.ask(random, request.template initRoot<Request>());
    Builder response(response_);
    Work::answer(request.template getRoot<Request>().asReader(),
                 response.template initRoot<Response>());
    judge(Work::check(response.template getRoot<Response>().asReader(), expected));
  }

  std::size_t bytes(Random& random) override {
    auto [sent, expected] = build(random);
    Written replied = respond(sent);
    bool right = false;
    read<Response>(response_, replied,
                   [&](auto response) { right = Work::check(response, expected); });
    judge(right);
    return sent.size() + replied.size();
  }

  std::size_t ask(Random& random, const Peer& peer) override {
    auto [sent, expected] = build(random);
    peer.send(sent);
    bool right = false;
    receive<Response>(response_, peer,
                      [&](auto response) { right = Work::check(response, expected); });
    judge(right);
    return sent.size();
  }

  std::optional<std::size_t> answer(const Peer& peer) override {
    Builder response(response_);
    bool received = receive<Request>(request_, peer, [&](auto request) {
      Work::answer(request, response.template initRoot<Response>());
    });
    if (!received) return std::nullopt;
    Written replied = response_.write(response, packed_);
    peer.send(replied);
    return replied.size();
  }

  Bytes request(Random& random) override {
    Written sent = build(random).first;
    return {sent.begin(), sent.end()};
  }

  Bytes response(Written request) override {
    Written replied = respond(request);
    return {replied.begin(), replied.end()};
  }

  void see(Part part, Written message, Digest& digest) override {
    if (part == Part::request)
      read<Request>(request_, message, [&](auto request) { Work::see_request(request, digest); });
    else
      read<Response>(request_, message,
                     [&](auto response) { Work::see_response(response, digest); });
  }

 private:
  auto build(Random& random) {
    Builder message(request_);
    auto expected = work_.ask(random, message.template initRoot<Request>());
    return std::pair(request_.write(message, packed_), expected);
  }

  Written respond(Written request) {
    Builder response(response_);
    read<Request>(request_, request,
                  [&](auto it) { Work::answer(it, response.template initRoot<Response>()); });
    return response_.write(response, packed_);
  }

  template <typename Root, typename Then>
  void read(Place& place, Written bytes, Then then) {
    if (packed_) {
      kj::ArrayInputStream stream(array_of(bytes));
      capnp::PackedMessageReader message(stream, capnp::ReaderOptions(), place.reading());
      then(message.template getRoot<Root>());
    } else {
      auto message = in_place(bytes);
      then(message.template getRoot<Root>());
    }
  }

  // False at the end of all messages.
  template <typename Root, typename Then>
  bool receive(Place& place, const Peer& peer, Then then) {
    if (!received_) received_.emplace(peer.input);
    if (received_->stream.tryGetReadBuffer().size() == 0) return false;
    if (packed_) {
      capnp::PackedMessageReader message(received_->stream, capnp::ReaderOptions(),
                                         place.reading());
      then(message.template getRoot<Root>());
    } else {
      capnp::InputStreamMessageReader message(received_->stream, capnp::ReaderOptions(),
                                              place.reading());
      then(message.template getRoot<Root>());
    }
    return true;
  }

  Work work_;
  bool packed_;
  // Of the client, and of the server.
  Place request_;
  Place response_;
  std::optional<Received> received_;
};

std::string_view view_of(capnp::Text::Reader text) { return {text.begin(), text.size()}; }

class Carsales {
 public:
  using Request = ::Lot;
  using Response = ::Worth;

  std::uint64_t ask(Random& random, Lot::Builder request) {
    auto list = request.initCars(random.below(carsales::MOST_CARS));
    std::uint64_t worth = 0;
    for (auto car : list) {
      auto names = carsales::Names::draw(random);
      auto numbers = carsales::Numbers::draw(random);
      write(car, names, numbers);
      worth += numbers.worth();
    }
    return worth;
  }

  static void answer(Lot::Reader request, Worth::Builder response) {
    std::uint64_t worth = 0;
    for (auto car : request.getCars()) worth += read(car).worth();
    response.setTotal(worth);
  }

  static bool check(Worth::Reader response, std::uint64_t expected) {
    return response.getTotal() == expected;
  }

  static void see_request(Lot::Reader request, Digest& digest) {
    for (auto car : request.getCars()) {
      digest.text(view_of(car.getMake()));
      digest.text(view_of(car.getModel()));
      read(car).see(digest);
    }
  }

  static void see_response(Worth::Reader response, Digest& digest) {
    digest.number(response.getTotal());
  }

 private:
  static carsales::Numbers read(Car::Reader car) {
    carsales::Numbers numbers;
    numbers.color = static_cast<std::uint16_t>(car.getColor());
    numbers.seats = car.getSeats();
    numbers.doors = car.getDoors();
    auto* to = numbers.wheels.begin();
    for (auto wheel : car.getWheels()) {
      if (to == numbers.wheels.end()) break;
      *to++ = {wheel.getDiameter(), wheel.getPressure(), wheel.getWinter()};
    }
    numbers.length = car.getLength();
    numbers.width = car.getWidth();
    numbers.height = car.getHeight();
    numbers.weight = car.getWeight();
    auto engine = car.getEngine();
    numbers.engine = {engine.getHorsepower(), engine.getCylinders(), engine.getDisplacement(),
                      engine.getGas(), engine.getElectric()};
    numbers.fuel_capacity = car.getFuelCapacity();
    numbers.fuel_level = car.getFuelLevel();
    numbers.power_windows = car.getPowerWindows();
    numbers.power_steering = car.getPowerSteering();
    numbers.cruise_control = car.getCruiseControl();
    numbers.cup_holders = car.getCupHolders();
    numbers.navigation = car.getNavigation();
    return numbers;
  }

  static void write(Car::Builder car, const carsales::Names& names,
                    const carsales::Numbers& numbers) {
    car.setMake(names.make);
    car.setModel(names.model);
    car.setColor(static_cast<Color>(numbers.color));
    car.setSeats(numbers.seats);
    car.setDoors(numbers.doors);
    auto wheels = car.initWheels(carsales::WHEELS);
    for (std::uint32_t place = 0; place < carsales::WHEELS; ++place) {
      auto to = wheels[place];
      to.setDiameter(numbers.wheels[place].diameter);
      to.setPressure(numbers.wheels[place].pressure);
      to.setWinter(numbers.wheels[place].winter);
    }
    car.setLength(numbers.length);
    car.setWidth(numbers.width);
    car.setHeight(numbers.height);
    car.setWeight(numbers.weight);
    auto engine = car.initEngine();
    engine.setHorsepower(numbers.engine.horsepower);
    engine.setCylinders(numbers.engine.cylinders);
    engine.setDisplacement(numbers.engine.displacement);
    engine.setGas(numbers.engine.gas);
    engine.setElectric(numbers.engine.electric);
    car.setFuelCapacity(numbers.fuel_capacity);
    car.setFuelLevel(numbers.fuel_level);
    car.setPowerWindows(numbers.power_windows);
    car.setPowerSteering(numbers.power_steering);
    car.setCruiseControl(numbers.cruise_control);
    car.setCupHolders(numbers.cup_holders);
    car.setNavigation(numbers.navigation);
  }
};

class Catrank {
 public:
  using Request = ::Pages;
  using Response = ::Pages;

  std::uint32_t ask(Random& random, Pages::Builder request) {
    auto list = request.initPages(random.below(catrank::MOST_PAGES));
    std::uint32_t good = 0;
    for (std::uint32_t place = 0; place < list.size(); ++place) {
      good += page_.draw(place, random) ? 1 : 0;
      auto page = list[place];
      page.setUrl(text_of(page_.url));
      page.setScore(page_.score);
      page.setSnippet(text_of(page_.snippet));
    }
    return good;
  }

  static void answer(Pages::Reader request, Pages::Builder response) {
    auto list = request.getPages();
    std::vector<std::pair<double, Page::Reader>> ranked;
    ranked.reserve(list.size());
    for (auto page : list)
      ranked.emplace_back(catrank::ranked(page.getScore(), view_of(page.getSnippet())), page);
    catrank::sort(ranked);
    auto to = response.initPages(list.size());
    std::uint32_t place = 0;
    for (const auto& [score, page] : ranked) {
      auto copy = to[place++];
      copy.setUrl(page.getUrl());
      copy.setScore(score);
      copy.setSnippet(page.getSnippet());
    }
  }

  static bool check(Pages::Reader response, std::uint32_t expected) {
    catrank::GoodPages good;
    for (auto page : response.getPages()) good.add(page.getScore());
    return good.count() == expected;
  }

  static void see_request(Pages::Reader request, Digest& digest) {
    for (auto page : request.getPages()) {
      digest.text(view_of(page.getUrl()));
      digest.real(page.getScore());
      digest.text(view_of(page.getSnippet()));
    }
  }

  static void see_response(Pages::Reader response, Digest& digest) {
    see_request(response, digest);
  }

 private:
  static capnp::Text::Reader text_of(const std::string& text) {
    return {text.c_str(), text.size()};
  }

  catrank::Page page_;
};

class Eval {
 public:
  using Request = ::Expression;
  using Response = ::Value;

  std::int32_t ask(Random& random, Expression::Builder request) {
    auto [root, value] = tree_.draw(random);
    write(request, root);
    return value;
  }

  static void answer(Expression::Reader request, Value::Builder response) {
    response.setValue(compute(request));
  }

  static bool check(Value::Reader response, std::int32_t expected) {
    return response.getValue() == expected;
  }

  static void see_request(Expression::Reader request, Digest& digest) {
    digest.number(static_cast<std::uint64_t>(request.getOperation()));
    auto see = [&digest](auto side) {
      if (side.isValue())
        digest.number(static_cast<std::uint64_t>(std::int64_t{side.getValue()}));
      else
        see_request(side.getExpression(), digest);
    };
    see(request.getLeft());
    see(request.getRight());
  }

  static void see_response(Value::Reader response, Digest& digest) {
    digest.number(static_cast<std::uint64_t>(std::int64_t{response.getValue()}));
  }

 private:
  void write(Expression::Builder to, const eval::Expression& from) {
    to.setOperation(static_cast<Operation>(from.operation));
    auto side = [this](auto to, const eval::Operand& operand) {
      if (operand.is_value)
        to.setValue(operand.value);
      else
        write(to.initExpression(), tree_.expressions[operand.place]);
    };
    side(to.initLeft(), from.left);
    side(to.initRight(), from.right);
  }

  static std::int32_t compute(Expression::Reader from) {
    auto side = [](auto operand) {
      return operand.isValue() ? operand.getValue() : compute(operand.getExpression());
    };
    std::int32_t left = side(from.getLeft());
    std::int32_t right = side(from.getRight());
    return eval::apply(static_cast<eval::Operation>(from.getOperation()), left, right);
  }

  eval::Tree tree_;
};

template <typename Work>
std::unique_ptr<Exchange> of(Form form) {
  if (form.reuse) return std::make_unique<Capnp<Work, Scratch>>(form);
  return std::make_unique<Capnp<Work, Fresh>>(form);
}

}  // namespace

std::unique_ptr<Exchange> capnp_exchange(Case which, Form form) {
  switch (which) {
    case Case::carsales:
      return of<Carsales>(form);
    case Case::catrank:
      return of<Catrank>(form);
    case Case::eval:
      return of<Eval>(form);
  }
  throw Failure("unknown case");
}
