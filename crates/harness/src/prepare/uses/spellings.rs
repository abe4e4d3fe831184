//! The other names of a path: relative to a directory that the program worked in, to the user's
//! home or to the folder above the project, absolute, and with the separators of another system.

/// The other names of a path, ascending. In the directory where the session began, a file, which
/// has an ending, is named without a folder too, and a folder by what follows its separator: any
/// other word would be found by chance, or be that of another file.
pub(super) fn other_names(path: &str, directories: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    let roots = directories
        .iter()
        .map(|directory| (directory.trim_end_matches(['/', '\\']), ""));
    let homes = directories
        .iter()
        .filter_map(|directory| home(directory))
        .map(|home| (home, "~/"));
    for (number, (root, prefix)) in roots
        .chain(homes)
        .enumerate()
        .filter(|(_, (root, _))| !root.is_empty())
    {
        if let Some(rest) = below(path, root) {
            let is_file = rest.trim_start_matches('.').contains('.') || rest.starts_with('.');
            let is_name = rest.contains(['/', '\\']) || (is_file && number == 0);
            if is_name || !prefix.is_empty() {
                names.push(format!("{prefix}{rest}"));
            } else if number == 0 {
                names.push(format!("{rest}/"));
            }
        } else if is_relative(path) && path.contains(['/', '\\']) {
            let plain = path.trim_start_matches("./").trim_start_matches("~/");
            if path.starts_with("~/") != prefix.is_empty() {
                names.push(format!("{root}/{plain}"));
            }
        }
    }
    names.extend(
        directories
            .first()
            .into_iter()
            .flat_map(|first| by_project(path, first)),
    );
    let others = names.iter().map(String::as_str).chain([path]);
    let others = others.flat_map(of_other_systems).collect::<Vec<_>>();
    names.extend(others);
    names.retain(|name| name != path);
    names.sort();
    names.dedup();
    names
}

/// What follows a directory in a path below it.
fn below<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(directory)?.strip_prefix(['/', '\\'])?;
    Some(rest).filter(|rest| !rest.is_empty())
}

/// Names that begin with the project's folder, and those of a path that does.
fn by_project(path: &str, directory: &str) -> Vec<String> {
    let root = directory.trim_end_matches(['/', '\\']);
    let project = root.rsplit(['/', '\\']).next().unwrap_or_default();
    if project.is_empty() {
        return Vec::new();
    }
    let of_project = |rest: &str| format!("{project}/{rest}");
    match (below(path, root), below(path, project)) {
        (Some(rest), _) => vec![of_project(rest)],
        (None, Some(rest)) if rest.contains(['/', '\\']) => {
            vec![rest.to_owned(), format!("{root}/{rest}")]
        }
        (None, None) if is_relative(path) && !path.starts_with('~') => {
            let plain = path.trim_start_matches("./");
            let is_name = plain.contains(['/', '\\']);
            is_name.then(|| of_project(plain)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A name with the separators of other systems. A drive of Windows is a folder to its shells.
fn of_other_systems(name: &str) -> Vec<String> {
    let is_drive = |name: &str| {
        let letters = name.as_bytes();
        letters.first().is_some_and(u8::is_ascii_alphabetic)
            && letters.get(1) == Some(&b':')
            && matches!(letters.get(2), Some(b'/' | b'\\'))
    };
    if !name.contains('\\') && !is_drive(name) {
        return Vec::new();
    }
    let (slashes, backslashes) = (name.replace('\\', "/"), name.replace('/', "\\"));
    let mut names = Vec::new();
    if is_drive(name) {
        let (drive, rest) = (name[..1].to_ascii_lowercase(), &slashes[2..]);
        names.extend([format!("/{drive}{rest}"), format!("/mnt/{drive}{rest}")]);
    }
    names.extend([slashes, backslashes]);
    names
}

fn is_relative(path: &str) -> bool {
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    !path.starts_with(['/', '\\']) && !is_drive
}

/// The user's home that a directory lies in.
fn home(directory: &str) -> Option<&str> {
    let is_root = directory == "/root" || directory.starts_with("/root/");
    if is_root {
        return Some("/root");
    }
    let drive = directory.get(..2).filter(|drive| {
        drive.ends_with(':') && drive.starts_with(|letter: char| letter.is_ascii_alphabetic())
    });
    let start = drive.map_or(0, str::len);
    let (folder, rest) = ["/home/", "/Users/", "\\Users\\"]
        .iter()
        .find_map(|folder| Some((*folder, directory[start..].strip_prefix(folder)?)))?;
    let user = rest
        .split(['/', '\\'])
        .next()
        .filter(|user| !user.is_empty())?;
    Some(&directory[..start + folder.len() + user.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_names_that_its_directories_give() {
        let directories = ["/home/ann/shop".to_owned(), "/home/ann/shop/web".to_owned()];
        let names = |path: &str| other_names(path, &directories);
        assert_eq!(
            names("/home/ann/shop/web/app.js"),
            ["shop/web/app.js", "web/app.js", "~/shop/web/app.js"]
        );
        assert_eq!(
            names("/home/ann/shop/config"),
            ["config/", "shop/config", "~/shop/config"],
            "a bare word is not a name of a file"
        );
        assert!(names("/home/ann/shop/mix.exs").contains(&"mix.exs".to_owned()));
        assert!(names("/home/ann/shop/.env").contains(&".env".to_owned()));
        assert_eq!(
            names("src/pay.rs"),
            [
                "/home/ann/shop/src/pay.rs",
                "/home/ann/shop/web/src/pay.rs",
                "shop/src/pay.rs"
            ]
        );
        assert!(names("shop/src/pay.rs").contains(&"src/pay.rs".to_owned()));
        assert_eq!(names("~/notes/a.md"), ["/home/ann/notes/a.md"]);
        assert!(names("/etc/hosts").is_empty());
        assert!(names("pay.rs").is_empty());
    }

    #[test]
    fn directories_of_windows_have_their_separators() {
        let directories = [r"D:\Users\ann\shop".to_owned()];
        let names = other_names(r"D:\Users\ann\shop\web\app.js", &directories);
        for name in [
            r"web\app.js",
            "web/app.js",
            r"~\shop\web\app.js",
            "~/shop/web/app.js",
            "D:/Users/ann/shop/web/app.js",
            "/d/Users/ann/shop/web/app.js",
            "/mnt/d/Users/ann/shop/web/app.js",
        ] {
            assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
        }
        let of_relative = other_names("web/app.js", &directories);
        assert!(of_relative.contains(&r"D:\Users\ann\shop\web\app.js".to_owned()));
    }
}
