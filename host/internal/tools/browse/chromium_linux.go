package browse

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// chromium renders pages in a separate process, whose only access to the network is the proxy.
type chromium struct {
	*devtools
	ctx     context.Context
	fail    context.CancelCauseFunc
	command *exec.Cmd
	proxy   *proxy
	folder  string // profile, home and temporary files
	pipes   []*os.File
	session string        // of the protocol
	sites   *Session      // takes the cookies at the end
	uploads uploads       // that forms may send
	said    tail          // what the program wrote last
	ended   chan struct{} // closed when the program has ended
}

// flags start a browser without direct network access, state and background work.
func flags(folder, proxy string) []string {
	list := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + folder,
		"--proxy-server=http://" + proxy, "--proxy-bypass-list=<-loopback>",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-quic",
		"--no-first-run", "--no-default-browser-check", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-default-apps",
		"--disable-domain-reliability", "--disable-breakpad", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-features=MediaRouter,OptimizationHints,Translate,AutofillServerCommunication",
		"--mute-audio", "--hide-scrollbars", "--window-size=1280,1600", "--js-flags=--max-old-space-size=256",
	}
	if os.Geteuid() == 0 {
		// Chromium's own sandbox refuses to work for root; run the host as another user.
		list = append(list, "--no-sandbox")
	}
	return append(list, "about:blank")
}

// startChromium starts the program and waits until it has a page.
func startChromium(
	ctx context.Context, program string, network Network, sites *Session, files uploads,
) (_ opener, err error) {
	ctx, fail := context.WithCancelCause(ctx)
	c := &chromium{ctx: ctx, fail: fail, ended: make(chan struct{}), sites: sites, uploads: files}
	defer func() {
		if err != nil {
			err = fmt.Errorf("start %s: %w%s", program, errors.Join(err, c.Close()), c.said.text())
		}
	}()
	if c.folder, err = os.MkdirTemp("", "easel-browser-"); err != nil {
		return nil, err
	}
	if c.proxy, err = startProxy(ctx, network, mostTraffic, fail); err != nil {
		return nil, err
	}
	if err := c.start(program); err != nil {
		return nil, err
	}
	go c.watchMemory()
	ctx, stop := context.WithTimeoutCause(ctx, longestPage, ErrTime)
	defer stop()
	return c, c.attach(ctx)
}

// start runs the program with its ends of the pipes as files 3 and 4.
func (c *chromium) start(program string) error {
	toRead, write, err := os.Pipe()
	if err != nil {
		return err
	}
	read, toWrite, err := os.Pipe()
	if err != nil {
		return errors.Join(err, toRead.Close(), write.Close())
	}
	c.pipes = []*os.File{write, read}
	cmd := exec.Command(program, flags(c.folder, c.proxy.address())...)
	cmd.ExtraFiles = []*os.File{toRead, toWrite}
	cmd.Dir = c.folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.folder, "TMPDIR=" + c.folder, "LANG=C.UTF-8"}
	cmd.Stderr, cmd.WaitDelay = &c.said, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go c.awaitExit(cmd, started)
	if err := errors.Join(<-started, toRead.Close(), toWrite.Close()); err != nil {
		return err
	}
	c.command, c.devtools = cmd, newDevtools(read, write)
	return nil
}

// awaitExit starts a program and waits for its end, on a thread that lives as long: the program is
// killed with the thread that started it.
func (c *chromium) awaitExit(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err == nil {
		_ = cmd.Wait() // it is killed at its end
	}
	close(c.ended)
}

// attach opens the page that everything is loaded into.
func (c *chromium) attach(ctx context.Context) error {
	var target struct{ TargetID string }
	if err := c.call(ctx, "", "Target.createTarget", object{"url": "about:blank"}, &target); err != nil {
		return err
	}
	var attached struct{ SessionID string }
	params := object{"targetId": target.TargetID, "flatten": true}
	if err := c.call(ctx, "", "Target.attachToTarget", params, &attached); err != nil {
		return err
	}
	c.session = attached.SessionID
	for method, params := range map[string]object{
		"Page.enable": {}, "Browser.setDownloadBehavior": {"behavior": "deny"},
	} {
		session := c.session
		if strings.HasPrefix(method, "Browser.") {
			session = ""
		}
		if err := c.call(ctx, session, method, params, nil); err != nil {
			return err
		}
	}
	go c.dismissDialogs(c.on("Page.javascriptDialogOpening"))
	if len(c.sites.chromium) == 0 {
		return nil
	}
	return c.call(ctx, "", "Storage.setCookies", object{"cookies": c.sites.chromium}, nil)
}

type object = map[string]any

// tail holds the last bytes written.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const longestTail = 1 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	t.last = t.last[max(0, len(t.last)-longestTail):]
	return len(p), nil
}

// text returns the end of an error message; empty when nothing was written.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.last) == 0 {
		return ""
	}
	return ": " + strings.Join(strings.Fields(strings.ToValidUTF8(string(t.last), "")), " ")
}

// call runs a method. When the browser was ended, its error is the reason, and not that of a pipe
// which broke because of it.
func (c *chromium) call(ctx context.Context, session, method string, params, result any) error {
	return whyEndedOrNil(c.ctx, c.devtools.call(ctx, session, method, params, result))
}

// dismissDialogs keeps alerts from holding up a page.
func (c *chromium) dismissDialogs(opened <-chan json.RawMessage) {
	for {
		select {
		case <-opened:
			// A page that is gone has no dialog any more.
			_ = c.call(c.ctx, c.session, "Page.handleJavaScriptDialog", object{"accept": false}, nil)
		case <-c.closed:
			return
		case <-c.ctx.Done():
			return
		}
	}
}

