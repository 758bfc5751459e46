package walguard

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// step is a state of the files after a commit or a checkpoint, in which everything is on the disk
// that the step has synced.
type step struct {
	files
	rows       int // acknowledged
	checkpoint bool
}

// record works on a database and returns its states.
func recordSteps(t *testing.T, opt Options, count int) []step {
	d := open(t, filepath.Join(t.TempDir(), "x.db"), opt)
	steps := []step{{files: d.files()}}
	for range count {
		if rand.N(6) == 0 {
			d.rollBack()
		}
		d.commit(rand.N(12_000))
		steps = append(steps, step{files: d.files(), rows: d.rows})
		if d.guard.Due() {
			require.NoError(t, d.checkpoint(false))
			steps = append(steps, step{files: d.files(), rows: d.rows, checkpoint: true})
		}
	}
	return steps
}

// torn returns a file of which some sectors have the contents after and the others those before.
func torn(before, after []byte) []byte {
	size := len(before) + rand.N(max(0, len(after)-len(before))+1)
	out := make([]byte, size)
	copy(out, before)
	part := rand.Float64()
	for at := 0; at < size; at += 512 {
		if rand.Float64() < part {
			end := min(at+512, size)
			clear(out[at:end])
			if at < len(after) {
				copy(out[at:end], after[at:])
			}
		}
	}
	return out
}

// slotsOf returns a check file whose records are of other versions of the file.
func slotsOf(check []byte, versions []step) []byte {
	out := bytes.Clone(check)
	for i := range slots {
		copy(out[i*slotSize:(i+1)*slotSize], versions[rand.N(len(versions))].check[i*slotSize:])
	}
	return out
}

// A power loss at any moment, which leaves sectors of what was not synced in any order, raises no
// alarm and loses nothing that was acknowledged.
func TestPowerLossRaisesNoAlarm(t *testing.T) {
	steps := recordSteps(t, durableOptions, 40)
	synced := 0 // the last step that has synced the check file
	for i := 1; i < len(steps); i++ {
		before, after := steps[i-1], steps[i]
		for range 3 {
			cut := files{main: before.main, wal: before.wal}
			switch {
			case after.checkpoint:
				cut.main = torn(before.main, after.main)
				cut.check = torn(before.check, after.check)
			case len(before.wal) < walHeader || bytes.Equal(before.wal[:walHeader], after.wal[:walHeader]):
				cut.wal = torn(before.wal, after.wal)
				cut.check = before.check
			case rand.N(4) == 0:
				cut.check = before.check // not yet started again
			default:
				// The head of a WAL that is started again is synced before its frames.
				cut.wal = torn(before.wal, after.wal)
				copy(cut.wal, after.wal[:walHeader])
				cut.check = before.check
			}
			cut.check = slotsOf(cut.check, steps[synced:i])
			cut.requireRows(t, durableOptions, before.rows)
		}
		if after.checkpoint {
			synced = i - 1 // its record is written after the sync
		}
	}
}

// Without syncs a power loss may take acknowledged commits, which is logged, but not those before
// the last checkpoint.
func TestPowerLossWithoutSync(t *testing.T) {
	opt := durableOptions
	opt.Durable = false
	steps := recordSteps(t, opt, 40)
	checkpoint := 0
	for i := 1; i < len(steps); i++ {
		after := steps[i]
		if after.checkpoint {
			checkpoint = i
			continue
		}
		base := steps[checkpoint]
		for range 2 {
			cut := files{main: base.main, wal: torn(base.wal, after.wal)}
			if len(cut.wal) >= walHeader {
				copy(cut.wal, after.wal[:walHeader])
			}
			cut.check = slotsOf(after.check, steps[max(0, checkpoint-1):i+1])
			cut.requireRows(t, opt, base.rows)
		}
	}
}
