//! Programs that others `use`: from the folders in the settings, and over https from a local server, locked by digest.

use std::process::{Child, Command, Output, Stdio};

use crate::support::{Home, skip, wait_until};

const MAIN: &str = "use \"@ada/greet\"\nlet said = greet(name: \"Bo\")\noutput o = exec \"echo {said}\"\n";
const GREET: &str = "input name: \"who\"\noutput said = exec \"echo hello {name}\"\n";

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn write(home: &Home, name: &str, text: &str) {
    let path = home.workspace().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(path, text).expect("written");
}

#[test]
fn a_program_of_a_folder_is_used_by_its_name() {
    let home = Home::new();
    write(&home, "p.prose", MAIN);
    let alone = home.call(&["run", "p.prose", "--plain"]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(text(&alone).contains("name their folder in programs.path"), "{}", text(&alone));
    write(&home, "shelf/ada/greet.prose", GREET);
    home.configure("config.toml", &format!("[programs]\npath = [{:?}]\n", home.workspace().join("shelf")));
    let ran = home.call(&["run", "p.prose", "--plain"]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran));
    assert!(text(&ran).contains("hello Bo"), "{}", text(&ran));
}

/// A server with a certificate of its own; ended when dropped.
struct Server(Child, u16);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have exited by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves the workspace's folder `served` over https; `None` if this machine lacks the tools for that.
fn serve(home: &Home) -> Option<Server> {
    let made = Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", "key.pem", "-out",
            "cert.pem",
        ])
        .args(["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"])
        .current_dir(home.workspace())
        .stderr(Stdio::null())
        .status();
    made.ok().filter(std::process::ExitStatus::success)?;
    Command::new("curl").arg("--version").stdout(Stdio::null()).status().ok()?;
    let script = "import functools, http.server, pathlib, ssl\n\
                  handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory='served')\n\
                  server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)\n\
                  context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n\
                  context.load_cert_chain('cert.pem', 'key.pem')\n\
                  server.socket = context.wrap_socket(server.socket, server_side=True)\n\
                  pathlib.Path('port.new').write_text(str(server.server_address[1]))\n\
                  pathlib.Path('port.new').rename('port')\n\
                  server.serve_forever()\n";
    let child = Command::new("python3")
        .args(["-c", script])
        .current_dir(home.workspace())
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .ok()?;
    let mut server = Server(child, 0);
    wait_until("the server", || home.workspace().join("port").exists());
    server.1 = std::fs::read_to_string(home.workspace().join("port")).ok()?.parse().ok()?;
    Some(server)
}

#[test]
fn a_program_is_fetched_only_where_that_is_allowed_and_then_locked() {
    let home = Home::new();
    write(&home, "served/greet.prose", GREET);
    let Some(server) = serve(&home) else {
        return skip("openssl, curl and Python are needed for a server on this machine");
    };
    let url = format!("https://127.0.0.1:{}/greet.prose", server.1);
    write(&home, "p.prose", &MAIN.replace("@ada/greet\"", &format!("{url}\" as greet")));
    let run = |args: &[&str]| {
        let mut command = home.command(&[&["run", "p.prose", "--plain", "--private"], args].concat());
        command.env("CURL_CA_BUNDLE", home.workspace().join("cert.pem")).output().expect("runs")
    };
    let refused = run(&[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("--allow-fetch"), "{}", text(&refused));
    let fetched = run(&["--allow-fetch"]);
    assert_eq!(fetched.status.code(), Some(0), "{}", text(&fetched));
    let lock = std::fs::read_to_string(home.workspace().join("prose.lock")).expect("a lock");
    assert!(lock.contains(&url) && lock.contains("sha256 = "), "{lock}");
    // Neither a changed text at the same address nor a missing server makes a difference.
    write(&home, "served/greet.prose", "output said = exec \"echo evil\"\n");
    assert!(text(&run(&["--allow-fetch"])).contains("hello Bo"));
    drop(server);
    assert!(text(&run(&[])).contains("hello Bo"));
    // With the local copy gone, the changed text is fetched: it does not match the lock.
    std::fs::remove_dir_all(home.workspace().join(".prose/programs")).expect("removed");
    std::fs::remove_file(home.workspace().join("port")).expect("removed");
    let server = serve(&home).expect("as before");
    let other = format!("https://127.0.0.1:{}/greet.prose", server.1);
    for name in ["p.prose", "prose.lock"] {
        let text = std::fs::read_to_string(home.workspace().join(name)).expect("there");
        write(&home, name, &text.replace(&url, &other));
    }
    let refused = run(&["--allow-fetch"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("is not the program that"), "{}", text(&refused));
}
