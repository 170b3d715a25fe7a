// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// The contract of every library: one round of a case, in each mode. `src/contract.rs` has the same.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "digest.hpp"
#include "random.hpp"

using Byte = unsigned char;
using Bytes = std::vector<Byte>;

// What the messages are.
enum class Case { carsales, catrank, eval };

// How messages are written and buffered.
struct Form {
  // Whether they are packed: Cap'n Proto's own compression of zeros.
  bool packed = false;
  // Whether buffers are used again in the next round. If not, each message has new ones.
  bool reuse = false;
};

// Why a round has failed.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws a `Failure` if the values are not those that were expected.
inline void judge(bool right) {
  if (!right) throw Failure("the response is not the one that was expected");
}

// The way to the other process. Each library reads it through a buffer of 8,192 bytes.
struct Peer {
  int input;
  int output;

  // Sends all bytes of a message. Throws a `Failure`.
  void send(std::span<const Byte> message) const;
};

// One of the two messages of a round.
enum class Part { request, response };

// A case, done with a library. All functions throw a `Failure`, or what the library throws.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  // A round in memory: what was built is read as it is.
  virtual void object(Random& random) = 0;
  // A round by bytes, which are read where they lie if the format allows it. Returns how many were
  // written.
  virtual std::size_t bytes(Random& random) = 0;
  // The client's half of a round with another process.
  virtual std::size_t ask(Random& random, const Peer& peer) = 0;
  // The server's half; nothing when the client has gone.
  virtual std::optional<std::size_t> answer(const Peer& peer) = 0;
  // The bytes of the next request.
  virtual Bytes request(Random& random) = 0;
  // The bytes of the response to a request.
  virtual Bytes response(std::span<const Byte> request) = 0;
  // Reads each value of a message.
  virtual void see(Part part, std::span<const Byte> message, Digest& digest) = 0;
};

// A way to pass messages.
struct Library {
  // Its name on command lines.
  std::string_view name;
  // What it is.
  std::string_view what;
  // Whether messages can be passed as objects, whether it makes bytes, and whether it has a packed
  // form.
  bool has_objects;
  bool has_bytes;
  bool packs;
  // Makes a case of it.
  std::unique_ptr<Exchange> (*exchange)(Case, Form);
};

// All of them, a file each in `libraries/`.
std::unique_ptr<Exchange> capnp_exchange(Case which, Form form);
std::unique_ptr<Exchange> plain_exchange(Case which, Form form);
std::unique_ptr<Exchange> protobuf_exchange(Case which, Form form);

inline constexpr Library LIBRARIES[] = {
    {"capnp", "Cap'n Proto by libcapnp", true, true, true, capnp_exchange},
    {"plain", "structs, copied in place of bytes", true, false, false, plain_exchange},
    {"protobuf", "Protocol Buffers by libprotobuf", false, true, false, protobuf_exchange},
};
