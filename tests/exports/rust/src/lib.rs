//! Owns nothing: it stands here so that what the programs need can be built before they are
//! written.
