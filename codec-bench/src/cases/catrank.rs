// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Strings: a client has pages, and the server ranks those about cats above all others, and those about dogs below.

use serde::{Deserialize, Serialize};

use crate::random::Random;

/// A request has fewer pages than this.
pub const MOST_PAGES: u32 = 1_000;
/// A page with a higher score is about cats.
pub const GOOD: f64 = 1_001.0;
const PREFIX: &str = "http://example.com/";
const MOST_LETTERS: u32 = 100;
const MOST_WORDS: u32 = 20;
// Of so many pages one is about cats, and one about dogs.
const RARE: u32 = 8;
const FACTOR: f64 = 10_000.0;
const WORDS: [&str; 14] = [
    "foo ", "bar ", "baz ", "qux ", "quux ", "corge ", "grault ", "garply ", "waldo ", "fred ", "plugh ", "xyzzy ",
    "thud ", "wibble ",
];

const CAT: &[u8; 4] = b"cat ";
const DOG: &[u8; 4] = b"dog ";

/// A page before it is in a message. Its buffers are used for all pages.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Page {
    /// Its address.
    pub url: String,
    /// How good it is before it is ranked: 1,000 less its number.
    pub score: f64,
    /// Words of it.
    pub snippet: String,
}

impl Page {
    /// The next page. Returns whether it will be good.
    pub fn draw(&mut self, number: u32, random: &mut Random) -> bool {
        self.url.clear();
        self.url.push_str(PREFIX);
        for _ in 0..random.below(MOST_LETTERS) {
            self.url.push(char::from(b'a' + random.below(26) as u8));
        }
        self.score = 1_000.0 - f64::from(number);
        let (cat, dog) = (random.once_in(RARE), random.once_in(RARE));
        self.snippet.clear();
        self.snippet.push(' ');
        self.add_words(random);
        self.snippet.push_str(if cat { "cat " } else { "" });
        self.snippet.push_str(if dog { "dog " } else { "" });
        self.add_words(random);
        cat && !dog
    }

    fn add_words(&mut self, random: &mut Random) {
        for _ in 0..random.below(MOST_WORDS) {
            self.snippet.push_str(WORDS[random.below(WORDS.len() as u32) as usize]);
        }
    }
}

/// By hand, and so in C++: what people take for it there and here differs more than the libraries that are compared.
fn contains_word(text: &[u8], word: &[u8; 4]) -> bool {
    text.windows(5).any(|window| window[0] == b' ' && window[1..] == *word)
}

/// The score of a page by what its snippet has.
pub fn ranked(score: f64, snippet: &[u8]) -> f64 {
    let mut score = score;
    if contains_word(snippet, CAT) {
        score *= FACTOR;
    }
    if contains_word(snippet, DOG) {
        score /= FACTOR;
    }
    score
}

/// Sorts by the score, which is the first of a pair, from the highest to the lowest.
pub fn sort<T>(pages: &mut [(f64, T)]) {
    pages.sort_unstable_by(|left, right| right.0.total_cmp(&left.0));
}

/// Counts the good ones of ranked scores; `None` if one comes after another that is not.
pub fn count_good(scores: impl Iterator<Item = f64>) -> Option<u32> {
    let (mut good, mut worse) = (0, false);
    for score in scores {
        if score <= GOOD {
            worse = true;
        } else if worse {
            return None;
        } else {
            good += 1;
        }
    }
    Some(good)
}
