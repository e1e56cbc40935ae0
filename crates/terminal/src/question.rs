//! What a program asks, judged by what its screen shows around the cursor.

use unicode_width::UnicodeWidthStr as _;

use super::contents::Contents;
use super::dialogue::Dialogue;

/// Words for what nobody else may read, in the languages of the usual message catalogues, in lower case.
const SECRETS: [&str; 36] = [
    "assword",
    "assphrase",
    "passcode",
    "passwort",
    "kennwort",
    "mot de passe",
    "phrase de passe",
    "phrase secrète",
    "contraseña",
    "contrasena",
    "contrasenya",
    "frase de paso",
    "senha",
    "palavra-passe",
    "parola",
    "wachtwoord",
    "wachtzin",
    "lösenord",
    "adgangskode",
    "adgangssætning",
    "passord",
    "salasana",
    "hasło",
    "heslo",
    "jelszó",
    "lozinka",
    "şifre",
    "geslo",
    "парол",
    "κωδικ",
    "パスワード",
    "パスフレーズ",
    "密码",
    "密碼",
    "口令",
    "암호",
];
/// The same, as whole words in any case.
const SECRET_WORDS: [&str; 6] = ["secret", "token", "cvv", "비밀번호", "暗証番号", "סיסמה"];
/// The same, as whole words in capitals.
const SECRET_SIGNS: [&str; 4] = ["PIN", "OTP", "TOTP", "PUK"];
/// Characters with which a line ends that asks for something.
const ENDS: &str = ":?>)]}$#❯»›▸·|";
/// Those of them that do not end a shell's prompt, and the same of other scripts.
const QUESTION_ENDS: &str = ":?>)]›‣…：？";
/// Characters that stand for hidden ones.
const MASKS: &str = "*•●▪·";
/// Lines between the cursor and the text of a question on the alternate screen: a frame, and empty ones.
const GAP: usize = 3;
/// How far to the right a cursor stands for an answer below its question.
const INDENT: usize = 8;
/// Signs before the line of a list that is chosen.
const POINTERS: [char; 9] = ['❯', '›', '▸', '➤', '→', '●', '◉', '>', '▶'];
/// Words for what everybody may read.
const NAMES: [&str; 4] = ["user", "login", "mail", "account"];
/// Lines of text that are quoted.
const LINES: usize = 3;
/// Length limit of a question, in characters.
const CHARS: usize = 200;

/// Where a program has left its cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorPlace {
    /// Behind text on its line.
    Open,
    /// Hidden, or above the end of the text: in a menu.
    Menu,
    /// At the beginning of the line below a list with a question.
    Below,
    /// On the alternate screen.
    Alternate,
    /// At the beginning of a line, below all text.
    Idle,
}

/// The lines of a screen, and where the cursor is in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScreenText {
    lines: Vec<String>,
    /// The number of the cursor's line, and the text before it there.
    at: usize,
    before: String,
    is_visible: bool,
    is_alternate: bool,
}

impl ScreenText {
    /// Reads a screen. Rows that wrap into the next form one line.
    pub fn of(screen: &Contents) -> Self {
        let (cursor, is_alternate) = (screen.cursor, screen.modes.alternate_screen);
        let mut text = Self { is_visible: cursor.visible, is_alternate, ..Self::default() };
        let mut line = String::new();
        for (number, row) in (0..).zip(&screen.rows) {
            if number == cursor.row {
                let last = if cursor.pending_wrap { u16::MAX } else { cursor.col };
                let left = row.cells().take_while(|(column, _)| *column < last);
                text.before = line.clone();
                left.for_each(|(_, cell)| text.before.push_str(&cell.text));
                if text.before.trim().is_empty() {
                    text.before = " ".repeat(cursor.col.into());
                }
                text.at = text.lines.len();
            }
            row.runs.iter().for_each(|run| line.push_str(&run.text));
            if !row.wrapped {
                text.lines.push(std::mem::take(&mut line));
            }
        }
        text.lines.push(line);
        text.before = Dialogue::strip_mark(&text.before).to_owned();
        text
    }

