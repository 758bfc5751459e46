// Package knowledge makes a folder of documents searchable, behind the engine's retriever port.
//
// Each folder right below the root is a dataset, by its name; documents right inside the root are
// the dataset ".". They are for everybody. A folder @ID holds datasets in the same way, which only
// the tenant ID sees ([Base.Of]). A document becomes passages ([passages], rows of a table,
// elements of JSON), which go into an index of words: SQLite with FTS5, in one file that can be
// thrown away at any time. The folder is followed while a [Base] is open: what is new, changed or
// gone in it is so in the index a moment later.
//
// Words are those of engine/offline: Latin words without common endings, pairs of characters for
// scripts without blanks. BM25 chooses the candidates. What a passage is then ordered by and held
// against the threshold with is its similarity: the share of the query's words that it holds, from
// 0 to 1, where rare words weigh more. There is no embedding model here, so
// keywords_similarity_weight changes nothing.
//
// Metadata of a document stands in a block of "key: value" lines between two "---" lines at its
// beginning, or as a JSON object in a file of the same name with ".meta.json" behind it. It can be
// filtered by, and goes with every passage; the key url becomes the address of the citation.
package knowledge
