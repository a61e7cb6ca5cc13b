use framefence_pixel::Size;

/// A rectangle of a frame, in pixels from its top left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// Columns to the left of it.
    pub x: u32,
    /// Rows above it.
    pub y: u32,
    /// Its width and height.
    pub size: Size,
}

impl Region {
    /// All of a frame of `size`.
    #[must_use]
    pub const fn whole(size: Size) -> Self {
        Self { x: 0, y: 0, size }
    }

    /// Whether it has a pixel and lies within a frame of `size`.
    #[must_use]
    pub fn is_within(self, size: Size) -> bool {
        let ends_within = |start: u32, length: u32, end: u32| {
            start
                .checked_add(length)
                .is_some_and(|reached| reached <= end)
        };
        !self.size.is_empty()
            && ends_within(self.x, self.size.width, size.width)
            && ends_within(self.y, self.size.height, size.height)
    }
}

impl std::fmt::Display for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {},{}", self.size, self.x, self.y)
    }
}
