//! What a server has to do, family by family, over real pipes: conversations as text.

mod asking;
mod codes;
#[expect(dead_code, reason = "the table needs more of it")]
#[path = "../../../xtask/src/edges/mod.rs"]
mod edges;
mod lists;
mod memory;
mod results;
mod script;
#[path = "../process/support.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod support;
