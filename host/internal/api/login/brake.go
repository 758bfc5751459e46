package login

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Limits of login attempts; those that succeed do not count.
var (
	// of one network, into any account
	networkAttempts = api.Limit{PerSecond: 1.0 / 6, Burst: 10}
	// of one network or one known device, into one account
	pairAttempts = api.Limit{PerSecond: 1.0 / 60, Burst: 10}
	// of all unknown networks, into one account
	accountAttempts = api.Limit{PerSecond: 1.0 / 10, Burst: 20}
	// of one unknown network, into an account that has used those up
	waryAttempts = api.Limit{PerSecond: 1.0 / 3600, Burst: 5}
)

// loginBrake bounds the guessing of passwords. Nothing it does to unknown networks locks an
// account's owner out: a network that has not failed itself is always admitted, and one that has
// logged in to the account before has a separate limit, like a device with the account's cookie.
//
// Names are hashes, so that what callers send takes no memory. Each host counts
// for itself.
type loginBrake struct {
	networks, accounts   api.Throttle
	pairs, wary, devices api.Throttle
	arrivals             api.Throttle // of people who come back from a provider, by network
	known                knownPairs
	// unknowns bounds how many passwords of unknown networks are checked at once, so that a flood
	// of them leaves processors to known ones.
	unknowns chan struct{}
}

func newLoginBrake(now func() time.Time) *loginBrake {
	b := &loginBrake{unknowns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))}
	for _, t := range []*api.Throttle{&b.networks, &b.accounts, &b.pairs, &b.wary, &b.devices, &b.arrivals} {
		t.Now = now
	}
	return b
}

// loginAttempt is the account and the address of a login.
type loginAttempt struct {
	network string // of the client
	account string // see [app.AccountName]
	device  string // id of a device that logged in to the account before; "" without one
	known   bool   // the caller has a login of this account already
}

func (l loginAttempt) pair() string { return hashName(l.network, l.account) }

// hashName is a name of fixed size for a throttle.
func hashName(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return string(sum[:])
}

// claim is a turn of a throttle.
type claim struct {
	of    *api.Throttle
	name  string
	limit api.Limit
}

// admission is an attempt whose password may be checked. Close it after that.
type admission struct {
	brake  *loginBrake
	claims []claim
	queued bool // it holds a place among the unknowns
}

