// Package backup writes the state of a host to an archive and restores it.
//
// An archive is a zip with these entries:
//
//	easel.json          description: {"easel": "backup", "format": 1, "created", "version"}
//	secret.key          key of the sealed secrets; missing if it is stored outside the archive
//	records.jsonl       all records at one point in time, as written by store.Dump
//	files/TENANT/ID     uploaded files
//	plugins/...         installed plugins with their approvals, without compiled code
//
// A restore skips all other entries, such as compiled plugins. It checks the whole archive before
// it changes anything: names, types and sizes of entries, the format of the records, the digests
// and signatures of plugins.
//
// The records are read in one transaction, so an archive of a running host is consistent. Files
// never change after they are written; a file uploaded after the transaction is in the archive
// without a record, and one deleted after the transaction is missing, as if it had been deleted
// after the restore. Active runs are not archived: after a restore they have failed and their
// sessions accept new runs.
//
// An archive contains conversations, and with the key every secret: protect it like the host.
package backup
