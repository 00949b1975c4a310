//! The programs are in `src/bin`. This library is there so that the code in the README, and in
//! that of the macros, which cannot name the server, is compiled with the tests.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../mcp-macros/README.md")]
struct MacrosReadme;