    /// Tells where the cursor is.
    pub fn place(&self) -> CursorPlace {
        let has_text = |line: &String| !line.trim().is_empty();
        let (is_open, has_more) = (
            has_text(&self.before),
            self.lines.iter().skip(self.at + usize::from(has_text(&self.before))).any(has_text),
        );
        let is_choice = is_note(&self.before)
            || self.lines.get(self.at + 1).is_some_and(|line| line.trim_start().starts_with(POINTERS));
        match (self.is_alternate, self.is_visible) {
            (true, _) => CursorPlace::Alternate,
            (false, _) if is_open && is_choice => CursorPlace::Menu,
            // Some programs draw a cursor of their own.
            (false, false) if is_open && !has_more && self.ends_as_question() => CursorPlace::Open,
            (false, false) if self.lines.iter().any(has_text) => CursorPlace::Menu,
            (false, _) if is_open => CursorPlace::Open,
            (false, _) if has_more => CursorPlace::Menu,
            (false, true) if self.line_above().is_some() => CursorPlace::Open,
            _ if self.list().len() > 1 && self.list().iter().any(asks) => CursorPlace::Below,
            _ => CursorPlace::Idle,
        }
    }

    /// Tells whether the cursor's line, up to it, ends as a question does. What reports progress does not.
    pub fn ends_as_question(&self) -> bool {
        let line = plain(&self.before);
        self.line_above().is_some()
            || line.starts_with('?')
            || line.ends_with(|last| ENDS.contains(last))
            || line.strip_suffix('%').is_some_and(|left| !left.ends_with(|last: char| last.is_ascii_digit()))
    }

    /// Tells whether the last text before the cursor asks for something secret. A list to choose from does not, and on the
    /// alternate screen, where editors and pagers show anything, nothing outside a frame.
    pub fn asks_secret(&self) -> bool {
        if !self.is_visible && !has_words(&self.before) && !self.is_alternate {
            // Perhaps with an example of an answer behind it.
            let field = |line: &str| names_secret(line.split_inclusive([':', '?']).next().unwrap_or(line));
            return matches!(self.list()[..], [line] if names_secret(line) || field(line));
        }
        let is_framed = self.lines.get(self.at).is_some_and(|line| line.contains(is_line_drawing));
        let gap = if self.is_alternate { GAP } else { 1 };
        let above = self.lines.iter().take(self.at).rev().take(gap);
        let line = std::iter::once(&self.before).chain(above).find(|line| has_words(line));
        let is_near = line.is_some_and(|line| names_secret(line));
        // The empty field of a dialog box may be further below its text.
        let is_field = is_framed && self.is_visible && !has_words(&self.before);
        (is_framed || !self.is_alternate) && is_near
            || is_field && self.framed_question().is_some_and(|text| names_secret(&text))
    }

    /// Returns the text of the question: the cursor's line up to it, or in a menu or on a full screen, the text above.
    pub fn question(&self) -> Option<String> {
        let own = self.line_above().unwrap_or_else(|| plain(&self.before));
        let place = self.place();
        let is_own =
            has_words(own) && (place == CursorPlace::Open || self.is_visible && self.ends_as_question());
        let is_framed = place == CursorPlace::Alternate || self.before.contains(is_line_drawing);
        let found = if is_own {
            let asked = self.lines.get(..self.at).and_then(<[_]>::last).filter(|_| is_default(own));
            format!("{} {own}", asked.map_or("", |asked| plain(asked)))
        } else if let Some(framed) = self.framed_question().filter(|_| is_framed) {
            framed
        } else {
            let list = self.list();
            let best = match place {
                CursorPlace::Open | CursorPlace::Alternate => None,
                CursorPlace::Idle => list.first(),
                CursorPlace::Menu | CursorPlace::Below => list.last(),
            };
            (*list.iter().find(|line| asks(line)).or(best)?).to_owned()
        };
        let found = found.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(found.chars().take(CHARS).collect()).filter(|text: &String| !text.is_empty())
    }

    /// Returns the line above a cursor that stands a little to the right on an empty line.
    fn line_above(&self) -> Option<&str> {
        let is_indent = (1..=INDENT).contains(&self.before.len()) && self.before.trim().is_empty();
        let above = self.lines.get(..self.at).and_then(<[_]>::last).filter(|_| is_indent)?;
        // A line feed in raw mode leaves the cursor below the end of the line.
        let above = Some(above).filter(|above| above.trim_end().width() != self.before.len())?;
        Some(plain(above)).filter(|above| has_words(above))
    }

