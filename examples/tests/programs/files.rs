//! `files`.

use std::fs;

use serde_json::json;

use crate::{directory, failure, names, output, path, start, text};

const FILES: &str = env!("CARGO_BIN_EXE_files");

#[tokio::test]
async fn files_are_read_listed_and_searched() {
    let root = directory("files-read");
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("sub/poem"), "roses\nviolets\nroses again\n").unwrap();
    let long: String = (1..=20_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    fs::write(root.join("long"), &long).unwrap();
    let client = start(FILES, &[path(&root)]).await;
    assert_eq!(
        names(&client).await,
        ["read_file", "list_files", "search_files"]
    );

    let poem = json!({ "path": "sub/poem", "from_line": 2 });
    let read = text(client.call("read_file", poem).await);
    assert_eq!(read, "violets\nroses again\n");
    let (mut read, mut from) = (String::new(), 1);
    loop {
        let part = client.call("read_file", json!({ "path": "long", "from_line": from }));
        let part = text(part.await);
        let Some((part, next)) = part.split_once("[it goes on: read it with `from_line` ") else {
            read.push_str(&part);
            break;
        };
        read.push_str(part);
        from = next.trim_end_matches("]\n").parse().unwrap();
    }
    assert_eq!(read, long);

    let listing = output(client.call("list_files", json!({})).await);
    assert_eq!(listing["more"], false);
    assert_eq!(
        listing["entries"][0],
        json!({ "path": "long", "is_directory": false, "size": long.len() })
    );
    assert_eq!(listing["entries"][1]["path"], "sub");
    let found = output(
        client
            .call("search_files", json!({ "text": "roses" }))
            .await,
    );
    let found_in = |line, text| json!({ "path": "sub/poem", "line": line, "text": text });
    let expected =
        json!({ "matches": [found_in(1, "roses"), found_in(3, "roses again")], "more": false });
    assert_eq!(found, expected);
    let found = output(client.call("search_files", json!({ "text": "line" })).await);
    assert_eq!(
        (found["matches"].as_array().unwrap().len(), &found["more"]),
        (200, &json!(true))
    );
    client.close().await;
}

#[tokio::test]
async fn files_are_written_with_a_flag_alone() {
    let root = directory("files-write");
    let write = |path| json!({ "path": path, "text": "new" });
    let client = start(FILES, &[path(&root)]).await;
    assert!(client.call("write_file", write("a")).await.is_err());
    client.close().await;

    let client = start(FILES, &[path(&root), "--write"]).await;
    for _ in 0..2 {
        assert_eq!(
            text(client.call("write_file", write("a")).await),
            "3 bytes are in `a`"
        );
    }
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "new");
    assert!(failure(client.call("write_file", write("sub/a")).await).starts_with("`sub`: "));
    assert_eq!(
        failure(client.call("write_file", write("..")).await),
        "`..` names no file"
    );
    client.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn no_path_leads_outside() {
    use std::os::unix::fs::symlink;

    let around = directory("files-safe");
    let root = around.join("root");
    fs::create_dir(&root).unwrap();
    fs::write(around.join("secret"), "secret").unwrap();
    fs::write(root.join("plain"), "plain").unwrap();
    symlink("../secret", root.join("out")).unwrap();
    symlink("../none", root.join("dangling")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("plain", root.join("in")).unwrap();
    let client = start(FILES, &[path(&root), "--write"]).await;

    let absolute = around.join("secret");
    for outside in [
        "../secret",
        "../none",
        "out",
        "up/secret",
        "up/root/../secret",
        path(&absolute),
    ] {
        let read = failure(client.call("read_file", json!({ "path": outside })).await);
        assert!(read.contains("lies outside of the directory"), "{read}");
    }
    assert_eq!(
        text(client.call("read_file", json!({ "path": "in" })).await),
        "plain"
    );
    assert!(failure(client.call("list_files", json!({ "path": "up" })).await).contains("outside"));
    let found = output(
        client
            .call("search_files", json!({ "text": "secret" }))
            .await,
    );
    assert_eq!(found["matches"], json!([]));
    for outside in ["../new", "out", "dangling", "up/new", "in"] {
        failure(
            client
                .call("write_file", json!({ "path": outside, "text": "new" }))
                .await,
        );
    }
    assert_eq!(fs::read_dir(&around).unwrap().count(), 2);
    assert_eq!(fs::read_to_string(around.join("secret")).unwrap(), "secret");
    assert_eq!(fs::read_to_string(root.join("plain")).unwrap(), "plain");
    client.close().await;
}
