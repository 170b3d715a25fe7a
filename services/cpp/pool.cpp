// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "pool.hpp"

#include <cstddef>
#include <utility>

namespace services {
namespace {

// So much is read at a time.
constexpr std::size_t kRoom = 16'384;

}  // namespace

Pool::Pool(int threads, Serve serve) : serve_(std::move(serve)) {
  for (int number = 0; number < threads; ++number) threads_.emplace_back([this] { Work(); });
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ready_.notify_all();
}

void Pool::Add(Connection& connection) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(&connection);
  }
  ready_.notify_one();
}

void Pool::Work() {
  std::vector<char> room(kRoom);
  while (auto* connection = Next()) serve_(*connection, room);
}

Connection* Pool::Next() {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return has_ended_ || !queue_.empty(); });
  if (has_ended_) return nullptr;
  auto* connection = queue_.front();
  queue_.pop_front();
  return connection;
}

}  // namespace services
