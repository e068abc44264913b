//! Whether the person has turned animations off, by the system's setting.

/// True if the system's settings turn animations off. Blocks while they are read.
pub fn is_reduced() -> bool {
    #[cfg(windows)]
    return windows();
    #[cfg(target_os = "macos")]
    return macos();
    #[cfg(all(unix, not(target_os = "macos")))]
    return portal::settings().is_some_and(|settings| portal::reduce_motion(&settings));
}

#[cfg(windows)]
fn windows() -> bool {
    use windows_sys::Win32::UI::WindowsAndMessaging::{
        SPI_GETCLIENTAREAANIMATION, SystemParametersInfoW,
    };
    use windows_sys::core::BOOL;

    let mut animates: BOOL = 1;
    // SAFETY: with this action the function writes a BOOL to what it is given, and nothing else.
    let answered = unsafe {
        SystemParametersInfoW(SPI_GETCLIENTAREAANIMATION, 0, (&raw mut animates).cast(), 0)
    };
    answered != 0 && animates == 0
}

#[cfg(target_os = "macos")]
fn macos() -> bool {
    use objc2::rc::Retained;
    use objc2::runtime::AnyObject;
    use objc2::{class, msg_send};

    // SAFETY: the shared workspace can be asked on any thread; its property is a BOOL.
    unsafe {
        let workspace: Retained<AnyObject> = msg_send![class!(NSWorkspace), sharedWorkspace];
        msg_send![&*workspace, accessibilityDisplayShouldReduceMotion]
    }
}

/// The settings portal, which each desktop answers with its own settings, inside a sandbox as well.
#[cfg(all(unix, not(target_os = "macos")))]
pub mod portal {
    use std::collections::HashMap;
    use std::time::Duration;

    use zbus::blocking::connection::Builder;
    use zbus::zvariant::OwnedValue;

    const NAME: &str = "org.freedesktop.portal.Desktop";
    const PATH: &str = "/org/freedesktop/portal/desktop";
    const INTERFACE: &str = "org.freedesktop.portal.Settings";

    const STANDARD: &str = "org.freedesktop.appearance";
    const GNOME: &str = "org.gnome.desktop.interface";
    const KDE: &str = "org.kde.kdeglobals.KDE";

    const TIMEOUT: Duration = Duration::from_secs(5);

    /// Values by namespace and key.
    pub type Settings = HashMap<String, HashMap<String, OwnedValue>>;

    /// The settings on animations; `None` without a portal.
    pub(super) fn settings() -> Option<Settings> {
        let ask = || -> zbus::Result<Settings> {
            let connection = Builder::session()?.method_timeout(TIMEOUT).build()?;
            let wanted = [STANDARD, GNOME, KDE].as_slice();
            let answer =
                connection.call_method(Some(NAME), PATH, Some(INTERFACE), "ReadAll", &wanted)?;
            answer.body().deserialize()
        };
        ask()
            .inspect_err(|error| tracing::debug!(%error, "the portal does not tell its settings"))
            .ok()
    }

    /// True if one of these turns animations off: the standard setting, which not every desktop has
    /// yet, or the settings of GNOME and KDE.
    pub fn reduce_motion(settings: &Settings) -> bool {
        let value = |namespace, key| settings.get::<str>(namespace)?.get::<str>(key);
        let standard = value(STANDARD, "reduced-motion");
        let gnome = value(GNOME, "enable-animations");
        let kde = value(KDE, "AnimationDurationFactor");
        standard.is_some_and(|value| value.downcast_ref::<u32>() == Ok(1))
            || gnome.is_some_and(|value| value.downcast_ref::<bool>() == Ok(false))
            || kde.is_some_and(|value| {
                let factor = value.downcast_ref::<&str>().map(str::parse::<f64>);
                factor.is_ok_and(|factor| factor == Ok(0.0))
            })
    }
}
