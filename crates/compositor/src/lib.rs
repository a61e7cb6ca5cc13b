//! Scenes as data, drawn by a framefence Painter.