// Open implements opener. A page that is still loading after a while is read in its present state.
func (c *chromium) Open(ctx context.Context, address string) (*Page, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	ctx, stop := c.bounded(ctx)
	defer stop()
	loaded := c.on("Page.loadEventFired")
	var started struct{ ErrorText string }
	if err := c.call(ctx, c.session, "Page.navigate", object{"url": address}, &started); err != nil {
		return nil, err
	}
	if started.ErrorText != "" {
		return nil, fmt.Errorf("%s: %s", address, started.ErrorText)
	}
	if _, err := c.await(ctx, loaded, longestPage/2); err != nil {
		return nil, err
	}
	return c.readOpen(ctx)
}

// await waits for an event, but not longer than patience; it reports whether the event came.
func (c *chromium) await(ctx context.Context, event <-chan json.RawMessage, patience time.Duration) (bool, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-event:
		return true, nil
	case <-timer.C:
		return false, nil
	case <-c.closed:
		return false, whyEnded(c.ctx, errClosed)
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// readOpen reads the page as its scripts have left it.
func (c *chromium) readOpen(ctx context.Context) (*Page, error) {
	const script = `JSON.stringify({url: location.href, size: document.documentElement.outerHTML.length,
		html: document.documentElement.outerHTML.slice(0, %d)})`
	var answer struct{ Result struct{ Value string } }
	params := object{"expression": fmt.Sprintf(script, largestPage), "returnByValue": true}
	if err := c.call(ctx, c.session, "Runtime.evaluate", params, &answer); err != nil {
		return nil, err
	}
	var page struct {
		URL, HTML string
		Size      int
	}
	if err := json.Unmarshal([]byte(answer.Result.Value), &page); err != nil {
		return nil, fmt.Errorf("browser: page: %w", err)
	}
	if page.Size > largestPage {
		return nil, fmt.Errorf("%w: page of %d characters, at most %d", ErrTooLarge, page.Size, largestPage)
	}
	base, err := url.Parse(page.URL)
	if err != nil {
		return nil, err
	}
	return readPage(base, strings.NewReader(page.HTML), "text/html")
}

// Screenshot implements opener.
func (c *chromium) Screenshot(ctx context.Context) ([]byte, error) {
	ctx, stop := c.bounded(ctx)
	defer stop()
	var picture struct{ Data string }
	if err := c.call(ctx, c.session, "Page.captureScreenshot", object{"format": "png"}, &picture); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(picture.Data)
}

// bounded returns a context for one page, which also ends with the browser.
func (c *chromium) bounded(ctx context.Context) (context.Context, func()) {
	ctx, fail := context.WithCancelCause(ctx)
	ended := context.AfterFunc(c.ctx, func() { fail(context.Cause(c.ctx)) })
	ctx, stop := context.WithTimeoutCause(ctx, longestPage, ErrTime)
	return ctx, func() {
		stop()
		ended()
		fail(nil)
	}
}

// watchMemory ends a browser whose processes hold too much.
func (c *chromium) watchMemory() {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		if used := memoryOf(c.command.Process.Pid); used > mostMemory {
			c.fail(fmt.Errorf("%w: %d bytes, at most %d", ErrMemory, used, int64(mostMemory)))
			c.kill()
			return
		}
	}
}

// memoryOf returns the private memory of the processes of a group, in bytes.
func memoryOf(group int) (sum int64) {
	for folder := range processes(group) {
		pages, err := os.ReadFile(folder + "/statm")
		var total, resident, shared int64
		if _, scanned := fmt.Sscan(string(pages), &total, &resident, &shared); err == nil && scanned == nil {
			sum += (resident - shared) * int64(os.Getpagesize())
		}
	}
	return sum
}

// processes returns the folders in /proc of the processes of a group that have not ended.
func processes(group int) iter.Seq[string] {
	return func(yield func(string) bool) {
		list, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
		for _, file := range list {
			stat, err := os.ReadFile(file)
			if err != nil {
				continue // the process has ended
			}
			_, rest, _ := strings.Cut(string(stat), ") ") // state, parent, group
			fields := strings.Fields(rest)
			if len(fields) < 3 || fields[2] != strconv.Itoa(group) || fields[0] == "Z" {
				continue
			}
			if !yield(filepath.Dir(file)) {
				return
			}
		}
	}
}

// Err implements opener.
func (c *chromium) Err() error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	select {
	case <-c.closed:
		return errClosed
	default:
		return nil
	}
}

func (c *chromium) kill() {
	// A group that has ended already is fine.
	_ = syscall.Kill(-c.command.Process.Pid, syscall.SIGKILL)
}

// awaitEnd waits until no process of the group is left, so that none writes files any more.
func (c *chromium) awaitEnd() {
	<-c.ended
	for range 500 {
		left := false
		for range processes(c.command.Process.Pid) {
			left = true
			break
		}
		if !left {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Close implements opener. It ends all processes of the browser and removes their files.
func (c *chromium) Close() error {
	var all error
	if c.session != "" && c.Err() == nil {
		all = c.keepCookies()
	}
	c.fail(nil)
	if c.command != nil {
		c.kill()
		c.awaitEnd()
	}
	if c.proxy != nil {
		all = errors.Join(all, c.proxy.close())
	}
	for _, pipe := range c.pipes {
		_ = pipe.Close() // the other end is gone
	}
	if c.folder != "" {
		all = errors.Join(all, os.RemoveAll(c.folder))
	}
	return all
}
