// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The command line, checked.
 *
 * @param place where to listen
 * @param timeout how long a peer may take
 * @param to where a proxy connects to, else null
 * @param limit so many connections a proxy passes on at a time
 */
record Options(InetSocketAddress place, Duration timeout, InetSocketAddress to, int limit) {
  private static final String SERVICE =
      """
      usage: NAME kernel ADDRESS PORT [--timeout SECONDS]

      Serves a TCP port until SIGINT or SIGTERM.

        ADDRESS            the address to listen at, such as 127.0.0.1 or ::
        PORT               1 to 65535
        --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10
        -h, --help         print this text
      """;

  private static final String PROXY =
      """
      usage: NAME kernel ADDRESS PORT TO [--timeout SECONDS] [--limit N]

      Passes the connections to a TCP port on to another one until SIGINT or SIGTERM, and then until
      all of them have ended.

        ADDRESS            the address to listen at, such as 127.0.0.1 or ::
        PORT               1 to 65535
        TO                 the address and port to connect to, such as 127.0.0.1:80 or [::1]:80
        --timeout SECONDS  how long connecting may take, and at the end what is open; default: 10
        --limit N          so many connections are passed on at a time; default: 10000
        -h, --help         print this text
      """;

  /** The text that {@code --help} prints. */
  static String usage(String name, boolean isProxy) {
    return (isProxy ? PROXY : SERVICE).replace("NAME", name);
  }

  /**
   * Reads the command line. Empty: the usage is asked for.
   *
   * @throws IllegalArgumentException with a sentence: what is wrong, with the value and the remedy
   */
  static Optional<Options> parse(List<String> words, boolean isProxy) {
    List<String> values = new ArrayList<>();
    String timeout = "10";
    String limit = "10000";
    for (Iterator<String> rest = words.iterator(); rest.hasNext(); ) {
      String word = rest.next();
      if (word.equals("-h") || word.equals("--help")) {
        return Optional.empty();
      } else if (word.equals("--timeout")) {
        timeout = value(word, rest);
      } else if (word.equals("--limit") && isProxy) {
        limit = value(word, rest);
      } else if (word.startsWith("-")) {
        throw new IllegalArgumentException("'%s' is no option: see --help".formatted(word));
      } else {
        values.add(word);
      }
    }
    if (values.size() != (isProxy ? 4 : 3)) {
      String needed =
          isProxy ? "an address, a port, and where to connect to" : "an address, and a port";
      throw new IllegalArgumentException("give kernel, %s: see --help".formatted(needed));
    }
    if (!values.get(0).equals("kernel")) {
      throw new IllegalArgumentException(
          "'%s' is no kind of sockets: give kernel".formatted(values.get(0)));
    }
    return Optional.of(
        new Options(
            new InetSocketAddress(address(values.get(1)), port(values.get(2))),
            timeout(timeout),
            isProxy ? backEnd(values.get(3)) : null,
            limit(limit)));
  }

  private static String value(String option, Iterator<String> rest) {
    if (!rest.hasNext()) {
      throw new IllegalArgumentException("%s has no value: see --help".formatted(option));
    }
    return rest.next();
  }

  private static InetAddress address(String text) {
    // Without the brackets and the names of interfaces that Netty knows too.
    InetAddress address =
        text.matches("[0-9A-Fa-f.:]*") ? NetUtil.createInetAddressFromIpAddressString(text) : null;
    if (address == null) {
      throw new IllegalArgumentException(
          "'%s' is no address: give one such as 127.0.0.1".formatted(text));
    }
    return address;
  }

  private static int port(String text) {
    if (!text.matches("[0-9]{1,5}")
        || Integer.parseInt(text) < 1
        || Integer.parseInt(text) > 65_535) {
      throw new IllegalArgumentException("port '%s': give 1 to 65535".formatted(text));
    }
    return Integer.parseInt(text);
  }

  private static Duration timeout(String text) {
    // Nine digits are more than 30 years, and a number of nanoseconds that can be added to others.
    double seconds =
        text.matches("[0-9]{0,9}(\\.[0-9]*)?") && text.matches(".*[0-9].*")
            ? Double.parseDouble(text)
            : 0;
    if (seconds * 1e9 < 1) {
      throw new IllegalArgumentException("a timeout of %s s: give more than 0".formatted(text));
    }
    return Duration.ofNanos((long) (seconds * 1e9));
  }

  private static int limit(String text) {
    if (!text.matches("[0-9]{1,9}") || Integer.parseInt(text) == 0) {
      throw new IllegalArgumentException(
          "a limit of %s connections: give 1 or more".formatted(text));
    }
    return Integer.parseInt(text);
  }

  private static InetSocketAddress backEnd(String text) {
    int colon = text.lastIndexOf(':');
    try {
      String host = text.substring(0, Math.max(colon, 0));
      boolean isV6 = host.startsWith("[") && host.endsWith("]");
      if (host.contains(":") == isV6) {
        String address = isV6 ? host.substring(1, host.length() - 1) : host;
        return new InetSocketAddress(address(address), port(text.substring(colon + 1)));
      }
    } catch (IllegalArgumentException e) {
      // As below.
    }
    throw new IllegalArgumentException(
        "'%s' is nothing to connect to: give an address and a port such as 127.0.0.1:80 or [::1]:80"
            .formatted(text));
  }

  @Override
  public String toString() {
    String end = to == null ? "" : " to " + NetUtil.toSocketAddressString(to);
    return "kernel %s port %d%s"
        .formatted(NetUtil.toAddressString(place.getAddress()), place.getPort(), end);
  }
}
