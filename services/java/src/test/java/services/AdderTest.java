// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdderTest {
  @Test
  void numbersOf64BitsAreAdded() throws Refusal {
    assertEquals(
        "-9223372036854775808 + 9223372036854775807 = -1\n",
        Adder.page("/add/-9223372036854775808/9223372036854775807"));
    assertEquals("7 + 0 = 7\n", Adder.page("/add/007/-0"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-", "+1", "--1", "1.0", "0x1", "1 ", "%31", "2?a=b", "\u0661"})
  void whatIsNoNumberIsRefused(String text) {
    assertRefused(Refusal.NO_NUMBER, "/add/1/" + text);
    assertRefused(Refusal.NO_NUMBER, "/add/" + text + "/1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"9223372036854775808/0", "0/-9223372036854775809", "9223372036854775807/1"})
  void whatDoesNotFitIsRefused(String numbers) {
    assertRefused(Refusal.TOO_LARGE, "/add/" + numbers);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/", "/add/1", "/add/1/2/", "/ADD/1/2", "//add/1/2"})
  void thereIsNoOtherPage(String path) {
    assertRefused(Refusal.NO_SUCH_PAGE, path);
  }

  private static void assertRefused(Refusal refusal, String path) {
    assertSame(refusal, assertThrows(Refusal.class, () -> Adder.page(path)));
  }
}
