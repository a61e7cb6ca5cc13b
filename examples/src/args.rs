//! Command-line values that examples share.

use std::convert::Infallible;

use framefence::{AdapterChoice, Size};

/// Reads `WxH`, for clap.
///
/// # Errors
///
/// Unless both are whole numbers from 1 up; the text says so to the person who typed it.
pub fn size(text: &str) -> Result<Size, String> {
    let parsed = text
        .split_once('x')
        .and_then(|(width, height)| Some(Size::new(width.parse().ok()?, height.parse().ok()?)));
    parsed
        .filter(|size| !size.is_empty())
        .ok_or_else(|| "give pixels as WxH, both from 1 up, such as 1920x1080".to_owned())
}

/// Reads an adapter's name, or `software`, for clap.
///
/// # Errors
///
/// Never: whether there is such an adapter is found out when it is opened.
pub fn adapter(text: &str) -> Result<AdapterChoice, Infallible> {
    Ok(match text {
        "software" => AdapterChoice::Software,
        name => AdapterChoice::Named(name.to_owned()),
    })
}

/// Reads a graphics API's name, for clap.
///
/// # Errors
///
/// If there is none of that name; the text says so to the person who typed it.
pub fn backend(text: &str) -> Result<wgpu::Backends, String> {
    match text {
        "vulkan" => Ok(wgpu::Backends::VULKAN),
        "dx12" => Ok(wgpu::Backends::DX12),
        "metal" => Ok(wgpu::Backends::METAL),
        "gl" => Ok(wgpu::Backends::GL),
        _ => Err("give vulkan, dx12, metal or gl".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_whole_numbers_from_1_up() {
        assert_eq!(size("1920x1080"), Ok(Size::new(1920, 1080)));
        for text in [
            "",
            "x",
            "1920",
            "0x1080",
            "1920x0",
            "-1x1",
            "1.5x2",
            "1x2x3",
            "4294967296x1",
        ] {
            assert!(size(text).is_err(), "{text:?}");
        }
    }
}
