// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Messages: a byte says what they are, eight bytes how long (the first one is the highest), and
// then comes the content.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace services {

// Sends messages of any size back while they come.
class Echo {
 public:
  // Takes bytes of the peer, and appends what answers them. Returns how many messages were
  // answered.
  std::uint64_t Take(std::string_view bytes, std::string& output);

  // Whether the beginning of something has come, and not the rest.
  bool IsPartial() const { return left_ > 0 || !header_.empty(); }
  // Whether nothing more is sent back.
  bool IsLast() const { return is_last_; }

 private:
  // Takes a header. Returns whether that was all of a message.
  bool TakeHeader(std::string& output);
  void Refuse(std::string_view sentence, std::string& output);

  std::string header_;      // The beginning of one.
  std::uint64_t left_ = 0;  // Bytes of the message that are to come.
  bool is_last_ = false;
};

}  // namespace services
