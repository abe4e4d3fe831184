//! Every target with its regressions, its seeds and seeded mutations of them. The inputs are the
//! same each time.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use compactometer_fuzz::{ALL, FuzzTarget, mutate};
use compactometer_suites::import;

/// The number of mutations for each target, spread over its seeds.
const MUTATIONS: usize = 200;

#[test]
fn no_input_breaks_its_reader() {
    // Two threads, because a small machine has no more.
    let (front, back) = ALL.split_at(ALL.len() / 2);
    let breaks = std::thread::scope(|scope| {
        let front = scope.spawn(|| front.iter().filter_map(first_break).collect::<Vec<_>>());
        let back = back.iter().filter_map(first_break).collect::<Vec<_>>();
        [front.join().unwrap(), back].concat()
    });
    assert!(breaks.is_empty(), "{}", breaks.join("\n"));
}

/// The first input that breaks a target, which is kept in a file.
fn first_break(target: &FuzzTarget) -> Option<String> {
    let read = |path: &PathBuf| std::fs::read(path).unwrap();
    let known = target
        .regressions()
        .into_iter()
        .chain(target.seeds())
        .map(|path| (read(&path), path.display().to_string()));
    let seeds = target.seeds().iter().map(read).collect::<Vec<_>>();
    let mutations = (0..MUTATIONS).map(|number| {
        let (seed, other) = (
            &seeds[number % seeds.len()],
            &seeds[number / seeds.len() % seeds.len()],
        );
        (
            mutate::mutated(seed, other, number as u64),
            format!("mutation {number}"),
        )
    });
    let breaks = |data: &[u8]| catch_unwind(AssertUnwindSafe(|| (target.run)(data))).is_err();
    let (data, origin) = known.chain(mutations).find(|(data, _)| breaks(data))?;
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-find", target.name));
    std::fs::write(&path, data).unwrap();
    Some(format!(
        "`{}` breaks on {origin}; its input: {}",
        target.name,
        path.display()
    ))
}

#[test]
fn every_target_has_seeds_and_every_folder_a_target() {
    let names = ALL.iter().map(|target| target.name).collect::<Vec<_>>();
    assert!(names.is_sorted(), "{names:?}");
    for folder in ["seeds", "regressions"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let found = std::fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let strange = found
            .filter(|name| !names.contains(&name.as_str()))
            .collect::<Vec<_>>();
        assert!(
            strange.is_empty(),
            "`{folder}` has folders without a target: {strange:?}"
        );
    }
}

/// Otherwise a target would only see refusals.
#[test]
fn every_target_accepts_one_of_its_seeds() {
    for target in ALL {
        let takes = |path: &PathBuf| (target.run)(&std::fs::read(path).unwrap());
        assert!(
            target.seeds().iter().any(takes),
            "`{}` accepts none of its seeds",
            target.name
        );
    }
}

#[test]
fn every_importer_has_a_target_and_reads_one_of_its_seeds() {
    for importer in import::ALL {
        let name = format!("import-{}", importer.name);
        let target = compactometer_fuzz::by_name(&name);
        let target = target.unwrap_or_else(|| {
            panic!("no target `{name}`: add a line to `targets/mod.rs`, and a seed")
        });
        let reads = |path: &PathBuf| {
            import::import(
                importer,
                std::slice::from_ref(path),
                "n",
                &Default::default(),
            )
            .is_ok()
        };
        assert!(
            target.seeds().iter().any(reads),
            "`{name}`: no seed is read"
        );
    }
}

#[test]
fn seeds_are_distinct_and_short() {
    let contents = ALL
        .iter()
        .flat_map(FuzzTarget::seeds)
        .map(|path| std::fs::read(path).unwrap())
        .collect::<BTreeSet<_>>();
    assert_eq!(
        contents.len(),
        ALL.iter().map(|target| target.seeds().len()).sum::<usize>(),
        "two seeds are equal"
    );
    assert!(
        contents.iter().all(|seed| seed.len() < 8 << 10),
        "a seed is over 8 KiB"
    );
}