    /// Returns the lines of text around the cursor, or the last ones above it, from the lowest to the highest. One line below
    /// a list may be its help.
    fn list(&self) -> Vec<&str> {
        let is_text = |at: &usize| self.lines.get(*at).is_some_and(|line| has_words(line));
        let above = (0..=self.at).rev().find(is_text);
        let Some(last) = above.or_else(|| (self.at..self.lines.len()).find(is_text)) else {
            return Vec::new();
        };
        let end = (last..self.lines.len()).take_while(is_text).last().unwrap_or(last);
        let block = |end: usize| -> Vec<&str> {
            (0..=end).rev().take_while(is_text).map(|at| plain(&self.lines[at])).collect()
        };
        let above = |lines: &[&str], end: usize| {
            let above =
                end.checked_sub(2).filter(|above| lines.len() == 1 && !asks(&lines[0]) && is_text(above))?;
            Some((block(above), above))
        };
        let lines = block(end);
        let Some((list, end)) = above(&lines, end) else { return lines };
        // A row of answers has its question above it.
        above(&list, end)
            .map(|(asked, _)| asked)
            .filter(|asked| asked.first().is_some_and(asks))
            .unwrap_or(list)
    }

    /// Returns the last paragraph that asks, or the last one, in the outermost frame above the cursor: up to a frame in it, and
    /// without what the cursor is in. The frame's title if there is none, or the cursor is elsewhere.
    fn framed_question(&self) -> Option<String> {
        let is_edge =
            |line: &String| line.contains(['┌', '╔', '╭', '┏', '▛']) || line.trim().starts_with("+--");
        let above = self.lines.get(..self.at)?;
        let edge = above.iter().position(is_edge)?;
        let (title, inside) = (plain(&above[edge]), &above[edge + 1..]);
        let end = inside.iter().position(|line| is_frame(line)).unwrap_or(inside.len());
        let is_closed = inside.get(end).is_some_and(|line| line.contains(['└', '╚', '╰', '┗', '▙']));
        let blocks = inside[..end].split(|line| !has_words(line)).filter(|block| !block.is_empty());
        let mut blocks: Vec<_> = blocks.collect();
        let is_in_last =
            [inside.last(), self.lines.get(self.at)].into_iter().flatten().all(|line| has_words(line));
        blocks.truncate(blocks.len() - usize::from(is_in_last && blocks.len() > 1));
        let text = |block: &&[String]| {
            let lines = block[block.len().saturating_sub(LINES)..].iter().map(|line| plain(line));
            lines.collect::<Vec<_>>().join(" ")
        };
        let texts: Vec<String> = blocks.iter().map(text).collect();
        let found = texts.iter().rfind(|text| asks(&text.as_str())).or(texts.last());
        let found = found.filter(|_| !(is_closed && has_words(title))).cloned();
        found.or_else(|| Some(title_of(title)).filter(|title| has_words(title)))
    }
}

/// Tells whether a line of a list is a question.
fn asks(line: &&str) -> bool {
    line.starts_with(['?', '[']) && line.contains("? ") || line.ends_with([':', '?'])
}

/// Tells whether a line is a note on which keys there are, as `(enter to confirm)` and `--More--(1%)`.
fn is_note(line: &str) -> bool {
    let line = plain(line);
    line.starts_with('(') && line.ends_with(')') && line.contains(' ')
        || line.strip_prefix("--").is_some_and(|rest| rest.contains("--"))
}

/// Tells whether a line holds nothing but what is taken if nothing is typed: `[Unknown]:`.
fn is_default(line: &str) -> bool {
    let inner = line.trim_end_matches([':', '?']);
    inner.starts_with('[') && inner.ends_with(']')
        || line.starts_with('(') && inner != line && inner.ends_with(')')
}

/// Returns the title in the edge of a frame, of several the first.
fn title_of(edge: &str) -> String {
    let titles = edge.split("──").find(|title| has_words(title)).unwrap_or(edge);
    titles
        .trim_matches(|c: char| c.is_whitespace() || is_line_drawing(c) || matches!(c, '+' | '-'))
        .to_owned()
}

/// Returns a line without frames and blanks around its text.
fn plain(line: &str) -> &str {
    let is_around = |c: char| c.is_whitespace() || is_line_drawing(c) || matches!(c, '|' | '_');
    let text = Dialogue::strip_mark(line.trim_start()).trim_start_matches(is_around);
    text.trim_end_matches(|c: char| c.is_whitespace() || is_line_drawing(c) || c == '_')
        .trim_end_matches(" |")
        .trim_end()
}

fn is_line_drawing(c: char) -> bool {
    ('\u{2500}'..='\u{259f}').contains(&c)
}

fn has_words(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}

/// Tells whether a line is the edge of a frame, or a rule, perhaps with a title in it.
fn is_frame(line: &str) -> bool {
    line.contains("----") || line.chars().filter(|c| is_line_drawing(*c)).count() > 3
}

