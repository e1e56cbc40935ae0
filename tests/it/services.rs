//! `service`: what listens in a workspace is listed, read, restarted and stopped by its port.

use serde_json::Value;

use crate::support::{Home, skip, wait_until};

fn data(home: &Home, args: &[&str]) -> Value {
    let told = home.run(args);
    assert!(told.status.success(), "{args:?}: {}", String::from_utf8_lossy(&told.stderr));
    serde_json::from_slice::<Value>(&told.stdout).expect("JSON")["data"].clone()
}

/// The ids of the tasks that listen at a port.
fn at(home: &Home, port: u16) -> Vec<String> {
    let listed = data(home, &["service", "list"]);
    let rows = listed["services"].as_array().expect("rows").clone();
    let is_it =
        |row: &&Value| row["listening"].as_array().is_some_and(|at| at.iter().any(|at| at["port"] == port));
    rows.iter().filter(is_it).map(|row| row["task_id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_server_is_listed_read_restarted_and_stopped_by_its_port() {
    if which::which("python3").is_err() {
        return skip("python3 is the server");
    }
    let home = Home::new();
    let mut served = home.serve();
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let server = format!("python3 -u -m http.server {port} --bind 127.0.0.1");
    let started = data(&home, &["command", "run", "--yield-time-ms", "0", &server]);
    let first = started["task_handle"]["task_id"].as_str().expect("a task").to_owned();
    wait_until("it listens", || at(&home, port) == [first.clone()]);
    let name = port.to_string();
    wait_until("it has said so", || {
        data(&home, &["service", "logs", &name])["text"]
            .as_str()
            .is_some_and(|text| text.contains("Serving HTTP"))
    });
    let would = data(&home, &["service", "stop", &name, "--dry-run"]);
    assert_eq!(
        (&would["effect"], &would["service"]["task_id"]),
        (&"would_stop".into(), &first.clone().into())
    );

    let again = data(&home, &["service", "restart", &format!(":{port}")]);
    let second = again["task_id"].as_str().expect("a task").to_owned();
    assert_ne!(first, second);
    wait_until("the new one listens", || at(&home, port) == [second.clone()]);
    assert_eq!(data(&home, &["task", "status", &first])["task"]["status"], "cancelled");

    assert_eq!(data(&home, &["service", "stop", &second])["effect"], "stopped");
    assert!(std::net::TcpListener::bind(("127.0.0.1", port)).is_ok(), "the port is free");
    let gone = home.run(&["service", "stop", &name]);
    assert!(!gone.status.success());
    let told = String::from_utf8_lossy(&gone.stdout).into_owned();
    assert!(told.contains("pilothouse service list"), "{told}");
    home.stop(&mut served);
}
