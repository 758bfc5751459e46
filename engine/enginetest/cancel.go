package enginetest

import "sync"

// Cancel is an engine.Cancel that a test triggers. The zero Cancel is ready; it may be used by many
// goroutines.
type Cancel struct {
	mu    sync.Mutex
	tasks map[string]chan struct{}
}

// Canceled is closed once Stop has been called for the task.
func (c *Cancel) Canceled(taskID string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.task(taskID)
}

// Stop cancels a task; a second call has no effect.
func (c *Cancel) Stop(taskID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := c.task(taskID)
	select {
	case <-ch:
	default:
		close(ch)
	}
}

func (c *Cancel) task(id string) chan struct{} {
	if c.tasks == nil {
		c.tasks = map[string]chan struct{}{}
	}
	ch, ok := c.tasks[id]
	if !ok {
		ch = make(chan struct{})
		c.tasks[id] = ch
	}
	return ch
}
