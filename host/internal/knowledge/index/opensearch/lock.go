package opensearch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// lockTime is the time after which a lock that is not renewed expires; the clocks of hosts may
	// differ by a part of it.
	lockTime = 30 * time.Second
	// lockPoll is the interval at which a waiting host retries.
	lockPoll = 200 * time.Millisecond
)

// lock is the row of a lock.
type lock struct {
	Holder string `json:"holder"`
	Until  int64  `json:"until"` // Unix milliseconds
}

// Lock implements [index.Shared]. A lock is a row that its holder renews.
func (x *Index) Lock(ctx context.Context, name string) (release func(), err error) {
	l := &held{
		Index: x, path: "/" + x.prefix + "-locks/_doc/" + url.PathEscape(name),
		holder: strings.ReplaceAll(uuid.NewString(), "-", ""),
	}
	for {
		ok, err := l.take(ctx)
		if err != nil {
			return nil, fmt.Errorf("index: lock %q: %w", name, err)
		}
		if ok {
			break
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return nil, fmt.Errorf("index: lock %q: %w", name, context.Cause(ctx))
		}
	}
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() { l.renew(renewing) })
	return func() {
		stop()
		work.Wait()
		// A lock that cannot be deleted ends by itself.
		_ = l.client.do(context.WithoutCancel(ctx), http.MethodDelete, l.path+l.condition(), nil, nil)
	}, nil
}

// held is a lock with the version of its row.
type held struct {
	*Index
	path, holder string
	seq, term    int64
}

// condition lets a request succeed only while the row is the one that was seen last.
func (l *held) condition() string {
	return fmt.Sprintf("?if_seq_no=%d&if_primary_term=%d", l.seq, l.term)
}

// rowVersion is a row with its version on the server.
type rowVersion struct {
	Seq    int64           `json:"_seq_no"`
	Term   int64           `json:"_primary_term"`
	Source json.RawMessage `json:"_source"`
}

func (l *held) row() lock { return lock{l.holder, time.Now().Add(lockTime).UnixMilli()} }

// take makes the row, or takes over one that has ended.
func (l *held) take(ctx context.Context) (bool, error) {
	var v rowVersion
	err := l.client.do(ctx, http.MethodPut, l.path+"?op_type=create", l.row(), &v)
	if err == nil {
		l.seq, l.term = v.Seq, v.Term
		return true, nil
	}
	if !isStatus(err, http.StatusConflict) {
		return false, err
	}
	err = l.client.do(ctx, http.MethodGet, l.path, nil, &v)
	if isStatus(err, http.StatusNotFound) {
		return false, nil // released in between
	}
	if err != nil {
		return false, err
	}
	var now lock
	if err := json.Unmarshal(v.Source, &now); err != nil {
		return false, err
	}
	if time.Now().UnixMilli() < now.Until {
		return false, nil
	}
	l.seq, l.term = v.Seq, v.Term
	return l.put(ctx)
}

// put writes the row; false means that another host has it.
func (l *held) put(ctx context.Context) (bool, error) {
	var v rowVersion
	err := l.client.do(ctx, http.MethodPut, l.path+l.condition(), l.row(), &v)
	if isStatus(err, http.StatusConflict) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l.seq, l.term = v.Seq, v.Term
	return true, nil
}

// renew renews the lock until ctx ends or it is lost.
func (l *held) renew(ctx context.Context) {
	for {
		select {
		case <-time.After(lockTime / 6):
		case <-ctx.Done():
			return
		}
		if ok, err := l.put(ctx); err == nil && !ok {
			return
		}
	}
}
