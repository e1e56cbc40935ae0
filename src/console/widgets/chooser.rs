//! A list that is filtered by typing: the palette, themes, messages, exports. It neither knows nor performs
//! what a choice means; that is up to the code that opened it.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use tui_input::Input as Editor;

use crate::console::keys::Motion;
use crate::console::state::{ListChoice, cut_top, stand};
use crate::console::text::reading::move_by;
use crate::console::text::{self, StyledPiece, column, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, columns};

/// Maximum width of the name of an action, in columns.
const MOST_NAME: usize = 18;

/// Minimum width at which the equivalent tool or command is shown.
const WITH_SAME: u16 = 90;

/// Maximum width of the list.
const MOST_COLUMNS: u16 = 112;

/// A list, the filter text typed, and the current selection.
#[derive(Debug, Clone)]
pub struct Chooser {
    /// What the list contains.
    pub kind: ListKind,
    /// The filter text.
    pub editor: Editor,
    items: Vec<ListItem>,
    shown: Vec<Hit>,
    /// The index of the selected item among those shown.
    pub at: usize,
}

/// What a list contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListKind {
    /// Everything, by name.
    Palette,
    /// All keys, those of the panel with this name first.
    Help(&'static str),
    /// Themes; holds the one to restore on cancel.
    Themes(String),
    /// The messages so far.
    Messages,
    /// What can be exported to a file.
    Exports,
    /// Filters for the task list, each with its own letter.
    Filters,
    /// Sort orders and forms of the task list.
    Listing,
    /// Layouts of the tasks screen.
    Layouts,
    /// Search results across all tasks.
    Places,
    /// Since when the tree can be compared.
    Changes,
    /// The runtimes that are shown, and those that could be.
    Fleet,
}

/// One row of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListItem {
    /// Its name.
    pub label: String,
    /// A description of what it is or does.
    pub about: String,
    /// How it is identified elsewhere: by a key, or a message by its time.
    pub key: String,
    /// The equivalent tool or command.
    pub same: String,
    /// Why it cannot be chosen now, if so.
    pub obstacle: Option<String>,
    /// Texts that, typed alone, match this item exactly: `42`, `t07`.
    pub aliases: Vec<String>,
    /// Other words it can be found by.
    pub also: &'static str,
    /// The heading it stands under.
    pub group: Option<&'static str>,
    /// What choosing it does.
    pub choice: ListChoice,
}

/// A row of the list: a heading, or an item by its index among those shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListLine {
    Heading(&'static str),
    Item(usize),
}

/// A matching item, and the letters of its name that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    item: usize,
    /// The positions of those letters, counted in characters.
    pub letters: Vec<u32>,
}

impl ListKind {
    /// Tells whether its items have letters of their own, which choose them.
    pub fn has_letters(&self) -> bool {
        matches!(self, Self::Filters | Self::Listing)
    }

    /// Says what to do, while nothing is written.
    fn way_to_choose(&self) -> &'static str {
        if self.has_letters() { "a letter chooses" } else { "type to filter" }
    }
}

impl ListItem {
    /// Makes an item with a name and a meaning.
    pub fn new(label: impl Into<String>, about: impl Into<String>, choice: ListChoice) -> Self {
        Self { label: label.into(), about: about.into(), choice, ..Self::default() }
    }
}

impl Chooser {
    /// Opens a list, its first item selected.
    pub fn new(kind: ListKind, items: Vec<ListItem>) -> Self {
        let mut chooser = Self { kind, editor: Editor::default(), items, shown: Vec::new(), at: 0 };
        chooser.filter();
        chooser
    }

    /// Adds items that arrived later; the filter text and the selection stay.
    pub fn add(&mut self, items: Vec<ListItem>) {
        let at = self.at;
        self.items.extend(items);
        self.filter();
        self.at = at.min(self.shown.len().saturating_sub(1));
    }

