//! Guides: one task each, from the beginning to the end.
//!
//! | to | read |
//! |---|---|
//! | have a server in a host | [`first_server`] |
//! | ask the user, the model or the client | [`asking`] |
//! | write errors that a model can act on | [`errors`] |
//! | share a server fairly | [`limits`] |
//! | wrap every call | [`layers`] |
//! | carry messages over something else | [`transports`] |
//! | test a server | [`testing`] |
//! | serve HTTP, and stand behind a proxy | [`http`] |
//! | know what differs between revisions | [`revisions`] |
//! | build on one of the crates alone | [`single_crates`] |
//! | come from another SDK | [`from_rmcp`], [`from_tower_mcp`] |

macro_rules! guides {
    ($($name:ident)*) => {
        $(
            #[doc = include_str!(concat!("guide/", stringify!($name), ".md"))]
            pub mod $name {}
        )*
    };
}

guides! {
    first_server asking errors limits layers transports testing http revisions single_crates from_rmcp from_tower_mcp
}
