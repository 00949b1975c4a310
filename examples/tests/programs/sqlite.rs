//! `sqlite`.

use rusqlite::Connection;
use serde_json::json;

use crate::{directory, failure, names, output, path, start, text};

const SQLITE: &str = env!("CARGO_BIN_EXE_sqlite");

/// A database with a table of three rows.
fn database(name: &str) -> String {
    let file = directory(name).join("shop.db");
    let made = Connection::open(&file).expect("it can be made");
    made.execute_batch(
        "CREATE TABLE fruit (name TEXT, price REAL, stock INTEGER, picture BLOB);
         INSERT INTO fruit VALUES ('apple', 0.5, 3, x'00ff'), ('pear', 1.25, NULL, NULL), ('fig', 2, 9, NULL);",
    )
    .expect("it can be filled");
    path(&file).to_owned()
}

#[tokio::test]
async fn a_database_is_asked_and_not_changed() {
    let file = database("sqlite-read");
    let client = start(SQLITE, &[&file]).await;
    assert_eq!(names(&client).await, ["show_schema", "query"]);
    let schema = text(client.call("show_schema", json!({})).await);
    assert!(schema.starts_with("CREATE TABLE fruit"), "{schema}");

    let query = |sql: &str| client.call("query", json!({ "sql": sql }));
    let found = output(query("SELECT name, price, stock, picture FROM fruit ORDER BY price").await);
    let expected = json!({
        "columns": ["name", "price", "stock", "picture"],
        "rows": [["apple", 0.5, 3, "2 bytes"], ["pear", 1.25, null, null], ["fig", 2.0, 9, null]],
        "more": false,
    });
    assert_eq!(found, expected);
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) SELECT i FROM n";
    let found = output(query(many).await);
    assert_eq!(
        (found["rows"].as_array().unwrap().len(), &found["more"]),
        (200, &json!(true))
    );

    for (sql, why) in [
        ("SELECT colour FROM fruit", "no such column: colour"),
        ("DELETE FROM fruit", "no SELECT statement"),
        ("SELECT 1; DELETE FROM fruit", "Multiple statements"),
        ("ATTACH 'other.db' AS other", "no SELECT statement"),
        ("SELECT zeroblob(100000000)", "too big"),
        ("", "no SELECT statement"),
        ("VACUUM INTO 'copy.db'", "no SELECT statement"),
        ("BEGIN", "no SELECT statement"),
    ] {
        let said = failure(query(sql).await);
        assert!(said.contains(why), "{sql}: {said}");
    }
    client.close().await;
    let left = Connection::open(&file).unwrap();
    let left = left.query_row("SELECT count(*) FROM fruit", [], |row| row.get::<_, u32>(0));
    assert_eq!(left, Ok(3));
}

#[tokio::test]
async fn a_database_is_changed_with_a_flag_alone() {
    let file = database("sqlite-write");
    let delete = json!({ "sql": "DELETE FROM fruit WHERE stock IS NULL" });
    let client = start(SQLITE, &[&file]).await;
    assert!(client.call("execute", &delete).await.is_err());
    client.close().await;
    let client = start(SQLITE, &[&file, "--write"]).await;
    assert_eq!(
        text(client.call("execute", &delete).await),
        "1 rows were changed"
    );
    let other = directory("sqlite-other").join("other.db");
    let attach = format!("ATTACH '{}' AS other", other.display());
    let vacuum = format!("VACUUM INTO '{}'", other.display());
    for sql in [attach, vacuum] {
        let said = failure(client.call("execute", json!({ "sql": sql })).await);
        assert!(said.contains("too many attached databases"), "{said}");
    }
    assert!(!other.exists());
    // `query` changes nothing here, either.
    failure(client.call("query", &delete).await);
    client.close().await;
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_at_the_start() {
    let file = directory("sqlite-none").join("text");
    std::fs::write(
        &file,
        "no database, but long enough to be looked at by anybody",
    )
    .unwrap();
    let error = mcp_client::Client::spawn(SQLITE, [path(&file)])
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("file is not a database"),
        "{error}"
    );
}

/// The statement would take for ever: its thread is gone when its call is.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_cancelled_query_ends() {
    use std::time::{Duration, Instant};

    use mcp_client::child::{ServerCommand, Stderr};

    let file = database("sqlite-cancel");
    let (told, mut pid) = tokio::sync::mpsc::unbounded_channel();
    let command =
        ServerCommand::new("sh").args(["-c", "echo $$ >&2; exec \"$0\" \"$1\"", SQLITE, &file]);
    let command = command.stderr(Stderr::lines(move |line| {
        let _ = told.send(line.to_owned());
    }));
    let client = crate::client().spawn(command).await.unwrap();
    let pid = pid.recv().await.unwrap();
    let threads = || {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        let names =
            tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|name| name.trim() == "mcp-tool").count()
    };
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let query = client.call("query", json!({ "sql": endless }));
    let query = tokio::spawn(async move { query.await });
    let begin = Instant::now();
    while threads() == 0 {
        assert!(begin.elapsed() < crate::SOON, "it has not begun");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    query.abort();
    // By itself it would end later.
    let begin = Instant::now();
    while threads() > 0 {
        assert!(begin.elapsed() < Duration::from_secs(8), "it goes on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    client.close().await;
}