    /// Shows the items that match the filter text, best match first and selected.
    pub fn filter(&mut self) {
        let written = self.editor.value().trim().trim_start_matches(':').to_owned();
        self.at = 0;
        if written.is_empty() {
            self.shown = (0..self.items.len()).map(|item| Hit { item, letters: Vec::new() }).collect();
            return;
        }
        let pattern = Pattern::new(&written, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut found: Vec<(u32, Hit)> = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            if let Some((score, letters)) = fit(item, &written, &pattern, &mut matcher) {
                found.push((score, Hit { item: at, letters }));
            }
        }
        found.sort_by_key(|(score, hit)| (std::cmp::Reverse(*score), hit.item));
        self.shown = found.into_iter().map(|(_, hit)| hit).collect();
    }

    /// Moves the selection; a page has this many rows.
    pub fn go(&mut self, motion: Motion, page: usize) {
        self.at = move_by(self.at, motion, page.max(1), self.shown.len().saturating_sub(1));
    }

    /// Selects the item with this choice.
    pub fn select(&mut self, choice: &ListChoice) {
        let at =
            self.shown.iter().position(|hit| self.items.get(hit.item).is_some_and(|i| i.choice == *choice));
        self.at = at.unwrap_or(self.at);
    }

    /// Selects the item with this key; tells whether there is one.
    pub fn select_key(&mut self, key: &str) -> bool {
        let at =
            self.shown.iter().position(|hit| self.items.get(hit.item).is_some_and(|item| item.key == key));
        self.at = at.unwrap_or(self.at);
        at.is_some()
    }

    /// Returns the selected item.
    pub fn selected_item(&self) -> Option<&ListItem> {
        self.shown.get(self.at).and_then(|hit| self.items.get(hit.item))
    }

    /// Returns the matching items, best first, with the matching letters.
    pub fn matching_items(&self) -> impl ExactSizeIterator<Item = (&ListItem, &Hit)> {
        self.shown.iter().map(|hit| (&self.items[hit.item], hit))
    }

    /// Returns the rows to draw. What was filtered stands in the order of how well it matches, without headings.
    fn lines(&self) -> Vec<ListLine> {
        let mut lines = Vec::new();
        let mut under = None;
        for (at, (item, _)) in self.matching_items().enumerate() {
            let group = item.group.filter(|_| !self.is_filtered());
            lines.extend(group.filter(|_| group != under).map(ListLine::Heading));
            under = group;
            lines.push(ListLine::Item(at));
        }
        lines
    }

    fn is_filtered(&self) -> bool {
        !self.editor.value().trim().is_empty()
    }

    /// Returns the width of the longest name among all items, matching or not, so that typing does not move
    /// the columns.
    pub fn name_columns(&self) -> usize {
        let told = self.items.iter().filter(|item| !(item.key.is_empty() && item.about.is_empty()));
        told.map(|item| text::width(&item.label)).max().unwrap_or(0)
    }
}

/// Scores how well an item matches; a match in the name counts more than one in the description.
fn fit(item: &ListItem, written: &str, pattern: &Pattern, matcher: &mut Matcher) -> Option<(u32, Vec<u32>)> {
    if item.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(written)) {
        return Some((u32::MAX, Vec::new()));
    }
    let (mut chars, mut letters) = (Vec::new(), Vec::new());
    if let Some(score) = pattern.indices(Utf32Str::new(&item.label, &mut chars), matcher, &mut letters) {
        letters.sort_unstable();
        letters.dedup();
        let is_whole = item.label.eq_ignore_ascii_case(written);
        return Some((if is_whole { u32::MAX - 1 } else { 1_000 + score * 2 }, letters));
    }
    let about = format!("{} {} {}", item.about, item.same, item.also);
    // Scattered letters of a sentence match almost anything, so descriptions must contain whole words.
    let words = written.split_whitespace().all(|word| about.to_lowercase().contains(&word.to_lowercase()));
    words.then(|| (pattern.score(Utf32Str::new(&about, &mut chars), matcher).unwrap_or(1), Vec::new()))
}

/// Returns how many items fit in the list on a screen with this many rows.
pub(crate) fn page(rows: u16) -> usize {
    usize::from(rows.saturating_sub(stand(rows) + 6)).max(1)
}

