//! The resources of the executable for Windows: icon, version and manifest, compiled by windres or
//! rc.
//!
//! The build does not fail where there is neither: the program works without.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

const ICON: &str = "assets/icon/inkling.ico";
const MANIFEST: &str = "packaging/windows.d/inkling.manifest";

/// Compiles the resources and links them into every executable.
pub fn embed() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ICON}");
    println!("cargo::rerun-if-changed={MANIFEST}");
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    let source = folder.join("inkling.rc");
    std::fs::write(&source, script()?)?;
    let msvc = std::env::var("CARGO_CFG_TARGET_ENV")? == "msvc";
    let compiled = folder.join(if msvc { "inkling.res" } else { "inkling.res.o" });
    let mut compiler = if msvc {
        rc(&source, &compiled)
    } else {
        windres(&source, &compiled)?
    };
    match compiler.status() {
        Ok(status) if status.success() => {
            println!("cargo::rustc-link-arg-bins={}", compiled.display());
        }
        Ok(status) => println!(
            "cargo::warning=no icon and version: {} ended with {status}",
            compiler.get_program().display()
        ),
        Err(error) => println!(
            "cargo::warning=no icon and version: {}: {error}",
            compiler.get_program().display()
        ),
    }
    Ok(())
}

fn rc(source: &Path, compiled: &Path) -> Command {
    let mut rc = Command::new("rc.exe");
    rc.arg("/nologo").arg("/fo").arg(compiled).arg(source);
    rc
}

fn windres(source: &Path, compiled: &Path) -> Result<Command, Box<dyn Error>> {
    // On Windows it has no prefix.
    let prefix = if cfg!(windows) {
        String::new()
    } else {
        format!("{}-w64-mingw32-", std::env::var("CARGO_CFG_TARGET_ARCH")?)
    };
    let mut windres = Command::new(format!("{prefix}windres"));
    windres
        .args(["--output-format", "coff", "--codepage", "65001", "--input"])
        .arg(source)
        .arg("--output")
        .arg(compiled);
    Ok(windres)
}

/// The source that the compiler reads: 24 is a manifest, 1 its usual name, 0409 is English and 04B0
/// Unicode.
fn script() -> Result<String, Box<dyn Error>> {
    let root = std::env::var("CARGO_MANIFEST_DIR")?;
    // Backslashes begin escapes.
    let path = |file: &str| format!("{root}/{file}").replace('\\', "/");
    let variable = |name: &str| std::env::var(name);
    let version = variable("CARGO_PKG_VERSION")?;
    let numbers = ["MAJOR", "MINOR", "PATCH"]
        .map(|part| {
            variable(&format!("CARGO_PKG_VERSION_{part}")).unwrap_or_else(|_| "0".to_owned())
        })
        .join(",");
    let description = variable("CARGO_PKG_DESCRIPTION")?;
    // zig's compiler wants another line before the pragma.
    Ok(format!(
        r#"// Icon, manifest and version
#pragma code_page(65001)
1 ICON "{icon}"
1 24 "{manifest}"
1 VERSIONINFO
FILEVERSION {numbers},0
PRODUCTVERSION {numbers},0
FILEOS 0x40004L
FILETYPE 0x1L
BEGIN
  BLOCK "StringFileInfo"
  BEGIN
    BLOCK "040904B0"
    BEGIN
      VALUE "ProductName", "Inkling"
      VALUE "FileDescription", "Inkling"
      VALUE "Comments", "{description}"
      VALUE "FileVersion", "{version}"
      VALUE "ProductVersion", "{version}"
      VALUE "LegalCopyright", "MIT or Apache-2.0"
      VALUE "OriginalFilename", "inkling.exe"
    END
  END
  BLOCK "VarFileInfo"
  BEGIN
    VALUE "Translation", 0x0409, 0x04B0
  END
END
"#,
        icon = path(ICON),
        manifest = path(MANIFEST),
    ))
}
