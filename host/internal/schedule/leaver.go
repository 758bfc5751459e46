package schedule

import (
	"encoding/json"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Records lets package store hand the schedules of a member who leaves over to another one.
func Records() store.ScheduleRecords {
	return store.ScheduleRecords{Kind: kind, Reads: readsFor, HandOver: handOver}
}

func readsFor(doc []byte) (string, error) {
	var d document
	if err := json.Unmarshal(doc, &d); err != nil {
		return "", fmt.Errorf("schedule: %w", err)
	}
	return d.Job.Reader.User, nil
}

func handOver(doc []byte, to string) ([]byte, error) {
	var d document
	if err := json.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	d.Job.Reader = access.Reader{User: to} // each run reads the groups of the member
	return json.Marshal(d)
}
