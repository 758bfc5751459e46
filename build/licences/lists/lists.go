// Package lists holds the lists of the third-party software in what easel ships, with its licences.
// They are written by build/licences; this package is where the program has its own from.
package lists

import _ "embed"

// Program is what is in the program easel: notices, a table of the components, and the texts of
// their licences.
//
//go:embed program.txt
var Program string
