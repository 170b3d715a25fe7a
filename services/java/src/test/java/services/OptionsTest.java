// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionsTest {
  @Test
  void aCommandLineIsUnderstood() {
    InetSocketAddress place = new InetSocketAddress("::1", 80);
    InetSocketAddress to = new InetSocketAddress("2001:db8::2", 8080);
    assertEquals(
        Optional.of(new Options(place, Duration.ofSeconds(10), null, 10_000)),
        parse("kernel ::1 80", false));
    Optional<Options> options =
        parse("--timeout 0.5 kernel ::1 80 [2001:db8::2]:8080 --limit 7", true);
    assertEquals(Optional.of(new Options(place, Duration.ofMillis(500), to, 7)), options);
    assertEquals("kernel ::1 port 80 to [2001:db8::2]:8080", options.get().toString());
    assertEquals(Optional.empty(), parse("kernel --help", false));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      emptyValue = "",
      value = {
        "''                                    | see --help",
        "kernel 127.0.0.1                      | see --help",
        "kernel 127.0.0.1 80 127.0.0.1:81      | see --help",
        "lwip 127.0.0.1 80                     | 'lwip' is no kind of sockets",
        "kernel localhost 80                   | 'localhost' is no address",
        "kernel [::1] 80                       | '[::1]' is no address",
        "kernel 127.0.0.1 0                    | port '0'",
        "kernel 127.0.0.1 65536                | port '65536'",
        "kernel 127.0.0.1 80 --timeout         | --timeout has no value",
        "kernel 127.0.0.1 80 --timeout 0       | a timeout of 0 s",
        "kernel 127.0.0.1 80 --timeout -1      | a timeout of -1 s",
        "kernel 127.0.0.1 80 --timeout .       | a timeout of . s",
        "kernel 127.0.0.1 80 --timeout 1f      | a timeout of 1f s",
        "kernel 127.0.0.1 80 --limit 5         | '--limit' is no option",
      })
  void whatIsWrongIsNamed(String words, String said) {
    assertWrong(words, said, false);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kernel 127.0.0.1 80                           | where to connect to",
        "kernel 127.0.0.1 80 localhost:81              | 'localhost:81' is nothing to connect to",
        "kernel 127.0.0.1 80 ::1:81                    | '::1:81' is nothing to connect to",
        "kernel 127.0.0.1 80 [127.0.0.1]:81            | '[127.0.0.1]:81' is nothing to connect to",
        "kernel 127.0.0.1 80 127.0.0.1:0               | '127.0.0.1:0' is nothing to connect to",
        "kernel 127.0.0.1 80 127.0.0.1:81 --limit 0    | a limit of 0 connections",
      })
  void whatIsWrongForAProxyIsNamed(String words, String said) {
    assertWrong(words, said, true);
  }

  private static void assertWrong(String words, String said, boolean isProxy) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> parse(words, isProxy)).getMessage();
    assertTrue(message.contains(said), message);
  }

  private static Optional<Options> parse(String words, boolean isProxy) {
    return Options.parse(words.isEmpty() ? List.of() : List.of(words.split(" ")), isProxy);
  }
}
