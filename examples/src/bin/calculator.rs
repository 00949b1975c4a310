//! A calculator: the server of the README.

use mcp_server::prelude::*;

#[derive(Tools)]
enum Calculator {
    /// Add two numbers.
    Add { a: f64, b: f64 },
    /// Subtract b from a.
    Subtract { a: f64, b: f64 },
    /// Multiply two numbers.
    Multiply { a: f64, b: f64 },
    /// Divide a by b.
    Divide { a: f64, b: f64 },
}

impl RunTools for Calculator {
    async fn run(self, _cx: &Context) -> Result<impl IntoContent, ToolError> {
        match self {
            Self::Add { a, b } => Ok(a + b),
            Self::Subtract { a, b } => Ok(a - b),
            Self::Multiply { a, b } => Ok(a * b),
            Self::Divide { b: 0.0, .. } => Err(ToolError::failed("cannot divide by zero")),
            Self::Divide { a, b } => Ok(a / b),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    let server = Server::new("calculator", "1.0.0").tools::<Calculator>();
    server.serve_stdio().await
}
