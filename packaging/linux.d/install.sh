#!/bin/sh
# Installs @TITLE@ for the current user, without administrator rights: ./install.sh [--uninstall]
# Set PREFIX to install somewhere other than ~/.local.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=${PREFIX:-$HOME/.local}
cd "$here/files"

refresh() {
    # Optional: the program runs without these.
    update-desktop-database -q "$prefix/share/applications" 2>/dev/null || true
    update-mime-database "$prefix/share/mime" >/dev/null 2>&1 || true
    gtk-update-icon-cache -q -t "$prefix/share/icons/hicolor" 2>/dev/null || true
}

case ${1:-} in
--uninstall)
    find . -type f | while read -r file; do rm -f "$prefix/$file"; done
    refresh
    echo "@TITLE@ has been uninstalled. Your runs and settings are still in ~/.local/share/inkling and ~/.config/inkling."
    ;;
"")
    find . -type f | while read -r file; do
        mkdir -p "$prefix/$(dirname "$file")"
        # Copied and then renamed, so that a running program is not disturbed.
        cp "$file" "$prefix/$file.new"
        mv -f "$prefix/$file.new" "$prefix/$file"
    done
    # ~/.local/bin may not be on the PATH of the desktop.
    sed -i "s|^Exec=.*|Exec=\"$prefix/bin/inkling\" %F|" "$prefix/share/applications/inkling.desktop"
    refresh
    echo "@TITLE@ @VERSION@ has been installed. Open it from your desktop's menu, or run $prefix/bin/inkling."
    echo "To uninstall it, run $here/install.sh --uninstall"
    ;;
*)
    echo "usage: $0 [--uninstall]" >&2
    exit 2
    ;;
esac
