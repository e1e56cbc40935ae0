//! What tasks listen on: seen within seconds, with the right owner, whatever way a server came to listen.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use pilothouse::envelope::TaskId;
use pilothouse::model::{ListenAddress, TaskFact, TaskView, Until};
use pilothouse::runtime::OutputStream;

use crate::runtime::Bench;
use crate::support::{Agent, Home, PATIENCE, skip};

/// The beginning of each server: it prints the port that it got.
const PRELUDE: &str = r"
import os, socket, sys, time
def serve(host='127.0.0.1', family=socket.AF_INET, port=0, options=()):
    s = socket.socket(family)
    for level, name, value in options: s.setsockopt(level, name, value)
    s.bind((host, port)); s.listen()
    print('port', s.getsockname()[1], flush=True)
    return s
V6 = socket.AF_INET6
def only(v): return [(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, v)]
REUSE = [(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)]
";

/// Servers: a name, what follows the prelude, and the address at which each is to be found.
const SERVERS: [(&str, &str, &str); 10] = [
    ("v4", "s = serve(); time.sleep(1000)", "127.0.0.1"),
    ("any", "s = serve(''); time.sleep(1000)", "0.0.0.0"),
    ("v6 only", "s = serve('::1', V6, 0, only(1)); time.sleep(1000)", "::1"),
    ("dual", "s = serve('::', V6, 0, only(0)); time.sleep(1000)", "::"),
    ("fork after listen", "s = serve()\nif os.fork(): s.close()\ntime.sleep(1000)", "127.0.0.1"),
    (
        "daemon",
        "if os.fork(): time.sleep(1000)\nos.setsid()\nif os.fork(): os._exit(0)\ns = serve(); time.sleep(1000)",
        "127.0.0.1",
    ),
    (
        "the same port twice",
        "s = serve(options=REUSE); t = serve(port=s.getsockname()[1], options=REUSE); time.sleep(1000)",
        "127.0.0.1",
    ),
    ("slow start", "time.sleep(1.2); s = serve(); time.sleep(1000)", "127.0.0.1"),
    ("changed port", "s = serve(); time.sleep(1.5); t = serve(); s.close(); time.sleep(1000)", "127.0.0.1"),
    (
        "handed over exec",
        "s = serve(); os.set_inheritable(s.fileno(), True); os.execvp('sleep', ['sleep', '1000'])",
        "127.0.0.1",
    ),
];

/// Servers in other languages: a name, the program that must be there, and the command. Each prints its port.
const OTHER_SERVERS: [(&str, &str, &str); 5] = [
    (
        "node",
        "node",
        r#"exec node -e "const s=require('net').createServer();s.listen(0,'127.0.0.1',()=>console.log('port '+s.address().port))""#,
    ),
    (
        "node, dual",
        "node",
        r#"exec node -e "const s=require('http').createServer();s.listen(0,()=>console.log('port '+s.address().port))""#,
    ),
    (
        "node behind a shell",
        "node",
        r#"node -e "const s=require('net').createServer();s.listen(0,'127.0.0.1',()=>console.log('port '+s.address().port))" & wait"#,
    ),
    (
        "perl",
        "perl",
        r#"exec perl -MIO::Socket::INET -e '$|=1;my $s=IO::Socket::INET->new(Listen=>5,LocalAddr=>"127.0.0.1");print "port ".$s->sockport."\n";sleep 1000'"#,
    ),
    (
        "java",
        "javac",
        r#"printf '%s' 'public class S { public static void main(String[] a) throws Exception { var s = new java.net.ServerSocket(0); System.out.println("port " + s.getLocalPort()); Thread.sleep(1000000); } }' > S.java; exec java S.java"#,
    ),
];

