"""Owns the fast path to the X server: what a rectangle looks like and one pointer motion, each in well under a millisecond, so
that what is timed is the program and not the tool. Must not know the program."""

import ctypes
import ctypes.util
import select
import time

_x11 = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
_xdamage = ctypes.CDLL(ctypes.util.find_library("Xdamage") or "libXdamage.so.1")
_xtst = ctypes.CDLL(ctypes.util.find_library("Xtst") or "libXtst.so.6")
_x11.XOpenDisplay.restype = ctypes.c_void_p
_x11.XDefaultRootWindow.restype = ctypes.c_ulong
_x11.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
_x11.XGetImage.restype = ctypes.c_void_p
_x11.XGetImage.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_int, ctypes.c_uint, ctypes.c_uint,
                           ctypes.c_ulong, ctypes.c_int]
_x11.XDestroyImage.argtypes = [ctypes.c_void_p]
_x11.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]
_x11.XConnectionNumber.argtypes = [ctypes.c_void_p]
_x11.XNextEvent.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
_x11.XPending.argtypes = [ctypes.c_void_p]
_xdamage.XDamageQueryExtension.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int)]
_xdamage.XDamageCreate.restype = ctypes.c_ulong
_xdamage.XDamageCreate.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int]
_xdamage.XDamageSubtract.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong]
_xtst.XTestFakeMotionEvent.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_ulong]
_xtst.XTestFakeButtonEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]

_Z_PIXMAP = 2
_DAMAGE_REPORT_NON_EMPTY = 3


class _Image(ctypes.Structure):
    """The beginning of Xlib's XImage, as far as it is read here."""

    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int), ("xoffset", ctypes.c_int), ("format", ctypes.c_int),
                ("data", ctypes.c_void_p), ("byte_order", ctypes.c_int), ("bitmap_unit", ctypes.c_int),
                ("bitmap_bit_order", ctypes.c_int), ("bitmap_pad", ctypes.c_int), ("depth", ctypes.c_int),
                ("bytes_per_line", ctypes.c_int)]


class Screen:
    """The display of this session."""

    def __init__(self):
        self.display = _x11.XOpenDisplay(None)
        if not self.display:
            raise RuntimeError("no X display")
        self.root = _x11.XDefaultRootWindow(self.display)
        if not _xdamage.XDamageQueryExtension(self.display, ctypes.byref(ctypes.c_int()), ctypes.byref(ctypes.c_int())):
            raise RuntimeError("the X server does not report what is painted")
        self.damage = _xdamage.XDamageCreate(self.display, self.root, _DAMAGE_REPORT_NON_EMPTY)

    def pixels(self, x, y, width=1, height=1):
        """What a rectangle looks like, as bytes that are equal where its pixels are."""
        image = _x11.XGetImage(self.display, self.root, int(x), int(y), width, height, 0xFFFFFFFF, _Z_PIXMAP)
        if not image:
            raise RuntimeError(f"no pixel at {x}, {y}")
        content = _Image.from_address(image)
        looks = ctypes.string_at(content.data, content.bytes_per_line * content.height)
        _x11.XDestroyImage(image)
        return looks

    def move(self, x, y):
        """Moves the pointer, now."""
        _xtst.XTestFakeMotionEvent(self.display, -1, int(x), int(y), 0)
        _x11.XSync(self.display, 0)

    def button(self, down):
        """Presses or releases the first button, now."""
        _xtst.XTestFakeButtonEvent(self.display, 1, int(down), 0)
        _x11.XSync(self.display, 0)

    def until_changed(self, x, y, before, width=1, height=1, seconds=2.0):
        """Seconds until a rectangle looks different; the limit if it never does."""
        start = time.perf_counter()
        while (waited := time.perf_counter() - start) < seconds:
            self._wait_for_paint(seconds - waited)
            if self.pixels(x, y, width, height) != before:
                return time.perf_counter() - start
        return seconds

    def _wait_for_paint(self, seconds):
        """Sleeps until something was painted since the last call, at most so long: looking at the pixels again and again
        would take the processor away from the program."""
        if not _x11.XPending(self.display):
            select.select([_x11.XConnectionNumber(self.display)], [], [], seconds)
        event = ctypes.create_string_buffer(192)  # an XEvent
        while _x11.XPending(self.display):
            _x11.XNextEvent(self.display, event)
        _xdamage.XDamageSubtract(self.display, self.damage, 0, 0)
