// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "rounds.hpp"

#include <ctime>
#include <sstream>

namespace {

std::uint64_t cpu_ns(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) throw Failure("the clock of a process cannot be read");
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

Rounds::Rounds(const Options& options) : exchange_(options.exchange()), mode_(options.mode) {
  if (mode_ == Mode::pipe || mode_ == Mode::tcp) server_.emplace(options);
}

void Rounds::run(std::uint64_t rounds) {
  for (std::uint64_t left = rounds; left > 0; --left) bytes_ += round();
  rounds_ += rounds;
}

// One. Callgrind finds it by its name.
__attribute__((noinline)) std::size_t Rounds::round() {
  if (mode_ == Mode::object) {
    exchange_->object(random_);
    return 0;
  }
  return server_ ? exchange_->ask(random_, server_->peer()) : exchange_->bytes(random_);
}

std::string Rounds::told() const {
  std::uint64_t cpu = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
  if (server_) {
    clockid_t clock{};
    if (clock_getcpuclockid(server_->child(), &clock) != 0) throw Failure("the server has ended");
    cpu += cpu_ns(clock);
  }
  std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - start_;
  std::ostringstream line;
  line << R"({"bytes":)" << bytes_ << R"(,"cpu_ns":)" << cpu << R"(,"ns":)" << elapsed.count()
       << R"(,"rounds":)" << rounds_ << R"(,"type":"counters"})";
  return line.str();
}
