#!/bin/sh
# Installs @TITLE@ for the person who runs this, without administrator: ./install.sh [--uninstall]
# PREFIX names another place than ~/.local.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=${PREFIX:-$HOME/.local}
cd "$here/files"

refresh() {
    # None of these is needed for the program to run.
    update-desktop-database -q "$prefix/share/applications" 2>/dev/null || true
    update-mime-database "$prefix/share/mime" >/dev/null 2>&1 || true
    gtk-update-icon-cache -q -t "$prefix/share/icons/hicolor" 2>/dev/null || true
}

case ${1:-} in
--uninstall)
    find . -type f | while read -r file; do rm -f "$prefix/$file"; done
    refresh
    echo "@TITLE@ is uninstalled. Your runs and settings are still in ~/.local/share/inkling and ~/.config/inkling."
    ;;
"")
    find . -type f | while read -r file; do
        mkdir -p "$prefix/$(dirname "$file")"
        # Beside it and then in its place: a program that runs goes on running.
        cp "$file" "$prefix/$file.new"
        mv -f "$prefix/$file.new" "$prefix/$file"
    done
    # A desktop may not have ~/.local/bin on its path.
    sed -i "s|^Exec=.*|Exec=\"$prefix/bin/inkling\" %F|" "$prefix/share/applications/inkling.desktop"
    refresh
    echo "@TITLE@ @VERSION@ is installed: choose it in your desktop's menu, or type $prefix/bin/inkling."
    echo "To remove it: $here/install.sh --uninstall"
    ;;
*)
    echo "usage: $0 [--uninstall]" >&2
    exit 2
    ;;
esac
