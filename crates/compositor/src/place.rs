//! Places in a scene, as errors name them.

use std::fmt::{self, Display};

use crate::validate::InvalidValue;

/// Where in the scene a value stands, such as `layers[2].opacity`.
#[derive(Clone)]
pub(crate) struct Place(String);

impl Place {
    pub(crate) fn root() -> Self {
        Self(String::new())
    }

    pub(crate) fn field(&self, name: &str) -> Self {
        match self.0.as_str() {
            "" => Self(name.to_owned()),
            path => Self(format!("{path}.{name}")),
        }
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    pub(crate) fn require(
        &self,
        holds: bool,
        given: &dyn Display,
        allowed: &dyn Display,
    ) -> Result<(), InvalidValue> {
        if holds {
            return Ok(());
        }
        Err(InvalidValue {
            path: self.0.clone(),
            given: given.to_string(),
            allowed: allowed.to_string(),
        })
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
