// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// No library: plain structs, passed by reference, or copied in place of bytes. What all others add
// is above this.

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../cases/carsales.hpp"
#include "../cases/catrank.hpp"
#include "../cases/eval.hpp"
#include "../contract.hpp"

namespace {

template <typename Work>
class Plain : public Exchange {
 public:
  explicit Plain(Form form) : reuse_(form.reuse) {}

  void object(Random& random) override {
    auto expected = build(random);
    Work::answer(request_, response_);
    judge(Work::check(response_, expected));
  }

  std::size_t bytes(Random& random) override {
    auto expected = build(random);
    copy(request_, sent_);
    Work::answer(sent_, response_);
    copy(response_, replied_);
    judge(Work::check(replied_, expected));
    return 0;
  }

  std::size_t ask(Random&, const Peer&) override { no_bytes(); }
  std::optional<std::size_t> answer(const Peer&) override { no_bytes(); }
  Bytes request(Random&) override { no_bytes(); }
  Bytes response(std::span<const Byte>) override { no_bytes(); }
  void see(Part, std::span<const Byte>, Digest&) override { no_bytes(); }

 private:
  [[noreturn]] static void no_bytes() { throw Failure("plain structs have no bytes"); }

  auto build(Random& random) {
    if (!reuse_) {
      request_ = {};
      response_ = {};
    }
    return work_.ask(random, request_);
  }

  template <typename T>
  void copy(const T& from, T& to) const {
    if (reuse_)
      to = from;
    else
      to = T(from);
  }

  Work work_;
  bool reuse_;
  typename Work::Request request_{};
  typename Work::Response response_{};
  // What has been copied in place of bytes.
  typename Work::Request sent_{};
  typename Work::Response replied_{};
};

struct Car {
  // Copied, and not looked at.
  std::string make;
  std::string model;
  carsales::Numbers numbers;
};

struct Carsales {
  using Request = std::vector<Car>;
  using Response = std::uint64_t;

  std::uint64_t ask(Random& random, Request& request) {
    request.clear();
    std::uint64_t worth = 0;
    for (std::uint32_t left = random.below(carsales::MOST_CARS); left > 0; --left) {
      auto names = carsales::Names::draw(random);
      auto numbers = carsales::Numbers::draw(random);
      worth += numbers.worth();
      request.push_back({names.make, names.model, numbers});
    }
    return worth;
  }

  static void answer(const Request& request, Response& response) {
    response = 0;
    for (const Car& car : request) response += car.numbers.worth();
  }

  static bool check(Response response, std::uint64_t expected) { return response == expected; }
};

struct Catrank {
  using Request = std::vector<catrank::Page>;
  using Response = std::vector<catrank::Page>;

  std::uint32_t ask(Random& random, Request& request) {
    request.clear();
    std::uint32_t good = 0;
    std::uint32_t many = random.below(catrank::MOST_PAGES);
    for (std::uint32_t number = 0; number < many; ++number) {
      good += page.draw(number, random) ? 1 : 0;
      request.push_back(page);
    }
    return good;
  }

  static void answer(const Request& request, Response& response) {
    std::vector<std::pair<double, const catrank::Page*>> ranked;
    ranked.reserve(request.size());
    for (const auto& page : request)
      ranked.emplace_back(catrank::ranked(page.score, page.snippet), &page);
    catrank::sort(ranked);
    response.clear();
    for (const auto& [score, page] : ranked) {
      response.push_back(*page);
      response.back().score = score;
    }
  }

  static bool check(const Response& response, std::uint32_t expected) {
    catrank::GoodPages good;
    for (const auto& page : response) good.add(page.score);
    return good.count() == expected;
  }

  catrank::Page page;
};

struct Expression;

// A pointer whose copy has what it points to.
struct Boxed {
  explicit Boxed(Expression made);
  Boxed(const Boxed& other);
  Boxed& operator=(const Boxed& other);
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed();

  std::unique_ptr<Expression> expression;
};

using Side = std::variant<std::int32_t, Boxed>;

struct Expression {
  eval::Operation operation;
  Side left;
  Side right;
};

Boxed::Boxed(Expression made) : expression(std::make_unique<Expression>(std::move(made))) {}
Boxed::Boxed(const Boxed& other) : expression(std::make_unique<Expression>(*other.expression)) {}
Boxed& Boxed::operator=(const Boxed& other) {
  if (this != &other) expression = std::make_unique<Expression>(*other.expression);
  return *this;
}
Boxed::~Boxed() = default;

struct Eval {
  using Request = std::optional<Expression>;
  using Response = std::int32_t;

  std::int32_t ask(Random& random, Request& request) {
    auto [root, value] = tree.draw(random);
    request = expression(root);
    return value;
  }

  static void answer(const Request& request, Response& response) {
    response = request ? compute(*request) : 0;
  }

  static bool check(Response response, std::int32_t expected) { return response == expected; }

 private:
  Side side(const eval::Operand& operand) const {
    if (operand.is_value) return operand.value;
    return Boxed(expression(tree.expressions[operand.place]));
  }

  Expression expression(const eval::Expression& from) const {
    Side left = side(from.left);
    return {from.operation, std::move(left), side(from.right)};
  }

  static std::int32_t compute(const Side& side) {
    const auto* value = std::get_if<std::int32_t>(&side);
    return value != nullptr ? *value : compute(*std::get_if<Boxed>(&side)->expression);
  }

  static std::int32_t compute(const Expression& from) {
    std::int32_t left = compute(from.left);
    return eval::apply(from.operation, left, compute(from.right));
  }

  eval::Tree tree;
};

}  // namespace

std::unique_ptr<Exchange> plain_exchange(Case which, Form form) {
  switch (which) {
    case Case::carsales:
      return std::make_unique<Plain<Carsales>>(form);
    case Case::catrank:
      return std::make_unique<Plain<Catrank>>(form);
    case Case::eval:
      return std::make_unique<Plain<Eval>>(form);
  }
  throw Failure("unknown case");
}
