//! Files and folders, read and written so that neither a fault nor a hostile file does harm.
//!
//! | to | call |
//! |---|---|
//! | write a file, whole or not at all | [`write_whole`], [`write_whole_with`] |
//! | write one that may be a symbolic link, such as the settings | [`write_through_links`] |
//! | write several in one folder, all or none | [`write_group`] |
//! | know whether a path can be written to | [`check_target`], and `system::targets` for what exists |
//! | write a folder, whole or not at all | [`TemporaryFolder`] |
//! | make a folder that is there after a power cut | [`create_folder`], or [`sync_folder`] after it was made |
//! | read a file that may be anything | [`open_regular`], [`read_limited`] |
//! | open a file to lock it, or to add to it | [`open_lock`], [`open_append`], [`open_append_private`] |
//! | write for nobody but the user to read | [`keep_new_files_private`] |
//! | delete what killed processes left behind | [`remove_leftovers`] |
//!
//! Whatever is being written is called `.inkling-` and six letters or digits, beside its target,
//! and locked as long as its process lives.

mod group;
mod read;
mod temporary;
mod write;

pub use group::write_group;
pub use read::{
    is_plain_name, open_append, open_append_private, open_lock, open_regular, read_limited,
};
pub use temporary::{TemporaryFolder, remove_leftovers};
pub use write::{
    check_target, create_folder, folder_of, keep_new_files_private, sync_folder,
    write_through_links, write_whole, write_whole_with,
};
