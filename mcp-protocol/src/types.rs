//! Every object of the protocol, one type for all revisions.
//!
//! A member that some revision lacks is optional here; the docs say which revisions have it.
//! What a peer of an older revision may be sent is decided by the `compat` module, not here.

mod cancellation;
mod capabilities;
mod completion;
mod content;
mod elicitation;
mod implementation;
mod inputs;
mod lifecycle;
mod list;
mod logging;
mod paging;
mod progress;
mod prompts;
mod resources;
mod roots;
mod sampling;
mod subscriptions;
mod tasks;
mod tools;

pub use self::cancellation::*;
pub use self::capabilities::*;
pub use self::completion::*;
pub use self::content::*;
pub use self::elicitation::*;
pub use self::implementation::*;
pub use self::inputs::*;
pub use self::lifecycle::*;
pub use self::list::*;
pub use self::logging::*;
pub use self::paging::*;
pub use self::progress::*;
pub use self::prompts::*;
pub use self::resources::*;
pub use self::roots::*;
pub use self::sampling::*;
pub use self::subscriptions::*;
pub use self::tasks::*;
pub use self::tools::*;
