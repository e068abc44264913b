//! NVIDIA's run-time libraries: which are needed, where to search for them, and how to install
//! missing ones. Does not load any.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::system::paths::Paths;

/// The environment variable for a folder to search first.
pub const FOLDER_VARIABLE: &str = "INKLING_CUDA_DIR";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    pub name: &'static str,
    /// Its source: the driver, or one of NVIDIA's packages.
    pub package: Package,
    pub file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Package {
    Driver,
    Python(&'static str),
}

/// In the order of loading: each depends only on those before it.
const LIBRARIES: [(&str, Package); 4] = if cfg!(windows) {
    [
        ("nvcuda.dll", Package::Driver),
        ("cublasLt64_13.dll", Package::Python("nvidia-cublas")),
        ("cublas64_13.dll", Package::Python("nvidia-cublas")),
        ("curand64_10.dll", Package::Python("nvidia-curand")),
    ]
} else {
    [
        ("libcuda.so.1", Package::Driver),
        ("libcublasLt.so.13", Package::Python("nvidia-cublas")),
        ("libcublas.so.13", Package::Python("nvidia-cublas")),
        ("libcurand.so.10", Package::Python("nvidia-curand")),
    ]
};

/// All libraries, each with the first file of its name in these folders.
pub fn find(folders: &[PathBuf]) -> Vec<Library> {
    let file = |name: &str| {
        folders
            .iter()
            .map(|folder| folder.join(name))
            .find(|file| file.is_file())
    };
    LIBRARIES
        .into_iter()
        .map(|(name, package)| Library {
            name,
            package,
            file: file(name),
        })
        .collect()
}

/// Which libraries are missing and how to install them, as two sentences; `None` if all were found.
pub fn missing(libraries: &[Library]) -> Option<String> {
    let absent: Vec<_> = libraries
        .iter()
        .filter(|library| library.file.is_none())
        .collect();
    let names = absent
        .iter()
        .map(|library| library.name)
        .collect::<Vec<_>>();
    if absent
        .iter()
        .any(|library| library.package == Package::Driver)
    {
        return Some(format!(
            "The NVIDIA driver is not installed ({} was not found). Install the driver your system offers.",
            names.first()?
        ));
    }
    let mut packages: Vec<_> = absent
        .iter()
        .filter_map(|library| {
            if let Package::Python(package) = library.package {
                Some(package)
            } else {
                None
            }
        })
        .collect();
    packages.dedup();
    let (names, are) = match names.as_slice() {
        [] => return None,
        [name] => ((*name).to_owned(), "is"),
        [names @ .., last] => (format!("{} and {last}", names.join(", ")), "are"),
    };
    Some(format!(
        "{names} {are} not installed. Install NVIDIA's CUDA 13 or run `pip install {}`. If they are installed in another folder, choose it under \
         Hardware in the window or set {FOLDER_VARIABLE}.",
        packages.join(" ")
    ))
}

/// Makes `program`, another process of this executable, search this folder first, if one is given.
pub fn look_in(folder: Option<&Path>, mut program: Command) -> Command {
    if let Some(folder) = folder {
        program.env(FOLDER_VARIABLE, folder);
    }
    program
}

/// The folders to search, in order: the one chosen by the user, Inkling's own, the
/// environment, the CUDA toolkit's, pip's, and the system's.
pub fn folders() -> Vec<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let listed = |name: &str| {
        std::env::var_os(name)
            .map(|list| std::env::split_paths(&list).collect::<Vec<_>>())
            .unwrap_or_default()
    };
    let mut folders: Vec<PathBuf> = variable(FOLDER_VARIABLE)
        .into_iter()
        .chain([Paths::find().cuda])
        .collect();
    folders.extend(listed(if cfg!(windows) {
        "PATH"
    } else {
        "LD_LIBRARY_PATH"
    }));
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable);
    for root in toolkits.chain(installed_toolkits()) {
        folders.extend(
            ["lib64", "lib", "bin", "targets/x86_64-linux/lib", "bin/x64"]
                .map(|name| root.join(name)),
        );
    }
    folders.extend(python_packages(&variable));
    if cfg!(not(windows)) {
        let system = [
            "/usr/lib/x86_64-linux-gnu",
            "/usr/lib/aarch64-linux-gnu",
            "/usr/lib64",
            "/lib64",
            "/usr/lib",
            "/usr/lib/wsl/lib",
        ];
        folders.extend(system.map(PathBuf::from));
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

/// Toolkits in the default folders of NVIDIA's installers, the newest first.
fn installed_toolkits() -> Vec<PathBuf> {
    if cfg!(windows) {
        return within(
            Path::new("C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA"),
            "v13",
        );
    }
    let mut roots = vec![PathBuf::from("/usr/local/cuda"), PathBuf::from("/opt/cuda")];
    roots.extend(within(Path::new("/usr/local"), "cuda-13"));
    roots
}

/// The library folders of NVIDIA's Python packages: in the active environment, the user's site, and
/// the system's.
fn python_packages(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(variable);
    let mut roots: Vec<PathBuf> = environments.collect();
    if cfg!(windows) {
        roots.extend(
            variable("APPDATA")
                .iter()
                .flat_map(|home| within(&home.join("Python"), "Python3")),
        );
        roots.extend(
            variable("LOCALAPPDATA")
                .iter()
                .flat_map(|home| within(&home.join("Programs/Python"), "Python3")),
        );
        roots.extend(
            ["C:/Program Files", "C:/"]
                .iter()
                .flat_map(|folder| within(Path::new(folder), "Python3")),
        );
    } else {
        roots.extend(variable("HOME").map(|home| home.join(".local")));
        roots.extend(["/usr/local", "/usr"].map(PathBuf::from));
    }
    let mut libraries = Vec::new();
    for root in roots {
        let mut sites: Vec<PathBuf> = within(&root.join("lib"), "python3");
        // On Windows there is no version in between, and a user's own packages are in the folder
        // itself.
        sites.extend([root.join("Lib"), root.clone()]);
        for site in sites {
            for packages in ["site-packages", "dist-packages"] {
                for package in within(&site.join(packages).join("nvidia"), "") {
                    libraries.extend(["lib", "bin", "bin/x86_64"].map(|name| package.join(name)));
                }
            }
        }
    }
    libraries
}

/// Folders in `root` whose names start with `prefix`, in descending order.
fn within(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}
