// Package walguard detects that a SQLite database in WAL mode has lost acknowledged commits or that
// its pages were changed on the disk.
//
// SQLite recovers a WAL up to the first frame whose checksum does not match and serves what is left
// without an error. A changed byte therefore drops that commit and all later ones silently, and a
// missing, emptied or exchanged WAL drops all of them. Pages of the database file have no checksums
// at all.
//
// A [Guard] writes a file next to the database, NAME-check, with three parts:
//
//   - a record of the last acknowledged commit: the salts, the number of frames and the running
//     checksum of the WAL. [Guard.Acknowledge] writes it after the commit and before the caller
//     gets its result. It is not synced, so after a power loss it is at most as new as the WAL,
//     which is.
//   - a journal of the acknowledged frames: their pages and checksums. Without the WAL it shows
//     whether another SQLite program has copied the frames to the database file, or they are lost.
//   - a CRC-32C of each page of the database file. [Guard.Checkpoint] writes those of the pages in
//     the WAL, and syncs them, before SQLite copies these pages. The caller therefore has to run
//     all checkpoints through it and to switch SQLite's automatic ones off.
//
// [Open] compares both with the files before SQLite opens them, and returns a [Loss] unless the
// WAL, or the database file when the WAL has been copied into it, has at least what was
// acknowledged.
//
// Other SQLite programs may read, write and copy the WAL. When one has, pages without a matching
// checksum are accepted with a warning, and [Guard.Unproven] requires the caller to check the
// database.
//
// What SQLite itself may leave behind is accepted: a torn or reordered tail of a commit that was
// not acknowledged, frames of transactions that were rolled back, a WAL that was started again.
// Two faults at once may go unnoticed: damage in the newest commits after a power loss that also
// lost the newest record.
//
// Several processes may use one database. Each locks the check file while it reads the state of the
// WAL and writes the record.
package walguard
