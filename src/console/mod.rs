//! People: the terminal UI. ratatui and crossterm live only here.
