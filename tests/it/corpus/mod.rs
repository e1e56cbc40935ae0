//! Real programs, driven end to end as tasks of a real runtime; each of their screens is compared, cell by cell,
//! with what tmux shows for the same bytes.

mod capture;
mod differences;
mod material;
mod picture;
mod session;
mod tmux;

mod frames;
mod full_screen;
mod lines;
mod samples;
