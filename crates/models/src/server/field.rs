//! A request's body, read field by field: what is wrong names its place, as the errors of OpenAI
//! and Anthropic do.

use serde_json::Value;

use super::trouble::ServerTrouble;

/// A value of the body and its place there, as errors show it. A value that is missing is null.
pub(super) struct RequestField<'v> {
    pub(super) value: &'v Value,
    pub(super) place: String,
}

impl<'v> RequestField<'v> {
    pub(super) fn get(&self, key: &str) -> RequestField<'v> {
        let place = if self.place.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.place)
        };
        RequestField {
            value: self.value.get(key).unwrap_or(&Value::Null),
            place,
        }
    }

    pub(super) fn is_given(&self) -> bool {
        !self.value.is_null()
    }

    pub(super) fn items(&self) -> Result<impl Iterator<Item = RequestField<'v>>, ServerTrouble> {
        let items = self
            .value
            .as_array()
            .ok_or_else(|| self.wrong("must be a list"))?;
        Ok(items.iter().enumerate().map(|(at, value)| RequestField {
            value,
            place: format!("{}[{at}]", self.place),
        }))
    }

    /// A string that must be there.
    pub(super) fn text(&self) -> Result<&'v str, ServerTrouble> {
        self.required()?
            .value
            .as_str()
            .ok_or_else(|| self.wrong("must be a string"))
    }

    pub(super) fn required(&self) -> Result<&Self, ServerTrouble> {
        if self.is_given() {
            Ok(self)
        } else {
            Err(self.wrong("is missing"))
        }
    }

    pub(super) fn flag(&self) -> Result<bool, ServerTrouble> {
        let flag = if self.is_given() {
            self.value.as_bool()
        } else {
            Some(false)
        };
        flag.ok_or_else(|| self.wrong("must be true or false"))
    }

    pub(super) fn number<N>(
        &self,
        read: fn(&Value) -> Option<N>,
        expected: &str,
    ) -> Result<Option<N>, ServerTrouble> {
        let wrong = || self.wrong(&format!("is `{}`; it must be {expected}", self.value));
        self.is_given()
            .then(|| read(self.value).ok_or_else(wrong))
            .transpose()
    }

    pub(super) fn wrong(&self, how: &str) -> ServerTrouble {
        self.trouble(format!("`{}` {how}", self.place))
    }

    pub(super) fn trouble(&self, message: impl Into<String>) -> ServerTrouble {
        ServerTrouble::invalid(&self.place, message)
    }
}
