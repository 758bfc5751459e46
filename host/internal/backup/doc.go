// Package backup writes everything that a host keeps into one archive, and reads it back.
//
// An archive is a zip with these entries:
//
//	easel.json          what this is: {"easel": "backup", "format": 1, "created", "version"}
//	secret.key          the key that opens the sealed secrets; left out when it is kept elsewhere
//	records.jsonl       all records as of one moment, as store.Dump writes them
//	files/TENANT/ID     uploaded files
//	plugins/...         installed plugins with what was approved, without compiled code
//
// Other entries, compiled plugins among them, are left out by a restore, which checks everything
// before it changes anything: names, kinds and sizes of entries, the form of the records, the
// digests and signatures of plugins.
//
// The records are read in one transaction, so an archive made while the host works is consistent.
// Files are written once and never change; those that come later than the records are in the
// archive without being known, those that go meanwhile are missing and known, as if they had been
// deleted after the restore. Runs under way are not part of an archive: after a restore they count
// as failed, and their sessions are free.
//
// An archive holds conversations, and with the key every secret: keep it as safe as the host.
package backup
