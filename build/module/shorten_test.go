package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Encoded instructions for tests.
const (
	get1   = "\x20\x01"
	end    = "\x0b"
	load5  = "\x29\x03\x05" // i64.load align 8, offset 5
	store5 = "\x37\x03\x05"
)

func TestShortenFunctions(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"an address on the stack", get1 + "\xad\x42\x10\x7c\xa7" + load5 + end, get1 + "\x29\x03\x15" + end},
		{
			"an address below a value", get1 + "\x41\x10\x6a" + get1 + "\x28\x02\x00\xad" + store5 + end,
			get1 + get1 + "\x28\x02\x00\xad\x37\x03\x15" + end,
		},
		{"a pointer and an offset", "\x20\x02\x42\x10\x7c\xa7" + load5 + end, "\x20\x02\xa7\x29\x03\x15" + end},
		{"a negative offset is unchanged", get1 + "\x41\x70\x6a" + load5 + end, get1 + "\x41\x70\x6a" + load5 + end},
		{"an address that is a value", get1 + "\x41\x10\x6a\x21\x02" + end, get1 + "\x41\x10\x6a\x21\x02" + end},
		{
			"an address across a call", get1 + "\x41\x10\x6a\x10\x05" + load5 + end,
			get1 + "\x41\x10\x6a\x10\x05" + load5 + end,
		},
		{
			"an address that is stored", get1 + get1 + "\x41\x10\x6a" + "\x36\x02\x00" + end,
			get1 + get1 + "\x41\x10\x6a" + "\x36\x02\x00" + end,
		},
		{"the low half of a 64-bit load", get1 + load5 + "\xa7" + end, get1 + "\x28\x02\x05" + end},
		{"a negated comparison", get1 + get1 + "\x51\x45" + end, get1 + get1 + "\x52" + end},
		{"a negated float comparison is unchanged", get1 + get1 + "\x63\x45" + end, get1 + get1 + "\x63\x45" + end},
		{"write and read", "\x21\x03\x20\x03" + end, "\x22\x03" + end},
		{"write one and read another", "\x21\x03\x20\x04" + end, "\x21\x03\x20\x04" + end},
		{"nops", "\x01\x01" + end, end},
		{"return", "\x22\x01\x24\x00\x41\x00\x0f" + end, "\x24\x00\x41\x00\x0f" + end},
		{
			"a call", "\x22\x01\x24\x00\x20\x01\x42\x07\x37\x03\x00\x41\x00\x10\x09\x23\x00\x21\x01" + end,
			"\x24\x00\x23\x00\x42\x07\x37\x03\x00\x41\x00\x10\x09\x23\x00\x21\x01" + end,
		},
		{
			"a rare call", "\x04\x40" + get1 + "\x41\x08\x6b\x24\x00\x23\x00\x42\x07\x37\x03\x00\x41\x00\x10\x09\x0f" +
				end + end,
			"\x04\x40" + get1 + "\x42\x07\x10\xac\x02\x41\x00\x10\x09\x0f" + end + end,
		},
		{
			"a frame is not a return address", "\x04\x40" + get1 + "\x41\x10\x6b\x24\x00\x23\x00\x42\x07\x37\x03\x00" +
				end + end,
			"\x04\x40" + get1 + "\x41\x10\x6b\x24\x00\x23\x00\x42\x07\x37\x03\x00" + end + end,
		},
	} {
		got, err := shorten([]byte("\x00"+c.body), 300)
		require.NoError(t, err, c.name)
		require.Equal(t, []byte("\x00"+c.want), got, c.name)
	}
}

// TestJumpAhead uses a function of three blocks: loop block block block (table) end A end B end C.
func TestJumpAhead(t *testing.T) {
	head := "\x03\x40" + "\x02\x40\x02\x40\x02\x40" + "\x20\x00\x0e\x04\x00\x01\x02\x02\x02" + end
	short := "\x03\x40" + "\x02\x40\x02\x40\x02\x40" + "\x20\x00\x0e\x02\x00\x01\x02" + end
	to := func(block, depth string) string { return "\x41" + block + "\x21\x00\x0c" + depth }
	for _, c := range []struct{ name, body, want string }{
		{"forward", head + to("\x02", "\x02") + end + end + end + end, short + "\x0c\x01" + end + end + end + end},
		{
			"conditional forward", head + "\x20\x05\x04\x40" + to("\x01", "\x03") + end + end + end + end + end,
			short + "\x20\x05\x0d\x00" + end + end + end + end,
		},
		{"back", head + end + to("\x00", "\x01") + end + end + end, short + end + to("\x00", "\x01") + end + end + end},
		{
			"a jump to another target", head + to("\x02", "\x01") + end + end + end + end,
			short + to("\x02", "\x01") + end + end + end + end,
		},
		{
			"the number is read elsewhere", head + "\x20\x00\x1a" + to("\x02", "\x02") + end + end + end + end,
			head + "\x20\x00\x1a" + to("\x02", "\x02") + end + end + end + end,
		},
	} {
		got, err := shorten([]byte("\x00"+c.body), 300)
		require.NoError(t, err, c.name)
		require.Equal(t, []byte("\x00"+c.want), got, c.name)
	}
}

func TestShortenRejectsUnknownInstructions(t *testing.T) {
	for _, body := range []string{
		"", "\x01", "\x00", "\x00\xfb\x00", "\x00\x41", "\x00\x41\x80", "\x00\x0e\x05\x00",
		"\x00\x02", "\x00\x44\x00", "\x00\xfc\x20", "\x00\x28\x02",
	} {
		_, err := shorten([]byte(body), 300)
		require.ErrorIs(t, err, errShape, "%q", body)
	}
}