// admit takes the turns of an attempt. It returns how long to wait when one of them is missing, and
// an error when ctx ends before it is the attempt's turn.
func (b *loginBrake) admit(ctx context.Context, l loginAttempt) (*admission, time.Duration, error) {
	pair := l.pair()
	known := l.known || b.known.has(pair)
	switch {
	case l.device != "":
		claims, wait := takeAll(claim{&b.devices, hashName(l.device), pairAttempts})
		return &admission{brake: b, claims: claims}, wait, nil
	case known:
		claims, wait := takeAll(claim{&b.pairs, pair, pairAttempts})
		return &admission{brake: b, claims: claims}, wait, nil
	}
	claims, wait := takeAll(claim{&b.networks, l.network, networkAttempts}, claim{&b.pairs, pair, pairAttempts})
	if wait > 0 {
		return nil, wait, nil
	}
	rest, wait := takeAll(claim{&b.accounts, hashName(l.account), accountAttempts})
	if wait > 0 {
		rest, wait = takeAll(claim{&b.wary, pair, waryAttempts})
	}
	if wait > 0 {
		giveAll(claims)
		return nil, wait, nil
	}
	select {
	case b.unknowns <- struct{}{}:
		return &admission{brake: b, claims: append(claims, rest...), queued: true}, 0, nil
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
}

// takeAll takes all of the claims, or none and returns how long to wait.
func takeAll(claims ...claim) ([]claim, time.Duration) {
	for i, c := range claims {
		if wait := c.of.Take(c.name, c.limit); wait > 0 {
			giveAll(claims[:i])
			return nil, wait
		}
	}
	return claims, 0
}

func giveAll(claims []claim) {
	for _, c := range claims {
		c.of.Return(c.name)
	}
}

// close ends an attempt. One that succeeded counts for nothing.
func (a *admission) close(succeeded bool) {
	if a.queued {
		<-a.brake.unknowns
	}
	if succeeded {
		giveAll(a.claims)
	}
}

// knownPairs are networks and accounts that belong together: a login succeeded. Beyond api.MaxNames
// some are forgotten, and count as unknown again.
type knownPairs struct {
	mu   sync.Mutex
	list map[string]struct{}
}

func (k *knownPairs) has(pair string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.list[pair]
	return ok
}

func (k *knownPairs) add(pair string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.list == nil {
		k.list = map[string]struct{}{}
	}
	for name := range k.list {
		if len(k.list) < api.MaxNames {
			break
		}
		delete(k.list, name)
	}
	k.list[pair] = struct{}{}
}

// tooManyLogins is the message for too many login attempts.
const tooManyLogins = "Too many attempts; try again later."

// Authenticate finds the user of a login, as often as the brake lets it. A login that the caller
// has already (known) makes it no stranger.
//
// Errors: [app.ErrNotFound] when address and password do not match, a failure with HTTP status 429
// when there were too many attempts, and one that names a field that cannot be right.
func (f *Face) Authenticate(r *api.Request, email, password string, known bool) (app.User, error) {
	if err := cmp.Or(checkText("email", email), checkText("password", password)); err != nil {
		return app.User{}, err
	}
	attempt := loginAttempt{network: api.NetworkOf(r.Client()), account: app.AccountName(email), known: known}
	if cookie, err := r.HTTP.Cookie(DeviceCookie); err == nil {
		id, err := f.accounts.Device(attempt.account, cookie.Value)
		if err == nil { // else it is another account's, or forged
			attempt.device = id
		}
	}
	r.Free() // an attempt may wait, and the body is read
	ctx := r.HTTP.Context()
	admitted, wait, err := f.brake.admit(ctx, attempt)
	if wait > 0 {
		return app.User{}, api.TooMany(wait, tooManyLogins)
	}
	if err != nil {
		return app.User{}, err
	}
	right := false
	defer func() { admitted.close(right) }() // also when the check panics
	user, err := f.accounts.Verify(ctx, email, password)
	if errors.Is(err, app.ErrNotFound) {
		f.audit.SignInFailed(ctx, email, r.Client().String())
	}
	if err != nil {
		return user, err
	}
	right = true
	// The account is the user's own: a key proves nothing about the address that came with it.
	attempt.account = app.AccountName(user.Email)
	f.brake.known.add(attempt.pair())
	f.brake.pairs.Forget(attempt.pair())
	return user, nil
}

// checkText refuses a field of a login that no address and no password holds. Storage drops some of
// these characters, so that such an address would find an account under another name.
func checkText(name, text string) error {
	if app.PlainText(text) {
		return nil
	}
	return api.Refused(api.KindBadArgument, "argument %s must be UTF-8 text without control characters", name)
}

// DeviceCookie marks a browser that has logged in to an account before. It is not a login: it only
// keeps failed attempts of others from counting for this browser.
const DeviceCookie = "easel_device"

// deviceLasts is the time that a browser is remembered.
const deviceLasts = 180 * 24 * time.Hour

// rememberDevice marks the browser of a login. One that is marked keeps its mark, and what its
// attempts have left.
func (f *Face) rememberDevice(r *api.Request, user app.User) error {
	account := app.AccountName(user.Email)
	if cookie, err := r.HTTP.Cookie(DeviceCookie); err == nil {
		if _, err := f.accounts.Device(account, cookie.Value); err == nil {
			setCookie(r, DeviceCookie, cookie.Value, deviceLasts)
			return nil
		}
	}
	text, err := f.accounts.NewDevice(account)
	if err == nil {
		setCookie(r, DeviceCookie, text, deviceLasts)
	}
	return err
}
