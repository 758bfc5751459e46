//go:build !soak

package v2_test

// idleReaders is the number of readers of [TestIdleReadersCostNothing].
const idleReaders = 250
