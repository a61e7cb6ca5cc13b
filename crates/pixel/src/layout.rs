/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Size {
    /// A size of `width` × `height` pixels.
    #[must_use]
    pub const fn new(width: u32, height: u32) -> Self {
        Self { width, height }
    }

    /// Whether there is no pixel in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// Where one plane lies in a frame's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaneLayout {
    /// Bytes from the start of the frame's memory to the plane's first row.
    pub offset_bytes: usize,
    /// Bytes from the start of one row to the start of the next, padding included.
    pub stride_bytes: usize,
    /// Bytes of a row that carry samples; the rest of the stride is padding of unknown content.
    pub row_bytes: usize,
    /// Samples in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl PlaneLayout {
    /// Bytes from the plane's first sample to the end of its last one.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        match self.height as usize {
            0 => 0,
            rows => self.stride_bytes * (rows - 1) + self.row_bytes,
        }
    }
}

/// One plane of an image, borrowed from the frame that owns the memory.
#[derive(Clone, Copy, Debug)]
pub struct Plane<'a> {
    /// The plane's rows, `stride_bytes` apart. The last row ends after its samples.
    pub bytes: &'a [u8],
    /// Bytes from the start of one row to the start of the next.
    pub stride_bytes: usize,
    /// Bytes of a row that carry samples.
    pub row_bytes: usize,
    /// Samples in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl<'a> Plane<'a> {
    /// The plane that `layout` describes within `memory`.
    ///
    /// # Panics
    ///
    /// If `memory` is shorter than the layout says.
    #[must_use]
    pub fn new(memory: &'a [u8], layout: &PlaneLayout) -> Self {
        let bytes = &memory[layout.offset_bytes..][..layout.len_bytes()];
        Self {
            bytes,
            stride_bytes: layout.stride_bytes,
            row_bytes: layout.row_bytes,
            width: layout.width,
            height: layout.height,
        }
    }

    /// The samples of row `y`, without padding.
    ///
    /// # Panics
    ///
    /// If `y` is not below `height`.
    #[must_use]
    pub fn row(&self, y: u32) -> &'a [u8] {
        assert!(
            y < self.height,
            "row {y} of a plane of {} rows",
            self.height
        );
        &self.bytes[y as usize * self.stride_bytes..][..self.row_bytes]
    }

    /// All rows from top to bottom, without padding.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        let plane = *self;
        (0..plane.height).map(move |y| plane.row(y))
    }
}
