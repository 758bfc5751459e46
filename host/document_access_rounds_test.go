//go:build !soak

package host

// accessRounds is the number of rounds of [TestDocumentAccess]; with the tag soak it is larger.
const accessRounds = 400
