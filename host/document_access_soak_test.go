//go:build soak

package host

// accessRounds is the number of rounds of [TestDocumentAccess].
const accessRounds = 10_000
