//! The features of the console, one file or folder each. A feature knows what it keeps for itself and the state; it never names
//! another feature or the app that composes them.

pub mod approval;
pub mod attention;
pub mod away;
pub mod changes;
pub mod cost;
pub mod export;
pub mod help;
pub mod message;
pub mod metrics;
pub mod next;
pub mod palette;
pub mod pane;
pub mod paste;
pub mod places;
pub mod program;
pub mod question;
pub mod reader;
pub mod receipts;
pub mod replay;
pub mod search_all;
pub mod status;
pub mod stop;
pub mod task_list;
pub mod tilings;
pub mod timeline;
pub mod toasts;
pub mod top_bar;
pub mod undo;
pub mod welcome;
