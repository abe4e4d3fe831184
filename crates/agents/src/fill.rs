//! Places in the texts of a definition.

use std::path::Path;

/// What an agent is told of its play.
pub(crate) struct PlaySetting {
    /// The address of its model.
    pub(crate) address: String,
    /// Tokens of its window.
    pub(crate) window: u32,
    /// The request at which strategies compact.
    pub(crate) trigger: u32,
    /// The conversation's system prompt.
    pub(crate) system: String,
}

/// What the places of a definition stand for.
pub(crate) struct FillPlaces<'p> {
    pub(crate) install: &'p Path,
    pub(crate) folder: &'p Path,
    pub(crate) setting: &'p PlaySetting,
    pub(crate) model: &'p str,
    pub(crate) version: &'p str,
    /// This program.
    pub(crate) program: &'p str,
}

impl FillPlaces<'_> {
    /// A text with its places filled, each once: what is filled in is not looked at again.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            let name = rest[1..].split('}').next().unwrap_or_default();
            if let Some(value) = self.value(name) {
                filled.push_str(&value);
                rest = &rest[name.len() + 2..];
            } else {
                filled.push('{');
                rest = &rest[1..];
            }
        }
        filled + rest
    }

    fn value(&self, name: &str) -> Option<String> {
        let setting = self.setting;
        let path = |path: &Path| path.to_string_lossy().into_owned();
        Some(match name {
            "install" => path(self.install),
            "home" => path(&self.folder.join("home")),
            "work" => path(&self.folder.join("work")),
            "folder" => path(self.folder),
            "address" => setting.address.clone(),
            "url" => format!("http://{}", setting.address),
            "window" => setting.window.to_string(),
            "model" => self.model.to_owned(),
            "version" => self.version.to_owned(),
            "system" => setting.system.clone(),
            "program" => self.program.to_owned(),
            _ => {
                let divisor = name.strip_prefix("trigger/")?.parse::<f64>().ok()?;
                (f64::from(setting.trigger) / divisor).to_string()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_is_not_looked_at_again() {
        let setting = PlaySetting {
            address: "127.0.0.1:1".into(),
            window: 9,
            trigger: 9,
            system: "{window}".into(),
        };
        let places = FillPlaces {
            install: Path::new("/i"),
            folder: Path::new("/f"),
            setting: &setting,
            model: "m",
            version: "1",
            program: "/p",
        };
        assert_eq!(
            places.fill("{system} {\"w\": {window}} {trigger/2} {home} {unknown} {"),
            "{window} {\"w\": 9} 4.5 /f/home {unknown} {"
        );
    }
}
