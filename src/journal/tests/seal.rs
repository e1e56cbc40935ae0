//! The seal of a recording: without it nobody can tell whether the end was cut off.

use super::*;

#[tokio::test]
async fn without_its_seal_a_recording_is_not_whole_whatever_was_cut() {
    for cut in [false, true] {
        for broken in [None, Some(""), Some("{}"), Some("{\"seq\":1}")] {
            let stage = filled(5, 10).await;
            assert!(verify(stage.path()).expect("verifies").is_whole());
            if cut {
                let whole = fs::read_to_string(stage.segment(1)).expect("text");
                let lines: Vec<&str> = whole.lines().take(3).collect();
                put(stage.segment(1), lines.join("\n") + "\n").expect("writes");
            }
            let head = layout::head_path(stage.path());
            match broken {
                Some(text) => put(&head, text).expect("writes"),
                None => fs::remove_file(&head).expect("removed"),
            }
            let kinds = || {
                let report = verify(stage.path()).expect("verifies");
                report.problems.iter().map(|problem| problem.kind).collect::<Vec<_>>()
            };
            assert_eq!(kinds(), [ProblemKind::Unsealed], "{cut} {broken:?}");
            stage.repair();
            assert_eq!(kinds(), [ProblemKind::Unsealed], "a repair makes nobody forget: {cut} {broken:?}");
        }
    }
}

#[tokio::test]
async fn a_killed_writer_leaves_a_seal_from_its_first_moment_and_a_cut_end_outlives_the_repair() {
    let stage = Stage::new();
    let journal = stage.journal();
    assert_eq!(ChainHead::read(stage.path()).map(|head| head.seq), Some(0));
    journal.append(&row(1, 0), Durability::Synced).await.expect("append");
    journal.append(&row(2, 0), Durability::Written).await.expect("append");
    let (rows, head) = (fs::read(stage.segment(1)).expect("rows"), fs::read(layout::head_path(stage.path())));
    journal.close();
    // As after a kill: there are more rows than were sealed, and nothing is wrong with that.
    put(stage.segment(1), &rows).expect("writes");
    put(layout::head_path(stage.path()), head.expect("the seal")).expect("writes");
    assert!(verify(stage.path()).expect("verifies").is_whole());
    let sealed = ChainHead::read(stage.path()).expect("a seal");
    let first = memchr::memchr(b'\n', &rows).expect("a line");
    put(stage.segment(1), if sealed.seq == 1 { &[][..] } else { &rows[..=first] }).expect("writes");
    stage.repair();
    let report = verify(stage.path()).expect("verifies");
    assert!(report.problems.iter().any(|problem| problem.kind == ProblemKind::CutOff), "{report:?}");
}

#[tokio::test]
async fn a_copied_and_a_renumbered_segment_are_noticed() {
    let told = |stage: &Stage| {
        let problems = verify(stage.path()).expect("verifies").problems;
        problems.iter().map(|problem| (problem.kind, problem.segment.clone())).collect::<Vec<_>>()
    };
    let bounds = Bounds { line: 2_048, segment: 4_096, journal: 65_536 };
    for at in 1..=3 {
        let stage = Stage::new();
        let journal = stage.on(disk::Os, bounds).expect("journal");
        for n in 1..=20 {
            journal.append(&row(n, 500), Durability::Written).await.expect("append");
        }
        journal.close();
        let last = *layout::segments(stage.path()).expect("lists").last().expect("one");
        assert!(last > 3, "{last}");
        assert_eq!(told(&stage), []);
        let rename =
            |from: u32, to: u32| fs::rename(stage.segment(from), stage.segment(to)).expect("renamed");
        let name = |number| layout::segment_name(number);
        // From this one on, each has another number.
        (at..=last).rev().for_each(|number| rename(number, number + 1));
        assert_eq!(told(&stage), [(ProblemKind::Renumbered, name(at + 1))]);
        // And there is a copy in the gap.
        fs::copy(stage.segment(at + 1), stage.segment(at)).expect("copied");
        assert_eq!(told(&stage), [(ProblemKind::Repeated, name(at + 1))]);
        fs::remove_file(stage.segment(at)).expect("removed");
        (at..=last).for_each(|number| rename(number + 1, number));
        assert_eq!(told(&stage), []);
        fs::copy(stage.segment(last), stage.segment(last + 1)).expect("copied");
        assert_eq!(told(&stage), [(ProblemKind::Repeated, name(last + 1))]);
    }
}

#[tokio::test]
async fn a_full_segment_is_closed() {
    let stage = Stage::new();
    let bounds = Bounds { line: 2_048, segment: 4_096, journal: 1 << 20 };
    let journal = stage.on(disk::Os, bounds).expect("journal");
    for n in 1..=100 {
        journal.append(&row(n, 500), Durability::Written).await.expect("append");
    }
    let is_segment =
        |path: &Path| path.starts_with(stage.path()) && path.to_string_lossy().contains("journal-");
    let open = fs::read_dir("/proc/self/fd")
        .expect("lists")
        .flatten()
        .filter_map(|fd| fs::read_link(fd.path()).ok());
    assert_eq!(open.filter(|path| is_segment(path)).count(), 1, "only the last segment is open");
    journal.close();
    assert!(layout::segments(stage.path()).expect("lists").len() > 2);
}
