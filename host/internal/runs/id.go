package runs

import (
	"encoding/hex"

	"github.com/google/uuid"
)

// newID names a run or its message: a UUID of version 7 as 32 hex digits. It
// begins with the time, so that rows which are written together lie together
// in the store's indexes. Random ones cost each run two more pages to write.
func newID() string {
	id := uuid.Must(uuid.NewV7()) // since Go 1.24 reading random bytes does not fail
	return hex.EncodeToString(id[:])
}