pub(in crate::console) fn draw(painter: &mut Painter<'_>, chooser: &Chooser) {
    let screen = painter.buf.area;
    let width = screen.width.saturating_sub(4).min(MOST_COLUMNS);
    let lines = chooser.lines();
    let rows = lines.len().clamp(1, page(screen.height));
    let height = u16::try_from(rows + 4).unwrap_or(u16::MAX).min(screen.height.saturating_sub(2));
    // Themes are previewed live, so the screen must stay visible beside the list.
    let (width, x) = match chooser.kind {
        ListKind::Themes(_) => (width.min(64), screen.width.saturating_sub(width.min(64) + 2)),
        _ => (width, (screen.width - width) / 2),
    };
    let y = stand(screen.height).min(screen.height.saturating_sub(height));
    let area = Rect { x, y, width, height };
    let inside = painter.draw_box(area, &title(chooser));
    let (line, list) = cut_top(inside, 1);
    let mark = [piece(format!("{} ", painter.glyphs().selected), Role::Accent)];
    painter.editor(line, 0, &mark, &chooser.editor, false, false);
    if chooser.editor.value().is_empty() {
        painter.row_from(line, (2, 0), &[piece(chooser.kind.way_to_choose(), Role::Faint)]);
    }
    let list = cut_top(list, 1).1;
    let shown = usize::from(list.height);
    let keys = chooser.matching_items().map(|(item, _)| text::width(&item.key)).max().unwrap_or(0);
    // The palette also lists tasks and calls: their long names must not push away the descriptions of
    // actions.
    let most = match chooser.kind {
        ListKind::Palette | ListKind::Help(_) => MOST_NAME,
        _ => usize::from(list.width) / 2,
    };
    let names = chooser.name_columns().min(most);
    let at = lines.iter().position(|line| *line == ListLine::Item(chooser.at)).unwrap_or(0);
    let items: Vec<(&ListItem, &Hit)> = chooser.matching_items().collect();
    painter.tall_list(list, 1, lines.iter().skip((at + 1).saturating_sub(shown)), |painter, row, line| {
        let at = match line {
            ListLine::Heading(title) => {
                painter.row(row, 0, &[piece(*title, Role::Title)]);
                return false;
            }
            ListLine::Item(at) => *at,
        };
        let Some((item, hit)) = items.get(at) else { return false };
        let from = draw_item(painter, row, item, (chooser, at == chooser.at, keys, names));
        let label = Rect { width: row.width.min(u16::try_from(names + 2).unwrap_or(u16::MAX)), ..row };
        for letter in &hit.letters {
            let x = from.saturating_add(u16::try_from(*letter).unwrap_or(u16::MAX));
            painter.restyle_row(label, 0, x..x.saturating_add(1), |cell| {
                cell.modifier.insert(Modifier::UNDERLINED);
            });
        }
        // It is marked as selected already: the letters are underlined over that.
        false
    });
    let all = items.len();
    if all == 0 {
        painter.row(list, 0, &[piece("  no match", Role::Faint)]);
    }
    if lines.len() > shown && shown > 0 {
        let place = format!(" {} of {all} ", chooser.at + 1);
        let foot = Rect { y: area.bottom() - 1, height: 1, width: area.width.saturating_sub(2), ..area };
        painter.row_right(foot, 0, &[piece(place, Role::Faint)]);
    }
}

fn title(chooser: &Chooser) -> String {
    let (shown, all) = (chooser.matching_items().len(), chooser.items.len());
    let name = match chooser.kind {
        ListKind::Help(panel) => return format!("help: {panel}"),
        ListKind::Palette => "all",
        ListKind::Themes(_) => "theme",
        ListKind::Messages => "messages",
        ListKind::Exports => "export",
        ListKind::Filters => "filter",
        ListKind::Listing => "order, groups and columns",
        ListKind::Layouts => "layout",
        ListKind::Places => "found in all tasks",
        ListKind::Changes => "what differs in this tree since",
        ListKind::Fleet => "places",
    };
    if shown == all { format!("{name}  {all}") } else { format!("{name}  {shown} of {all}") }
}