pub(crate) fn has_python() -> bool {
    has("python3")
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

pub(crate) fn server(body: &str) -> String {
    format!("exec python3 -c \"{PRELUDE}{body}\"")
}

/// Waits until a task has printed a port; returns the last one.
async fn printed(bench: &Bench, id: &TaskId) -> u16 {
    bench.shows(id, "\n").await;
    let text = bench.text(id, OutputStream::Merged).await;
    let port = text.lines().rev().find_map(|line| line.strip_prefix("port ")?.parse().ok());
    port.unwrap_or_else(|| panic!("no port: {text:?}"))
}

async fn until(bench: &Bench, id: &TaskId, fact: impl Fn(&TaskView) -> bool) -> Arc<TaskView> {
    let task = |snapshot: &pilothouse::model::Snapshot| {
        snapshot.tasks.iter().find(|task| task.id == *id && fact(task)).cloned()
    };
    let mut snapshot = bench.runtime.snapshot();
    let seen = snapshot.wait_for(|snapshot| task(snapshot).is_some());
    let seen = tokio::time::timeout(PATIENCE, seen).await;
    let seen = seen.unwrap_or_else(|_| panic!("{:#?}", bench.runtime.task(id)));
    task(&seen.expect("the runtime lives")).expect("just seen")
}

#[tokio::test]
async fn a_server_is_found_whatever_way_it_came_to_listen_and_is_nobody_elses() {
    if !has_python() {
        return skip("there is no python3");
    }
    let bench = Bench::start();
    let own = TcpListener::bind("127.0.0.1:0").expect("binds");
    let has_v6 = TcpListener::bind("[::1]:0").is_ok();
    let mut tasks = Vec::new();
    for (name, body, ip) in SERVERS.into_iter().filter(|(.., ip)| has_v6 || !ip.contains(':')) {
        let ip: IpAddr = ip.parse().expect("an address");
        tasks.push((name, bench.promoted(bench.request(&server(body))).await, ip));
    }
    for (name, id, ip) in &tasks {
        // What has changed its port is where it printed last.
        let expected = loop {
            let port = printed(&bench, id).await;
            let at = ListenAddress::Tcp(SocketAddr::new(*ip, port));
            let task =
                until(&bench, id, |task| task.listening.iter().any(|listener| listener.at == at)).await;
            if printed(&bench, id).await == port && (*name != "changed port" || task.event_count() > 4) {
                break at;
            }
            tokio::task::yield_now().await;
        };
        let task = until(&bench, id, |task| task.listening.len() == 1).await;
        let listener = task.listening.first().expect("one");
        assert_eq!(listener.at, expected, "{name}");
        let host = if *ip == IpAddr::from(std::net::Ipv6Addr::LOCALHOST) { "[::1]" } else { "localhost" };
        let port = expected.port().expect("a port");
        assert_eq!(listener.url, Some(format!("http://{host}:{port}")), "{name}");
        let told = task.events.iter().filter(|event| matches!(event.fact, TaskFact::Listening(_))).count();
        assert_eq!(told, if *name == "changed port" { 2 } else { 1 }, "{name}: {:?}", task.events);
    }
    let own = ListenAddress::Tcp(own.local_addr().expect("an address"));
    let snapshot = bench.runtime.snapshot().borrow().clone();
    let all: Vec<_> = snapshot.tasks.iter().flat_map(|task| &task.listening).map(|found| &found.at).collect();
    assert_eq!(all.len(), tasks.len(), "each is one task's: {all:?}");
    assert!(!all.contains(&&own), "what is no task's is not shown");
    bench.runtime.shutdown().await;
}

#[tokio::test]
#[ignore = "needs node, perl and java; .ci/long runs it"]
async fn long_servers_in_other_languages_are_found_with_their_owner() {
    let bench = Bench::start();
    let mut tasks = Vec::new();
    for (name, program, cmd) in OTHER_SERVERS {
        if has(program) {
            tasks.push((name, bench.promoted(bench.request(cmd)).await));
        } else {
            skip(&format!("there is no {program}"));
        }
    }
    for (name, id) in &tasks {
        let port = printed(&bench, id).await;
        let task = until(&bench, id, |task| task.has_port()).await;
        let ports: Vec<_> = task.listening.iter().filter_map(|listener| listener.at.own_port()).collect();
        assert_eq!(ports, [port], "{name}");
        eprintln!(
            "{name}: {}",
            task.listening.first().map(|listener| listener.in_words()).unwrap_or_default()
        );
    }
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_closed_listener_is_recorded_and_the_end_of_a_task_closes_all_listeners() {
    if !has_python() {
        return skip("there is no python3");
    }
    let bench = Bench::start();
    let body = "s = serve(); t = serve()\nwhile not os.path.exists('close'): time.sleep(0.05)\ns.close()\n\
                while not os.path.exists('end'): time.sleep(0.05)";
    let request = bench.request(&server(body));
    let folder = request.base.clone();
    let id = bench.promoted(request).await;
    until(&bench, &id, |task| task.listening.len() == 2).await;
    std::fs::write(folder.join("close"), "").expect("written");
    let task = until(&bench, &id, |task| task.listening.len() == 1).await;
    let closed = task.events.iter().filter(|event| matches!(event.fact, TaskFact::Closed(_))).count();
    assert_eq!(closed, 1);
    std::fs::write(folder.join("end"), "").expect("written");
    let task = bench.end(&id).await;
    assert!(task.listening.is_empty(), "{:?}", task.listening);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_wait_for_a_port_ends_when_a_port_listens_or_the_task_ends() {
    if !has_python() {
        return skip("there is no python3");
    }
    let bench = Bench::start();
    let dumb = bench.promoted(bench.request("sleep 1000")).await;
    let path = "u = socket.socket(socket.AF_UNIX); u.bind(os.path.abspath('a.sock')); u.listen()";
    let id = bench
        .promoted(bench.request(&server(&format!("{path}\ntime.sleep(2.2); s = serve(); time.sleep(1000)"))))
        .await;
    assert!(bench.runtime.wait(&id, Until::Listening, PATIENCE).await.expect("wait"));
    let task = bench.runtime.task(&id).expect("the task");
    let ports: Vec<_> = task.listening.iter().filter_map(|listener| listener.at.port()).collect();
    assert_eq!(ports, [printed(&bench, &id).await]);
    let unix = task.listening.iter().find_map(|listener| match &listener.at {
        ListenAddress::Unix(path) => Some(path.clone()),
        _ => None,
    });
    assert!(unix.is_some_and(|path| path.ends_with("/a.sock")), "{:?}", task.listening);
    let soon = Duration::from_millis(1);
    assert!(!bench.runtime.wait(&dumb, Until::Listening, soon).await.expect("wait"));
    let waits = bench.runtime.clone();
    let waiting = {
        let dumb = dumb.clone();
        tokio::spawn(async move { waits.wait(&dumb, Until::Listening, PATIENCE).await })
    };
    bench.runtime.stop(&crate::runtime::agent(), &dumb, Default::default()).await.expect("stopped");
    assert!(waiting.await.expect("joins").expect("wait"), "the end ends the wait");
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_listener_in_another_network_namespace_is_reported_as_in_a_container() {
    if !has_python() {
        return skip("there is no python3");
    }
    let isolates = Command::new("unshare").args(["-rn", "true"]).stderr(Stdio::null()).status();
    if !isolates.is_ok_and(|status| status.success()) {
        return skip("network namespaces cannot be made here");
    }
    let bench = Bench::start();
    let cmd = server("s = serve('0.0.0.0'); time.sleep(1000)").replacen("exec ", "exec unshare -rn ", 1);
    let id = bench.promoted(bench.request(&cmd)).await;
    let port = printed(&bench, &id).await;
    let task = until(&bench, &id, |task| !task.listening.is_empty()).await;
    let listener = task.listening.first().expect("one");
    let expected = ListenAddress::Contained(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port));
    assert_eq!((&listener.at, &listener.url), (&expected, &None));
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn the_holder_of_a_port_is_told_where_the_output_names_it_and_is_never_guessed() {
    if !has_python() {
        return skip("there is no python3");
    }
    let bench = Bench::start();
    let id = bench.promoted(bench.request(&server("s = serve(); time.sleep(1000)"))).await;
    let port = printed(&bench, &id).await;
    let failing = |words: String| bench.request(&format!("echo '{words}' >&2; exit 1"));
    let taken = async |words: String| {
        let task = bench.completed(failing(words)).await;
        task.ended.as_ref().and_then(|ended| ended.taken_port.clone())
    };
    let node = format!("Error: listen EADDRINUSE: address already in use 127.0.0.1:{port}");
    let found = taken(node).await.expect("a hint");
    let holders: Vec<_> = found.holders.iter().map(|holder| (holder.port, holder.task.clone())).collect();
    assert_eq!((found.port, holders), (Some(port), vec![(port, id.clone())]));
    let found = taken("OSError: [Errno 98] Address already in use".to_owned()).await.expect("a list");
    assert_eq!((found.port, found.holders.len()), (None, 1), "what is held is listed, nothing is guessed");
    let own = TcpListener::bind("127.0.0.1:0").expect("binds").local_addr().expect("an address");
    let other = TcpListener::bind(own).expect("binds again");
    let found = taken(format!("bind {own}: address already in use")).await.expect("a hint");
    assert_eq!((found.port, found.holders.len()), (Some(own.port()), 0), "no task of this workspace");
    drop(other);
    assert_eq!(taken("address already in use: port 1".to_owned()).await, None, "nobody holds it");
    assert_eq!(taken(format!("port {port}: no such file")).await, None);
    bench.runtime.shutdown().await;
}

#[test]
fn an_agent_waits_for_a_port_and_is_given_its_url() {
    if !has_python() {
        return skip("there is no python3");
    }
    let home = Home::new();
    let agent = Agent::here(&home, None);
    let cmd = server(
        "s = serve(); p = s.getsockname()[1]; print(f'open http://0.0.0.0:{p}/app/?token=x', flush=True); time.sleep(1000)",
    );
    let id = agent.call("ExecCommand", &json!({"cmd": cmd, "yield_time_ms": 0})).task();
    let answer = agent.call("TaskOutput", &json!({"task_id": id, "until": "listening"}));
    assert_eq!(*answer.result("/retrieval_status"), json!("success"), "{}", answer.receipt);
    let port = answer.result("/task/listening/0/port").clone();
    let url = format!("http://localhost:{port}/app/");
    assert_eq!(*answer.result("/task/listening/0/address"), json!("127.0.0.1"));
    let listed = agent.call("TaskList", &json!({}));
    assert_eq!(*listed.result("/tasks/0/listening/0/port"), port);
    let has_url =
        || *agent.call("TaskStatus", &json!({"task_id": id})).result("/task/listening/0/url") == json!(url);
    crate::support::wait_until("its URL is the one it printed", has_url);
    let failing = format!("echo 'listen EADDRINUSE: address already in use :::{port}'; exit 1");
    let failed = agent.call("ExecCommand", &json!({"cmd": failing}));
    let words = failed.result("/taken_port").as_str().unwrap_or_default().to_owned();
    assert!(words.starts_with(&format!("Port {port} is held by {id} `")), "{words}");
    assert!(words.contains("`, started by agent:"), "{words}");
    assert!(words.ends_with(" earlier; use another port, or end your own task with TaskStop"), "{words}");
    agent.leave();
}
