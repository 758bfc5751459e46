package wattest

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Test guests contain their requests as data. A placeholder of a secret in them needs the mark of
// the call, which is known only at run time.

// MarkRoom is the placeholder for the mark of the call.
var MarkRoom = strings.Repeat("@", 32)

// MarkFunc returns the text of a function $mark (param i32), which copies the secret_mark from the
// input message at address input, of at most 16 KiB, to the address in its parameter.
func MarkFunc(input int) string {
	return fmt.Sprintf(`(func $mark (param $to i32) (local $i i32)
		loop $l
			local.get $i i64.load offset=%d i64.const %d i64.eq
			if
				local.get $to local.get $i i64.load offset=%d i64.store
				local.get $to local.get $i i64.load offset=%d i64.store offset=8
				local.get $to local.get $i i64.load offset=%d i64.store offset=16
				local.get $to local.get $i i64.load offset=%d i64.store offset=24
				return
			end
			local.get $i i32.const 1 i32.add local.tee $i i32.const 16384 i32.lt_u br_if $l
		end)
`, input, int64(binary.LittleEndian.Uint64([]byte(`_mark":"`))), input+8, input+16, input+24, input+32)
}

// FillMarks returns the code that writes the mark of the call over each MarkRoom in text, which is
// at address at.
func FillMarks(text string, at int) string {
	var code strings.Builder
	for from := 0; ; from += len(MarkRoom) {
		i := strings.Index(text[from:], MarkRoom)
		if i < 0 {
			return code.String()
		}
		from += i
		fmt.Fprintf(&code, "i32.const %d call $mark\n", at+from)
	}
}
