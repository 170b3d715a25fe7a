// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import io.netty.channel.Channel;
import io.netty.util.concurrent.Promise;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Adds two numbers over HTTP/1.1: {@code GET /add/1/2} is answered by {@code 1 + 2 = 3}. */
final class Adder implements Service {
  private static final Pattern PATH = Pattern.compile("/add/([^/]*)/([^/]*)");
  private static final Pattern NUMBER = Pattern.compile("-?[0-9]+");

  private final long timeoutNs;
  private final Set<Connection> connections = new HashSet<>();
  private long answered;

  Adder(Options options) {
    timeoutNs = options.timeout().toNanos();
  }

  public static void main(String[] words) {
    Program.run("adder", false, words, Adder::new);
  }

  /** The sum at a path. */
  static String page(String path) throws Refusal {
    Matcher numbers = PATH.matcher(path);
    if (!numbers.matches()) {
      throw Refusal.NO_SUCH_PAGE;
    }
    long a = number(numbers.group(1));
    long b = number(numbers.group(2));
    try {
      return a + " + " + b + " = " + Math.addExact(a, b) + "\n";
    } catch (ArithmeticException e) {
      throw Refusal.TOO_LARGE;
    }
  }

  /** Digits, and a minus before them for a negative number. */
  private static long number(String text) throws Refusal {
    if (!NUMBER.matcher(text).matches()) {
      throw Refusal.NO_NUMBER;
    }
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw Refusal.TOO_LARGE;
    }
  }

  @Override
  public void accept(Channel client) {
    connections.add(new Connection(this, client));
  }

  void answered() {
    answered++;
  }

  void closed(Connection connection) {
    connections.remove(connection);
  }

  @Override
  public void lookForSlowPeers() {
    long nowNs = System.nanoTime();
    for (Connection connection : List.copyOf(connections)) {
      connection.lookForSlowness(nowNs, timeoutNs);
    }
  }

  @Override
  public void stop(Promise<Void> ended) {
    ended.setSuccess(null);
  }

  @Override
  public String toString() {
    return answered + " requests answered";
  }
}