/// Tells whether a line asks for something secret: it has a word for that, and ends with it or as a question does. A choice
/// between two answers shows nothing, a shell's prompt may hold any word, and so may a remark about a user's name.
fn names_secret(line: &str) -> bool {
    let line = plain(line).trim_end_matches(|c: char| MASKS.contains(c) || c.is_whitespace());
    let lower = line.to_lowercase();
    let has_word = |line: &str| {
        let lower = line.to_lowercase();
        SECRETS.iter().any(|word| lower.contains(word))
            || lower.split(|c: char| !c.is_alphanumeric()).any(|word| SECRET_WORDS.contains(&word))
            || line.split(|c: char| !c.is_alphanumeric()).any(|word| SECRET_SIGNS.contains(&word))
    };
    let is_name = line.split_once('(').is_some_and(|(asked, _)| {
        !has_word(asked) && NAMES.iter().any(|name| asked.to_lowercase().contains(name))
    });
    let is_command = ["$ ", "# ", "% ", "❯ "].iter().any(|sign| line.contains(sign));
    let is_choice = ["/n)", "/n]", "/no)", "/no]"]
        .iter()
        .any(|end| lower.trim_end_matches([':', '?', ' ']).ends_with(end));
    if is_name || is_command || is_choice || line.ends_with(['$', '#', '%']) {
        return false;
    }
    let is_asked = line.ends_with(|last| QUESTION_ENDS.contains(last))
        && !(line.ends_with('>') && line.contains(['/', '~']));
    let last = || line.split_whitespace().last().unwrap_or_default();
    if is_asked { has_word(line) } else { !line.contains('>') && has_word(last()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ByteOrigin, Size, Terminal};

    fn screen(written: &str) -> ScreenText {
        let mut terminal = Terminal::new(Size::nearest(40, 12), ByteOrigin::Tty);
        terminal.feed(written.replace('\n', "\r\n").as_bytes());
        ScreenText::of(&Contents::of(&terminal))
    }

    fn question(written: &str) -> String {
        screen(written).question().unwrap_or_default()
    }

    #[test]
    fn a_question_is_the_text_before_the_cursor() {
        for (written, place, asked) in [
            ("Building\nName: ", CursorPlace::Open, "Name:"),
            ("» Password: ", CursorPlace::Open, "Password:"),
            (
                "a long question that goes on in the next row? ",
                CursorPlace::Open,
                "a long question that goes on in the next row?",
            ),
            ("name: (demo) \x1b[10G", CursorPlace::Open, "name: (de"),
            ("Your name?\n  [Unknown]:  ", CursorPlace::Open, "Your name? [Unknown]:"),
            ("GNU gdb\n(gdb) ", CursorPlace::Open, "(gdb)"),
            ("🎤 a\n   ", CursorPlace::Open, "🎤 a"),
            ("ready\n\x1b[6G", CursorPlace::Idle, "ready"),
            ("1\n2\n\x1b[7m--More--(1%)\x1b[m", CursorPlace::Menu, "--More--(1%)"),
            ("Updating\npaste the token below\n", CursorPlace::Idle, "paste the token below"),
        ] {
            let screen = screen(written);
            assert_eq!((screen.place(), screen.question().as_deref()), (place, Some(asked)), "{written}");
        }
        assert_eq!(screen("done\n").place(), CursorPlace::Idle);
        assert_eq!((screen("").place(), screen("\x1b[?25l").place()), (CursorPlace::Idle, CursorPlace::Idle));
    }

    #[test]
    fn a_list_is_known_by_its_cursor_and_says_what_it_asks() {
        for written in [
            "Welcome\n? Pick a fruit (arrows)\n❯ pear\n  plum\n\x1b[?25l",
            "Pick a fruit:\n> pear\n  plum\n\x1b[?25l\nmove with the arrows",
            "┌  demo\n│\n◆  Pick a fruit\n│  ● pear\n│  ○ plum\n└\n\x1b[?25l",
            "Welcome\n\nPick a fruit\n  pear\n  plum\n\x1b[3A",
            "? Pick a fruit\n❯ pear\n  plum\x1b[2A\x1b[16G",
            "Pick a fruit\n> pear\n  plum\n\n(enter to confirm)\x1b[?25l",
            "┃  Pick a fruit?\n┃\n┃  Pear  Plum\n\ny Pear\x1b[?25l\r",
        ] {
            let screen = screen(written);
            assert_eq!(screen.place(), CursorPlace::Menu, "{written}");
            assert!(screen.question().is_some_and(|asked| asked.contains("Pick a fruit")), "{screen:?}");
        }
        let below = screen("[?] What size?:\n > L\n   M\n");
        assert_eq!(
            (below.place(), below.question().as_deref()),
            (CursorPlace::Below, Some("[?] What size?:"))
        );
        let drawn = screen("? Your name ‣ \x1b[?25l");
        assert_eq!((drawn.place(), drawn.question().as_deref()), (CursorPlace::Open, Some("? Your name ‣")));
        assert_eq!(question("  2\n> 1\n> "), "", "a list without a question");
    }

    #[test]
    fn a_full_screen_is_asked_about_by_the_text_above_its_cursor() {
        let alternate = "\x1b[?1049h\x1b[H";
        let framed =
            |lines: &str| question(&format!("{alternate}┌────┤ Title ├────┐\n{lines}\n└────────┘\x1b[5;4H"));
        assert_eq!(
            framed("│ Really       │\n│ continue? │\n│           │\n│ <Yes> <No> │"),
            "Really continue?"
        );
        assert_eq!(framed("│         │\n│ Your name │\n│          │\n│ ________ │"), "Your name");
        assert_eq!(framed("│         │\n│         │\n│         │\n│ ________ │"), "Title");
        assert_eq!(framed("│ Choose │\n│ ┌─────┐ │\n│ │ pear │ │\n│ < OK > │"), "Choose");
        assert_eq!(framed("│ Long words. │\n│        │\n│ Go on │\n│        │\n│ <OK>  │"), "Go on");
        assert_eq!(framed("│ Go on? │\n│ │\n│ It is late. │\n│ │\n│ <OK>  │"), "Go on?");
        assert_eq!(framed("│ Choose │\n│        │\n│ pear   │\n│ plum   │"), "Choose");
        assert_eq!(
            question(&format!("{alternate}┌ Pick one ─────┐┌─Other──┐\n│ pear │\n└─────┘\nHelp.\x1b[?25l")),
            "Pick one"
        );
        assert_eq!(
            question(&format!("{alternate}| Enter it\n|\n| Passphrase: ____ |\x1b[3;15H")),
            "Passphrase:"
        );
        assert_eq!(question(&format!("{alternate}a file\n~\n~\n")), "");
    }

    #[test]
    fn secrets_are_known_by_their_words() {
        for secret in [
            "Password: ",
            "Password: ****",
            "Kennwort für me: ",
            "Mot de passe : ",
            "Contraseña: ",
            "Пароль: ",
            "パスワード: ",
            "输入密码:",
            "Enter PIN: ",
            "API token? ",
            "? Password ‣ ••",
            "Password: Type something...\n\nenter submit\x1b[?25l\r",
            "◆  Password\n│  ",
            "◆  Password\n│  _\n└\n\x1b[?25l",
            "\x1b[?1049h\x1b[H│ Enter password │\n│  │\n│ ______ │\x1b[3;3H",
            "┌────────┐\n│ Enter the passphrase │\n│ ┌────┐ │\n│ │    │ │\n│ └────┘ │\n│ <OK>  │\n└───────┘\x1b[4;4H",
        ] {
            assert!(screen(secret).asks_secret(), "{secret}");
        }
        for other in [
            "Username: ",
            "spinning: ",
            "Show the password? [y/N] ",
            "Enter username ('__token__' if using a token): ",
            "my password is safe\nName: ",
            "tokens: ",
            "Pick a password manager\n❯ pass\n  \x1b[?25l\n\n",
            "┌────────┐\n│ Your password? │\n│ ┌────┐ │\n│ │ keep  │ │\n│ └────┘ │\n│ <OK>  │\n└───────┘\x1b[4;8H",
            "me@host:/src/token# ",
            "$ cat token",
            "me ~/token> ",
            "the password is long",
            "\x1b[?1049h\x1b[Hdb_password:",
            "\x1b[?1049h\x1b[HEnter password:\n:",
        ] {
            assert!(!screen(other).asks_secret(), "{other}");
        }
    }

    #[test]
    fn progress_does_not_end_as_a_question_does() {
        for (line, ends) in
            [("Name: ", true), ("? Your name ", true), ("host% ", true), ("45% ", false), ("working ", false)]
        {
            assert_eq!(screen(line).ends_as_question(), ends, "{line}");
        }
    }
}
