//! Who a peer says it is.

use crate::wire::{wire, words};

wire! {
    /// The name and version of a client or server.
    ///
    /// For display and logs; what a peer can do is in its capabilities.
    /// Spec: [`Implementation`](https://modelcontextprotocol.io/specification/2026-07-28/schema#implementation).
    pub open struct Implementation {
        /// For programs.
        required "name" => name: String,
        /// Of the program, not of the protocol.
        required "version" => version: String,
        /// For people. Since 2025-06-18.
        optional "title" => title: String,
        /// What it does. Since 2025-11-25.
        optional "description" => description: String,
        /// Where to read about it. Since 2025-11-25.
        optional "websiteUrl" => website_url: String,
        /// Pictures for a user interface. Since 2025-11-25.
        optional "icons" => icons: Vec<Icon>,
    }

    /// A picture for a user interface. Since 2025-11-25.
    ///
    /// Spec: [icons](https://modelcontextprotocol.io/specification/2026-07-28/basic#icons).
    pub open struct Icon {
        /// An `https:` or `data:` URI.
        required "src" => src: String,
        /// Its media type, if the source does not say it.
        optional "mimeType" => mime_type: String,
        /// The sizes it can be shown in: `48x48`, `any`.
        optional "sizes" => sizes: Vec<String>,
        /// The background it is made for.
        optional "theme" => theme: IconTheme,
    }
}

words! {
    /// The background that an icon is made for.
    pub enum IconTheme {
        /// A light one.
        Light = "light",
        /// A dark one.
        Dark = "dark",
    }
}
