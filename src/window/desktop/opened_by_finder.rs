//! Files opened by macOS Finder: they do not arrive as arguments but as an Apple event, also at an
//! application that is already running.
//!
//! winit does not handle this event, and AppKit answers an unhandled one with "cannot open files in
//! this format". Our handler has to be installed after AppKit's own and before the first event,
//! which is when AppKit announces that it will finish launching.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use objc2::rc::{Allocated, Retained};
use objc2::runtime::{AnyObject, NSObject};
use objc2::{ClassType, DefinedClass, class, define_class, msg_send, sel};

/// The four-letter code of an Apple event.
const fn code(letters: [u8; 4]) -> u32 {
    u32::from_be_bytes(letters)
}

define_class!(
    // SAFETY: NSObject may be inherited from, and this has no Drop.
    #[unsafe(super(NSObject))]
    #[name = "InklingOpener"]
    #[ivars = Sender<Vec<PathBuf>>]
    struct Opener;

    impl Opener {
        #[unsafe(method(willFinishLaunching:))]
        fn will_finish_launching(&self, _notification: &AnyObject) {
            // SAFETY: the method takes these types, and the selector names the method below.
            unsafe {
                let manager: Retained<AnyObject> = msg_send![class!(NSAppleEventManager), sharedAppleEventManager];
                let _: () = msg_send![&*manager, setEventHandler: self, andSelector: sel!(open:reply:),
                    forEventClass: code(*b"aevt"), andEventID: code(*b"odoc")];
            }
        }

        #[unsafe(method(open:reply:))]
        fn open(&self, event: &AnyObject, _reply: &AnyObject) {
            // The receiver is gone once the window closes.
            let _ = self.ivars().send(files(event));
        }
    }
);

fn files(event: &AnyObject) -> Vec<PathBuf> {
    // SAFETY: an event is an NSAppleEventDescriptor; its direct object is a list of such, and a
    // list of them counts from 1.
    unsafe {
        let list: Option<Retained<AnyObject>> =
            msg_send![event, paramDescriptorForKeyword: code(*b"----")];
        let Some(list) = list else { return Vec::new() };
        let count: isize = msg_send![&*list, numberOfItems];
        (1..=count)
            .filter_map(|number| file(msg_send![&*list, descriptorAtIndex: number]))
            .collect()
    }
}

fn file(descriptor: Option<Retained<AnyObject>>) -> Option<PathBuf> {
    let descriptor = descriptor?;
    // SAFETY: `fileURLValue` returns an NSURL or nothing, its `path` an NSString or nothing, whose
    // `UTF8String` lives as long as it does.
    unsafe {
        let url: Option<Retained<AnyObject>> = msg_send![&*descriptor, fileURLValue];
        let path: Option<Retained<AnyObject>> = msg_send![&*url?, path];
        let path = path?;
        let text: *const std::ffi::c_char = msg_send![&*path, UTF8String];
        let text = (!text.is_null()).then(|| std::ffi::CStr::from_ptr(text))?;
        Some(PathBuf::from(text.to_string_lossy().into_owned()))
    }
}

/// Sends the files that macOS asks to open to `files`, until the program ends. Must be called
/// before the application is launched.
pub fn send_to(files: Sender<Vec<PathBuf>>) {
    // SAFETY: the methods take these types. The observer is never freed, so it may be called at any
    // time.
    unsafe {
        let opener: Allocated<Opener> = msg_send![Opener::class(), alloc];
        let opener: Retained<Opener> = msg_send![super(opener.set_ivars(files)), init];
        let name: Retained<AnyObject> = msg_send![class!(NSString), stringWithUTF8String: c"NSApplicationWillFinishLaunchingNotification".as_ptr()];
        let center: Retained<AnyObject> = msg_send![class!(NSNotificationCenter), defaultCenter];
        let _: () = msg_send![&*center, addObserver: &*opener, selector: sel!(willFinishLaunching:), name: &*name,
            object: std::ptr::null::<AnyObject>()];
        std::mem::forget(opener);
    }
}
