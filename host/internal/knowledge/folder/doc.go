// Package folder makes a watched folder of documents into datasets, which are searched and listed
// like those of the records store and changed only by changing the files.
//
// Each folder right below the root is a dataset, by its name; documents right inside the root are
// the dataset ".". They are for every tenant. A folder @ID holds datasets in the same way, which
// only the tenant ID sees. A document is cut by the method structure, embedded when there is a
// model, and indexed by the same index as every dataset ([sqlite.Index]).
//
// A [Folder] scans its root from time to time. Documents that are new or have changed are taken in
// again and replaced in one step, documents whose files are gone are removed. The state of each
// document is stored next to the index, so that a start reads only what has changed. Both files can
// be deleted at any time.
//
// Metadata of a document stands in a block of "key: value" lines between two "---" lines at its
// beginning, or as a JSON object in a file of the same name with ".meta.json" behind it.
package folder
