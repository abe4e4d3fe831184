//! The project of a session: the directory that it worked in. Values are generic if several
//! projects have them.

use std::collections::{BTreeMap, BTreeSet};

/// The project of a working directory. The worktrees of a repository, which are folders inside one
/// called `worktrees`, `.worktrees` or `NAME-worktrees`, are one project.
pub(super) fn of_directory(directory: &str) -> String {
    let parts = directory
        .split(['/', '\\'])
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>();
    let name = |part: &str| {
        part.trim_start_matches('.')
            .strip_suffix("worktrees")
            .map(str::to_owned)
    };
    let found = parts
        .iter()
        .enumerate()
        .find_map(|(at, part)| Some((at, name(part)?)));
    let Some((at, name)) = found.filter(|(at, _)| at + 1 < parts.len()) else {
        return parts.join("/");
    };
    let above = match parts[..at].split_last() {
        Some((last, above)) if *last == ".claude" => above,
        _ => &parts[..at],
    };
    let repository = name.trim_end_matches(['-', '_', '.']);
    above
        .iter()
        .copied()
        .chain((!repository.is_empty()).then_some(repository))
        .collect::<Vec<_>>()
        .join("/")
}

/// Adds a working directory that is not there yet.
pub(super) fn note_directory(directories: &mut Vec<String>, directory: Option<&str>) {
    if let Some(directory) =
        directory.filter(|directory| !directories.iter().any(|known| known == directory))
    {
        directories.push(directory.to_owned());
    }
}

/// Names of projects for a suite, which holds no path of a machine: the last part of the directory,
/// with a number if an earlier project has the same one. Folders of one name in the homes of two
/// users are checkouts of one project.
#[derive(Default)]
pub(super) struct ProjectNames {
    of: BTreeMap<String, String>,
    /// For each name without a number: the homes and names of its projects.
    homes: BTreeMap<String, Vec<(String, String)>>,
    taken: BTreeSet<String>,
}

impl ProjectNames {
    pub(super) fn name(&mut self, project: &str) -> String {
        if let Some(name) = self.of.get(project) {
            return name.clone();
        }
        let last = project
            .rsplit('/')
            .next()
            .filter(|last| !last.is_empty())
            .unwrap_or("/")
            .replace(char::is_control, " ");
        let home = home(project);
        let same = self.homes.entry(last.clone()).or_default();
        let of_others = same
            .iter()
            .find(|(other, _)| !home.is_empty() && !other.is_empty() && *other != home);
        let of_others = of_others
            .filter(|_| same.iter().all(|(other, _)| *other != home))
            .map(|(_, name)| name.clone());
        let name = of_others.unwrap_or_else(|| {
            let numbered = (2..).map(|number| format!("{last}/{number}"));
            let mut free = std::iter::once(last.clone())
                .chain(numbered)
                .filter(|name| !self.taken.contains(name));
            free.next().unwrap_or_default()
        });
        same.push((home, name.clone()));
        self.taken.insert(name.clone());
        self.of.insert(project.to_owned(), name.clone());
        name
    }
}

/// The user's home that a project lies in; empty if it lies in none.
fn home(project: &str) -> String {
    let parts = project.split('/').collect::<Vec<_>>();
    let homes = parts
        .iter()
        .take(2)
        .position(|part| matches!(*part, "home" | "Users"));
    homes
        .and_then(|at| parts.get(..at + 2))
        .map(|home| home.join("/"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_of_a_repository_are_one_project() {
        for (directory, project) in [
            ("/home/u/spotter", "home/u/spotter"),
            ("/home/u/spotter-worktrees/fum", "home/u/spotter"),
            ("/home/u/spotter/.claude/worktrees/fum", "home/u/spotter"),
            ("/home/u/spotter/.worktrees/fum/assets", "home/u/spotter"),
            (r"C:\code\spotter.worktrees\fum", "C:/code/spotter"),
            ("/home/u/worktrees", "home/u/worktrees"),
            ("/", ""),
        ] {
            assert_eq!(of_directory(directory), project, "{directory}");
        }
    }

    #[test]
    fn projects_of_one_name_stay_apart() {
        let mut names = ProjectNames::default();
        let given = ["a/app", "b/app", "a/app", "c/app"].map(|project| names.name(project));
        assert_eq!(given, ["app", "app/2", "app", "app/3"]);
        let of_users = [
            "home/ann/app",
            "Users/ben/work/app",
            "home/ann/old/app",
            "Users/ben/app",
            "C:/Users/cid/app",
        ];
        let mut names = ProjectNames::default();
        assert_eq!(
            of_users.map(|project| names.name(project)),
            ["app", "app", "app/2", "app/3", "app"]
        );
    }
}
