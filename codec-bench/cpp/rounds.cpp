// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "rounds.hpp"

#include <fstream>
#include <sstream>

namespace {

// What the scheduler says of a process with one thread: the first field of `schedstat`.
std::uint64_t cpu_ns(const std::string& process)
{
    std::string path = "/proc/" + process + "/schedstat";
    std::uint64_t value = 0;
    if (!(std::ifstream(path) >> value))
        throw Failure("cannot read '" + path + "'");
    return value;
}

} // namespace

Rounds::Rounds(const Options& options) : exchange_(options.exchange()), mode_(options.mode)
{
    if (mode_ == Mode::pipe || mode_ == Mode::tcp)
        server_.emplace(options);
}

void Rounds::run(std::uint64_t rounds)
{
    for (std::uint64_t left = rounds; left > 0; --left)
        bytes_ += round();
    rounds_ += rounds;
}

// One. Callgrind finds it by its name.
__attribute__((noinline)) std::size_t Rounds::round()
{
    if (mode_ == Mode::object) {
        exchange_->object(random_);
        return 0;
    }
    return server_ ? exchange_->ask(random_, server_->peer()) : exchange_->bytes(random_);
}

std::string Rounds::told() const
{
    std::uint64_t cpu = cpu_ns("self");
    if (server_)
        cpu += cpu_ns(std::to_string(server_->child()));
    std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - start_;
    std::ostringstream line;
    line << R"({"bytes":)" << bytes_ << R"(,"cpu_ns":)" << cpu << R"(,"ns":)" << elapsed.count() << R"(,"rounds":)"
         << rounds_ << '}';
    return line.str();
}
