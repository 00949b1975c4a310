//! What a server has to do, family by family, over real pipes: conversations as text.

mod arguments;
mod asking;
mod codes;
mod lists;
mod memory;
mod opening;
mod results;
mod script;
#[path = "../process/support.rs"]
#[expect(dead_code, reason = "the tests of the fixture need more of it")]
mod support;
mod unknown;
