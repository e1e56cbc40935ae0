//! What a person types while the terminal does not echo is in no record, no file and no answer.

use std::path::Path;

use pilothouse::envelope::Actor;
use pilothouse::model::TaskFact;
use pilothouse::runtime::past;
use serde_json::json;

use crate::support::{Agent, Console, Desk, Home, wait_until};

/// Asks for a secret, prints its length, then waits for an ordinary line.
const ASKING: &str = "printf 'Password: '; stty -echo; read -r p; stty echo; echo; \
    echo \"length ${#p}\"; read -r more; echo \"then $more\"";
const SECRET: &str = "hunter2-4711";

/// The files below a folder that contain a text.
fn holders(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(path.read_dir().expect("lists").flatten().map(|entry| entry.path()));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(text.len()).any(|window| window == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// A console in front of a person: in a terminal, or in this process.
trait Front {
    fn open(home: &Home) -> (Self, Agent)
    where
        Self: Sized;
    fn keys(&mut self, keys: &[u8]);
    fn shows(&mut self, text: &str);
    fn text(&mut self) -> String;
}

impl Front for Console {
    fn open(home: &Home) -> (Self, Agent) {
        let console = Self::open(home, &[], (80, 24));
        console.shows("no agent yet");
        (console, Agent::connect(home, &[]))
    }

    fn keys(&mut self, keys: &[u8]) {
        Self::keys(self, keys);
    }

    fn shows(&mut self, text: &str) {
        Self::shows(self, text);
    }

    fn text(&mut self) -> String {
        Self::text(self)
    }
}

impl Front for Desk {
    fn open(home: &Home) -> (Self, Agent) {
        let agent = Agent::here(home, None);
        (Self::inside(home, (80, 24)), agent)
    }

    fn keys(&mut self, keys: &[u8]) {
        Self::keys(self, keys);
    }

    fn shows(&mut self, text: &str) {
        Self::shows(self, text);
    }

    fn text(&mut self) -> String {
        Self::text(self)
    }
}

/// Types the secret in one of several ways, then an ordinary line.
fn answer<F: Front>(keys: impl Fn(&mut F)) {
    let home = Home::new();
    let (mut console, agent) = F::open(&home);
    let task = agent.task(ASKING);
    console.shows("waiting for a password");
    keys(&mut console);
    console.shows(&format!("length {}", SECRET.len()));
    // After a line has been sent, the keys are back in the console.
    wait_until("the keys go somewhere", || {
        [" OBSERVE ", " INPUT t01"].iter().any(|mode| console.text().contains(mode))
    });
    if console.text().contains(" INPUT t01") {
        console.keys(b"\x1d");
    }
    console.shows(" OBSERVE ");
    console.keys(b"\r");
    console.shows(" INPUT t01");
    console.keys(b"visible-word\r");
    console.shows("exit 0");
    let read = agent.call("TaskOutput", &json!({"task_id": task}));
    assert_eq!(read.result("/task/status"), "completed");
    let said = read.envelope.to_string();
    assert!(said.contains("then visible-word") && !said.contains(SECRET), "{said}");
    assert!(!console.text().contains(SECRET));
    drop(agent);
    drop(console);
    home.end_here();
    let everything = home.workspace().join("..");
    assert!(!holders(&everything, "Password: ").is_empty(), "the output is on record");
    assert_eq!(holders(&everything, SECRET), Vec::<String>::new());
    // What is recorded is that something of this length was typed.
    let recordings = past::list(&home.places().recordings(), None);
    let recording = past::read(&recordings[0].folder).expect("reads");
    let typed = |row: &&past::PastEvent| {
        matches!(row.event.fact, TaskFact::Input(_)) && row.event.actor == Actor::Operator
    };
    let bytes: u64 = recording.events.iter().filter(typed).filter_map(|row| row.event.fact.bytes()).sum();
    let said = SECRET.len() as u64 + 1 + "visible-word\r".len() as u64;
    assert!((said..said + 20).contains(&bytes), "{bytes} of {said}");
    // Neither key by key, nor its second half.
    assert_eq!(holders(&everything, &SECRET[6..]), Vec::<String>::new());
}

#[test]
fn a_secret_typed_key_by_key_is_nowhere() {
    answer(|console: &mut Console| {
        console.keys(b"\r");
        console.shows(" INPUT t01");
        for key in SECRET.bytes() {
            console.keys(&[key]);
        }
        console.keys(b"\r");
    });
}

#[test]
fn a_secret_written_as_a_line_is_nowhere() {
    answer(|console: &mut Desk| {
        console.keys(b"i");
        console.shows("secret, not recorded");
        console.keys(SECRET.as_bytes());
        console.shows(&"*".repeat(SECRET.len()));
        console.keys(b"\r");
    });
}

#[test]
fn a_pasted_secret_is_nowhere() {
    answer(|console: &mut Desk| {
        console.keys(b"\r");
        console.shows(" INPUT t01");
        console.keys(format!("\x1b[200~{SECRET}\x1b[201~").as_bytes());
        console.keys(b"\r");
    });
}
