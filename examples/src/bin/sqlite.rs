//! An SQLite database, for a model to ask; it changes nothing unless it may.
//!
//! ```sh
//! cargo run --bin sqlite -- shop.db            # only reads
//! cargo run --bin sqlite -- shop.db --write    # may write, too, and makes the file
//! ```
//!
//! In a host: `{ "mcpServers": { "shop": { "command": "/path/to/sqlite", "args": ["/home/me/shop.db"] } } }`
//!
//! Each call has a connection of its own, so that one that takes long holds up no other.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcp_server::prelude::*;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

/// The file.
struct Database(PathBuf);

/// The most rows that are given at once, so that no call fills memory or the model.
const MOST_ROWS: usize = 200;

/// The most that one value may be, in bytes. SQLite fails what is larger.
const MOST_BYTES: i32 = 1 << 20;

/// The longest that a statement may take.
const MOST_TIME: Duration = Duration::from_secs(10);

const READ: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY;
const WRITE: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_CREATE);

impl Database {
    /// Opens it, for statements that end when their call does.
    fn open(cx: &Context<Self>, flags: OpenFlags) -> Result<Connection, ToolError> {
        let connection = Connection::open_with_flags(&cx.state().0, flags)?;
        connection.busy_timeout(Duration::from_secs(2))?;
        // No other file is opened by `ATTACH`.
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_BYTES)?;
        let (call, began) = (cx.clone(), Instant::now());
        let is_over = move || call.is_cancelled() || began.elapsed() > MOST_TIME;
        connection.progress_handler(1_000, Some(is_over))?;
        Ok(connection)
    }
}

/// Show the statements that made the tables, views and indices.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(read_only, open_world = false)]
struct ShowSchema {}

impl RunBlocking<Database> for ShowSchema {
    fn run(self, cx: &Context<Database>) -> Result<String, ToolError> {
        let connection = Database::open(cx, READ)?;
        let mut made = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
        let made = made.query_map([], |row| row.get::<_, String>(0))?;
        Ok(made.collect::<Result<Vec<_>, _>>()?.join(";\n"))
    }
}

/// Ask the database with one SELECT statement of SQLite. At most 200 rows are given, and what takes longer
/// than 10 s is interrupted.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(read_only, open_world = false, output = Rows)]
struct Query {
    sql: String,
}

#[derive(Serialize, JsonSchema)]
struct Rows {
    columns: Vec<String>,
    /// As many values as columns in each: null, numbers and text. Of a blob only its length is given.
    rows: Vec<Vec<Value>>,
    /// Whether there are more: ask for less, or with LIMIT and OFFSET.
    more: bool,
}

impl RunBlocking<Database> for Query {
    fn run(self, cx: &Context<Database>) -> Result<Rows, ToolError> {
        let connection = Database::open(cx, READ)?;
        let mut statement = connection.prepare(&self.sql)?;
        let columns: Vec<_> = statement
            .column_names()
            .into_iter()
            .map(str::to_owned)
            .collect();
        if columns.is_empty() || !statement.readonly() {
            return Err(ToolError::failed(
                "this is no SELECT statement, which `query` takes alone",
            ));
        }
        let mut found = statement.query([])?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            if rows.len() == MOST_ROWS {
                return Ok(Rows {
                    columns,
                    rows,
                    more: true,
                });
            }
            let values = (0..columns.len()).map(|column| Ok(value(row.get_ref(column)?)));
            rows.push(values.collect::<rusqlite::Result<_>>()?);
        }
        Ok(Rows {
            columns,
            rows,
            more: false,
        })
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()).into(),
    }
}

/// Change the database with one statement of SQLite. One that takes longer than 10 s is interrupted.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(destructive, open_world = false)]
struct Execute {
    sql: String,
}

impl RunBlocking<Database> for Execute {
    fn run(self, cx: &Context<Database>) -> Result<String, ToolError> {
        let changed = Database::open(cx, WRITE)?.execute(&self.sql, [])?;
        Ok(format!("{changed} rows were changed"))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let path = PathBuf::from(args.next().ok_or("sqlite FILE [--write]")?);
    let writes = match args.next() {
        Some(flag) if flag == "--write" => true,
        Some(flag) => return Err(format!("{} is not known", flag.to_string_lossy()).into()),
        None => false,
    };
    // What is no database is found out before a model is told of one.
    let database = Connection::open_with_flags(&path, if writes { WRITE } else { READ })?;
    database.query_row("PRAGMA schema_version", [], |_| Ok(()))?;
    let mut server = Server::with_state("sqlite", "1.0.0", Database(path))
        .blocking_tool::<ShowSchema>()
        .blocking_tool::<Query>();
    if writes {
        server = server.blocking_tool::<Execute>();
    }
    Ok(server.serve_stdio().await?)
}
