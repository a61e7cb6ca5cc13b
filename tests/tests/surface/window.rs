//! A window on an X server of its own.

use std::ffi::CString;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use framefence::Size;
use raw_window_handle::{
    DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, WindowHandle,
};
use x11rb::COPY_DEPTH_FROM_PARENT;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, ImageFormat, WindowClass,
    WindowWrapper,
};
use x11rb::xcb_ffi::XCBConnection;

/// A window that is on a screen, where nothing covers it.
pub(crate) struct Window {
    id: u32,
    /// Owns the window, and with it a connection that is of no more use.
    handle: WindowWrapper<XCBConnection>,
    /// The one that the window is handled through.
    connection: XCBConnection,
    /// Last, so that it outlives both connections.
    _server: Server,
}

impl Window {
    /// A window on a server of its own.
    pub(crate) fn open(size: Size) -> Self {
        let server = Server::start();
        let (owner, screen) = XCBConnection::connect(Some(&server.name)).unwrap();
        let screen = &owner.setup().roots[screen];
        let (root, visual) = (screen.root, screen.root_visual);
        let id = owner.generate_id().unwrap();
        let created = owner.create_window(
            COPY_DEPTH_FROM_PARENT,
            id,
            root,
            0,
            0,
            size.width as u16,
            size.height as u16,
            0,
            WindowClass::INPUT_OUTPUT,
            visual,
            &CreateWindowAux::new(),
        );
        created.unwrap().check().unwrap();
        owner.map_window(id).unwrap().check().unwrap();
        let (connection, _) = XCBConnection::connect(Some(&server.name)).unwrap();
        Self {
            id,
            handle: WindowWrapper::for_window(owner, id),
            connection,
            _server: server,
        }
    }

    /// Gives the window another size, which it has when this returns.
    pub(crate) fn resize(&self, size: Size) {
        let to = ConfigureWindowAux::new()
            .width(size.width)
            .height(size.height);
        let resized = self.connection.configure_window(self.id, &to).unwrap();
        resized.check().unwrap();
    }

    /// What is seen of the window's upper left `size`, as BGRX8 without padding.
    pub(crate) fn pixels(&self, size: Size) -> Vec<u8> {
        let (width, height) = (size.width as u16, size.height as u16);
        let format = ImageFormat::Z_PIXMAP;
        let image = self
            .connection
            .get_image(format, self.id, 0, 0, width, height, u32::MAX);
        image.unwrap().reply().unwrap().data
    }
}

impl HasDisplayHandle for Window {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        self.connection.display_handle()
    }
}

impl HasWindowHandle for Window {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        self.handle.window_handle()
    }
}

/// An X server without a screen that anyone could see, and without a window manager, which would have
/// a say in a window's size. Ends when it is dropped.
struct Server {
    process: Child,
    /// What `DISPLAY` would be.
    name: CString,
}

impl Server {
    fn start() -> Self {
        let mut process = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1024x768x24"])
            .args(["-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("this test needs Xvfb");
        // It picks a number that is free, and writes it when it can be connected to.
        let mut number = String::new();
        let stdout = process.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut number).unwrap();
        assert!(!number.is_empty(), "Xvfb did not start");
        let name = CString::new(format!(":{}", number.trim())).unwrap();
        Self { process, name }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; either way nothing is left of it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
