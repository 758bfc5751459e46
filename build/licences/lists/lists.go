// Package lists embeds the lists of third-party software in the files that easel ships, with the
// licences. build/licences generates them; the easel program reads its own list from here.
package lists

import _ "embed"

// Program lists the third-party software in the easel program: notices, a table of the components,
// and the texts of their licences.
//
//go:embed program.txt
var Program string
