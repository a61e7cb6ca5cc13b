//! The author's uniforms, as WGSL declares them and as the GPU reads them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use framefence::Time;

use super::spec::Uniform;
use crate::color::PremultipliedColor;

impl Uniform {
    fn wgsl_type(&self) -> &'static str {
        match self {
            Self::Number(_) => "f32",
            Self::Pair(_) => "vec2<f32>",
            Self::Color(_) => "vec4<f32>",
        }
    }

    fn at(&self, time: Time) -> Vec<f32> {
        match self {
            Self::Number(number) => vec![number.at(time) as f32],
            Self::Pair(pair) => pair.at(time).map(|number| number as f32).to_vec(),
            Self::Color(color) => straight(color.at(time)).to_vec(),
        }
    }
}

/// The members of the structure, in the order of their names; empty if there are none.
pub(crate) fn members(uniforms: &BTreeMap<String, Uniform>) -> String {
    let mut members = String::new();
    for (name, uniform) in uniforms {
        // Writing to a string does not fail.
        let _ = write!(members, "{name}: {}, ", uniform.wgsl_type());
    }
    members
}

/// The values at `time`, laid out as WGSL lays a structure out (section 14.4.1): each member at a
/// multiple of its alignment, which is its size here.
pub(crate) fn uniform_bytes(uniforms: &BTreeMap<String, Uniform>, time: Time) -> Vec<u8> {
    let mut bytes = Vec::new();
    for uniform in uniforms.values() {
        let value = uniform.at(time);
        let value: &[u8] = bytemuck::cast_slice(&value);
        bytes.resize(bytes.len().next_multiple_of(value.len()), 0);
        bytes.extend(value);
    }
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    bytes
}

fn straight(PremultipliedColor([red, green, blue, alpha]): PremultipliedColor) -> [f32; 4] {
    let channel = |value: f64| match alpha > 0.0 {
        true => (value / alpha) as f32,
        false => 0.0,
    };
    [channel(red), channel(green), channel(blue), alpha as f32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::Color;

    #[test]
    fn members_lie_where_wgsl_looks_for_them() {
        let uniforms = BTreeMap::from([
            ("a".to_owned(), Uniform::Number(1.0.into())),
            ("b".to_owned(), Uniform::Pair([2.0, 3.0].into())),
            ("c".to_owned(), Uniform::Number(4.0.into())),
            (
                "d".to_owned(),
                Uniform::Color(Color::rgba(255, 0, 255, 51).into()),
            ),
        ]);
        assert_eq!(
            members(&uniforms),
            "a: f32, b: vec2<f32>, c: f32, d: vec4<f32>, "
        );
        let bytes = uniform_bytes(&uniforms, Time::ZERO);
        let numbers: &[f32] = bytemuck::cast_slice(&bytes);
        let expected = [1.0, 0.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.2];
        assert_eq!(numbers, expected);
        assert!(uniform_bytes(&BTreeMap::new(), Time::ZERO).is_empty());
    }
}
