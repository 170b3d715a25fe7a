// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The help text.

pub(crate) const USAGE: &str = "\
Usage: generator [EAL options] -- --ports A[,B[,C,D...]] [options]

Sends numbered and time-stamped UDP frames, checks every byte of the frames that
come back, and counts those that were lost, duplicated, reordered, changed or
foreign.

Options:
  --ports A[,B[,...]] one port sends and receives; with two ports, A sends and B
                      receives; more ports, up to 32, are further pairs (required)
  --bidirectional     both ports of a pair send and receive
  --reverse-share X   with --bidirectional, the second port of each pair sends this
                      share of --rate and of --count, 0.001 to 1; default 1
  --size N[xC][,...]  frame size in bytes with FCS: 64 to 9000, default 64; or a
                      repeated sequence of at most 10000 frames, C of each size:
                      64x7,594x4,1518
  --vlan ID[,ID]      VLAN tag (802.1Q), or a service tag (802.1ad) and a tag after
                      it: 1 to 4094; sizes count 4 bytes for each; default none
  --vxlan VNI         a VXLAN tunnel around each frame, with this network identifier;
                      tags are outside of it, and sizes count its 50 bytes
  --rate PPS|max      frames per second on each sending port, with k, M or G;
                      default max: as fast as possible
  --duration S        seconds to send, 0.001 or more; default 10
  --count N           frames to send on each sending port, instead of --duration;
                      with --rate max, stops after 5 s without progress
  --then PPS:S        a second load right after the first: its rate in frames per
                      second, and its seconds; --rate and --duration describe the
                      first load
  --src-ip RANGE      source addresses, A-B or A/LEN; default 198.18.0.0/16
  --dst-ip RANGE      destination addresses; default 198.19.0.0/16; both can be IPv6:
                      one source, and destinations with the same first 96 bits
  --src-udp a-b       source ports; default 10000-10999
  --dst-udp a-b       destination ports; default 10000-10999
  --flows N           use the first N combinations of these addresses and ports, one
                      for each frame in turn; default: all
  --dst-mac MAC[,MAC] destination MAC address, one for each sending port;
                      default 02:00:00:00:01:<port>
  --expect-src MAC[,MAC], --expect-dst MAC[,MAC]
                      MAC addresses of the frames that come back, one for each
                      receiving port; default: not checked
  --wait S            seconds to wait for frames after the last one was sent: 0
                      to 3600, default 2; ends early when all have come back
  --wait-link S       seconds to wait for the links: 0 to 3600, default 10
  --probe S           seconds to wait, before the run, until a probe on each
                      stream has come back: 0 to 3600, default 10; 0 = no probes
  --before S          seconds to wait after the probes: 0 to 3600, default 0
  --burst N           maximum frames per call: 1 to 512, default 32
  --queues N          queues per port, used in turn: 1 to 64, default 1
  --window N          maximum frames of a stream in flight: 1 to 1048576; lost
                      frames count as in flight; default: no limit
  --rxd N, --txd N    descriptors of an RX or TX queue: 1 to 65535, default 1024
  --json FILE         write the result as a JSON object; - writes to stdout
  --quiet             do not print a line per second
  -h, --help          print this text
  --version           print the version

EAL options: https://doc.dpdk.org/guides/linux_gsg/
";
