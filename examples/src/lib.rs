//! The programs are in `src/bin`. This library is there so that the code in the README is
//! compiled with the tests.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
