package webhook

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSignatureTimestamps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Unix()
		for offset, fits := range map[int64]bool{0: true, -300: true, 300: true, -301: false, 301: false, 1 << 61: false} {
			err := checkTimestamp("T", fmt.Sprint(at+offset), 300)
			require.Equal(t, fits, err == nil, "%d: %v", offset, err)
		}
		for _, text := range []string{"", " ", "1e9", "0x1", "-9223372036854775808", "9223372036854775807", "99999999999999999999", fmt.Sprint(at, ".5")} {
			require.Error(t, checkTimestamp("T", text, 300), text)
		}
	})
}
