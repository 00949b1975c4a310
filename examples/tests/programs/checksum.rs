//! `checksum`.

use std::fs::{self, File};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_client::ClientError;
use serde_json::json;

use crate::{SOON, directory, failure, output, path, start};

const CHECKSUM: &str = env!("CARGO_BIN_EXE_checksum");

#[tokio::test]
async fn a_job_tells_how_far_it_is() {
    let file = directory("checksum-progress").join("file");
    fs::write(&file, vec![b'a'; 3 << 20]).unwrap();
    let client = start(CHECKSUM, &[]).await;
    let reports = Arc::new(Mutex::new(Vec::new()));
    let told = reports.clone();
    let call = client.call("sha256", json!({ "path": path(&file) }));
    let call = call
        .on_progress(move |report| told.lock().unwrap().push((report.progress, report.message)));
    let expected = "6f850bc94ae6f7de14297c01616c36d712d22864497b28a63b81d776b035e656";
    let sum = output(call.await);
    assert_eq!(sum, json!({ "sha256": expected, "bytes": 3 << 20 }));
    // How many is up to how busy both sides are; the last one is never lost.
    let reports = std::mem::take(&mut *reports.lock().unwrap());
    assert!(reports.is_sorted(), "{reports:?}");
    assert_eq!(
        reports.last(),
        Some(&(f64::from(3 << 20), Some("3 of 3 MiB".to_owned())))
    );
    let none = failure(client.call("sha256", json!({ "path": "/none" })).await);
    assert!(none.starts_with("`/none`: "), "{none}");
    client.close().await;
}

#[tokio::test]
async fn a_cancelled_job_makes_room_for_another() {
    let directory = directory("checksum-cancel");
    let (endless, short) = (directory.join("endless"), directory.join("short"));
    // Nothing of it is on the disk.
    File::create(&endless)
        .and_then(|file| file.set_len(1 << 40))
        .unwrap();
    fs::write(&short, "").unwrap();
    let client = start(CHECKSUM, &[]).await;
    let sum = |file| client.call("sha256", json!({ "path": path(file) }));
    let job = || sum(&endless).timeout(Duration::from_millis(500));
    let (one, two, three) = tokio::join!(job(), job(), sum(&short));
    for late in [one, two] {
        assert!(
            matches!(late, Err(ClientError::TimedOut { .. })),
            "{late:?}"
        );
    }
    assert!(matches!(three, Err(ClientError::Rpc(error)) if error.message == "server_busy"));
    let begin = Instant::now();
    while let Err(error) = sum(&short).await {
        assert!(begin.elapsed() < SOON, "they go on: {error}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    client.close().await;
}
