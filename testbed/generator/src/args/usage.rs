// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What `--help` prints.

pub(crate) const USAGE: &str = "\
Usage: generator [EAL options] -- --ports A[,B] [options]

Sends numbered and time-stamped UDP frames, receives them as they come back, and
says of each whether it was lost, repeated, reordered, changed or sent astray.

Options:
  --ports A[,B]       one port sends and receives; of two, A sends and B
                      receives (required)
  --bidirectional     both of two ports send and receive
  --size N[xC][,...]  bytes of a frame with FCS: 64 to 9000, default 64; of a mixture
                      those of its frames in their order, C of each, again and
                      again: 64x7,594x4,1518 (10000 frames at most)
  --rate PPS|max      frames a second on each sending port, with k, M or G;
                      default max: as fast as it can
  --duration S        seconds to send, 0.001 or more; default 10
  --count N           frames to send on each sending port, instead of --duration;
                      with --rate max it gives up after 5 s without progress
  --then PPS:S        a second load right behind the first, of which --rate and
                      --duration tell: its rate and its seconds
  --src-ip RANGE      source addresses, A-B or A/LEN; default 198.18.0.0/16
  --dst-ip RANGE      destination addresses; default 198.19.0.0/16
  --src-udp a-b       source ports; default 10000-10999
  --dst-udp a-b       destination ports; default 10000-10999
  --dst-mac MAC[,MAC] destination MAC address, one for each sending port;
                      default 02:00:00:00:01:<port>
  --expect-src MAC[,MAC], --expect-dst MAC[,MAC]
                      MAC addresses that frames must come back with, one for
                      each receiving port; default: not checked
  --wait S            seconds to wait for frames after the last was sent: 0 to
                      3600, default 2; ends when all have come back
  --wait-link S       seconds to wait for the links: 0 to 3600, default 10
  --probe S           seconds to wait until a probe on each stream has come back,
                      before the run: 0 to 3600, default 10; 0 = do not probe
  --before S          seconds to wait between that and the run: 0 to 3600,
                      default 0
  --burst N           most frames a call: 1 to 512, default 32
  --queues N          queues of a port, used in turn: 1 to 64, default 1
  --window N          most frames of a stream under way at once: 1 to 1048576; a
                      lost one keeps its place; default: no limit
  --rxd N, --txd N    descriptors of an RX or TX queue: 1 to 65535, default 1024
  --json FILE         write the result as a JSON object; with - to stdout
  --quiet             no line a second
  -h, --help          print this text
  --version           print the version

For the options of the EAL see https://doc.dpdk.org/guides/linux_gsg/
";