/// Draws an item; returns the column where its name begins.
fn draw_item(
    painter: &mut Painter<'_>,
    row: Rect,
    item: &ListItem,
    (chooser, is_selected, keys, names): (&Chooser, bool, usize, usize),
) -> u16 {
    let dots = painter.glyphs().cut;
    let mark = painter.marker(is_selected);
    let role = |role| if item.obstacle.is_some() { Role::Faint } else { role };
    let is_wide = row.width >= WITH_SAME;
    let mut tail: Vec<StyledPiece> = Vec::new();
    if is_wide && !item.same.is_empty() {
        tail.push(piece(format!("  {}", item.same), Role::Faint));
    }
    if keys > 0 {
        tail.push(piece(format!("  {}", text::right(&item.key, keys)), role(Role::Key)));
    }
    tail.extend(
        item.group.filter(|_| chooser.is_filtered()).map(|group| piece(format!("  {group}"), Role::Faint)),
    );
    // Without a description, a long name may use its space.
    let name_columns = match (item.about.is_empty(), item.key.is_empty()) {
        (false, _) => names,
        (true, false) => names.max(usize::from(row.width) / 2),
        (true, true) => usize::from(row.width).saturating_sub(text::width(mark) + 3),
    };
    let label = visible::one_line(&item.label);
    let mut left = vec![piece(format!("{mark} "), Role::Accent)];
    left.push(piece(column(&label, name_columns, dots), role(Role::Text)));
    left.push(piece("  ", Role::Text));
    match &item.obstacle {
        Some(why) if matches!(chooser.kind, ListKind::Help(_)) => {
            left.push(piece(format!("{}  (not now: {why})", item.about), Role::Faint));
        }
        Some(why) => left.push(piece(format!("not now: {why}"), Role::Faint)),
        None => left.push(piece(visible::one_line(&item.about), Role::Faint)),
    }
    painter.line(Rect { width: row.width.saturating_sub(columns(&tail)), ..row }, 0, &left);
    painter.row_right(row, 0, &tail);
    if is_selected {
        painter.select(row);
    }
    u16::try_from(text::width(mark) + 1).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(chooser: &Chooser) -> Vec<&str> {
        chooser.matching_items().map(|(item, _)| item.label.as_str()).collect()
    }

    fn list(labels: &[(&str, &str)]) -> Chooser {
        let items = labels.iter().map(|(label, about)| ListItem::new(*label, *about, ListChoice::Nothing));
        Chooser::new(ListKind::Palette, items.collect())
    }

    #[test]
    fn the_best_fit_stands_first_and_a_name_before_a_description() {
        let mut chooser = list(&[
            ("page-up", "One page up"),
            ("show-tasks", "All tasks and their panes"),
            ("stop", "Stop the task: TERM, then KILL"),
            ("stop-all", "Stop all tasks and quit"),
            ("quit", "Leave and stop nothing"),
        ]);
        assert_eq!(chooser.matching_items().len(), 5);
        chooser.editor = Editor::new("stop".into());
        chooser.filter();
        assert_eq!(names(&chooser), ["stop", "stop-all", "quit"]);
        chooser.editor = Editor::new(":shtsk".into());
        chooser.filter();
        assert_eq!(names(&chooser), ["show-tasks"]);
        assert_eq!(chooser.matching_items().next().expect("one").1.letters, [0, 1, 5, 7, 8]);
        chooser.editor = Editor::new("zzz".into());
        chooser.filter();
        assert_eq!((names(&chooser).len(), chooser.selected_item()), (0, None));
    }

    #[test]
    fn a_number_or_the_name_of_a_task_means_it_alone() {
        let mut chooser = list(&[("call 142 TaskList", ""), ("call 42 ExecCommand", "")]);
        chooser.items[1].aliases = vec!["42".into()];
        chooser.editor = Editor::new("42".into());
        chooser.filter();
        assert_eq!(names(&chooser)[0], "call 42 ExecCommand");
    }
}
