package encoder

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A batch waits for the questions that were before it. With one after the other, as on a busy host,
// it would wait for good, and documents would never be embedded.
func TestBatchWaitsForEarlierQuestionsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		beginQuestion()
		beginQuestion()
		ran := make(chan bool, 1)
		go func() { ran <- turn(t.Context()) }()
		synctest.Wait()
		require.Empty(t, ran)
		beginQuestion()
		endQuestion()
		synctest.Wait()
		require.Empty(t, ran, "one of two has ended")
		beginQuestion()
		endQuestion()
		defer endQuestion()
		defer endQuestion()
		select {
		case ok := <-ran:
			require.True(t, ok)
			<-turns
		case <-time.After(time.Minute):
			t.Fatal("the batch waits for later questions")
		}
	})
}
