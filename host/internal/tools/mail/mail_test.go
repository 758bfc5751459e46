package mail

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"net"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// server is an SMTP server that accepts the account easel@example.org with the password right.
type server struct {
	port     int
	roots    *x509.CertPool
	received chan delivery
}

type delivery struct {
	from string
	to   []string
	data []byte
	auth bool
	tls  bool
}

type session struct {
	server *server
	conn   *smtp.Conn
	delivery
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "easel@example.org" || password != "right" {
			return smtp.ErrAuthFailed
		}
		s.auth = true
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error { s.from = from; return nil }
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "unknown@") {
		return &smtp.SMTPError{Code: 550, Message: "no such mailbox"}
	}
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) (err error) {
	_, s.tls = s.conn.TLSConnectionState()
	if s.data, err = io.ReadAll(r); err == nil {
		s.server.received <- s.delivery
	}
	return err
}
func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// start runs a server; encrypted is implicit TLS, startTLS offers it.
func start(t *testing.T, encrypted, startTLS bool) *server {
	t.Helper()
	certificate, roots := certify(t)
	s := &server{roots: roots, received: make(chan delivery, 1)}
	srv := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{server: s, conn: c}, nil
	}))
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	if startTLS {
		srv.TLSConfig = config
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.port = listener.Addr().(*net.TCPAddr).Port
	if encrypted {
		listener = tls.NewListener(listener, config)
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(listener) }()
	t.Cleanup(func() {
		require.NoError(t, srv.Close())
		require.NoError(t, <-ended)
	})
	return s
}

// certify makes a certificate for mail.example.org and the pool that trusts it.
func certify(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"mail.example.org"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// to dials a server of the test for any address.
type to struct{ s *server }

func (d to) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return new(
		net.Dialer,
	).DialContext(ctx, network, (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: d.s.port}).String())
}

func params(port int, password string) engine.Value {
	return engine.Object("smtp_server", "mail.example.org", "smtp_port", port, "email", "easel@example.org",
		"password", password, "sender_name", `Easel "the" bot`)
}

func TestMailArrives(t *testing.T) {
	for name, c := range map[string]struct {
		port                int
		encrypted, startTLS bool
	}{"implicit TLS": {465, true, false}, "STARTTLS": {587, false, true}} {
		t.Run(name, func(t *testing.T) {
			s := start(t, c.encrypted, c.startTLS)
			sender := &Sender{Network: to{s}, Roots: s.roots}
			out, err := sender.Call(t.Context(), params(c.port, "right"), engine.Object(
				"to_email",
				`ann@example.org, "Bob, B." <bob@example.org>`,
				"cc_email",
				"eve@example.org",
				"subject",
				"Grüße\r\nBcc: spy@example.org",
				"content",
				"<p>Hallo 漢字</p>",
				"attachments",
				engine.List(engine.String("x")),
			), func(context.Context, engine.Value) (Attachment, error) {
				return Attachment{Name: "añ\r\no.csv", Data: []byte("a,b\n")}, nil
			})
			require.NoError(t, err)
			require.Equal(t, `{"success":true}`, out.JSON())
			got := <-s.received
			require.True(t, got.auth)
			require.True(t, got.tls || c.encrypted)
			require.Equal(t, "easel@example.org", got.from)
			require.Equal(t, []string{"ann@example.org", "bob@example.org", "eve@example.org"}, got.to)
			checkContent(t, got.data)
		})
	}
}

func checkContent(t *testing.T, data []byte) {
	t.Helper()
	m, err := netmail.ReadMessage(bytes.NewReader(data))
	require.NoError(t, err)
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	require.NoError(t, err)
	require.Equal(t, "Grüße  Bcc: spy@example.org", subject)
	require.Empty(t, m.Header.Get("Bcc"))
	from, err := m.Header.AddressList("From")
	require.NoError(t, err)
	require.Equal(t, `Easel "the" bot`, from[0].Name)
	kind, options, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	require.NoError(t, err)
	require.Equal(t, "multipart/mixed", kind)
	parts := multipart.NewReader(m.Body, options["boundary"])
	body, err := parts.NextPart()
	require.NoError(t, err)
	require.Contains(t, body.Header.Get("Content-Type"), "text/html")
	text, err := io.ReadAll(body) // quoted-printable is decoded by the reader
	require.NoError(t, err)
	require.Equal(t, "<p>Hallo 漢字</p>", strings.TrimSpace(string(text)))
	file, err := parts.NextPart()
	require.NoError(t, err)
	name, err := new(mime.WordDecoder).DecodeHeader(file.FileName())
	require.NoError(t, err)
	require.NotContains(t, name, "\n")
	require.Contains(t, name, "o.csv")
}

func TestMailIsRefused(t *testing.T) {
	plain, encrypted := start(t, false, false), start(t, true, false)
	one := engine.Object("to_email", "ann@example.org")
	account := params(465, "right")
	with := func(name string, v any) engine.Value { return engine.Object("to_email", "a@b.c", name, v) }
	recipient := func(a string) engine.Value { return engine.Object("to_email", a) }
	for name, c := range map[string]struct {
		server *server
		params engine.Value
		args   engine.Value
		want   string
	}{
		"wrong password":       {encrypted, params(465, "wrong"), one, "Authentication failed"},
		"password without TLS": {plain, params(587, "right"), one, "STARTTLS"},
		"unknown mailbox": {
			encrypted, account, recipient("unknown@example.org"),
			"no such mailbox",
		},
		"no address": {
			encrypted, account, recipient("ann"),
			`mail recipients: "ann" is not an address`,
		},
		"header in an address": {
			encrypted, account, recipient("a@b.c\r\nBcc: d@e.f"),
			"is not an address",
		},
		"too many recipients": {
			encrypted, account, recipient(strings.Repeat("a@b.c,", 101)),
			"mail recipients: 101, at most 100",
		},
		"too large": {
			encrypted, account, with("content", strings.Repeat("x", mostBytes+1)),
			"mail is too large",
		},
		"no server": {
			encrypted, engine.Object("email", "a@b.c"), one,
			"mail settings: smtp_server is empty",
		},
		"no sender": {
			encrypted, engine.Object("smtp_server", "h"), one,
			`mail settings: email "" is not an address`,
		},
		"port": {
			encrypted, engine.Object("smtp_port", "http"), one,
			`mail settings: smtp_port "http" is not an integer from 1 to 65535`,
		},
		"attachment without files": {
			encrypted, account, with("attachments", engine.List(engine.Int(1))),
			"attachments",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&Sender{Network: to{c.server}, Roots: c.server.roots}).Call(t.Context(), c.params, c.args, nil)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "right")
			require.Less(t, len(err.Error()), 400)
		})
	}
	_, err := (&Sender{Network: to{encrypted}}).Call(t.Context(), params(465, "right"), one, nil)
	require.ErrorContains(t, err, "certificate", "an unknown authority")
	require.Empty(t, encrypted.received)
	require.Empty(t, plain.received)
}

func TestNoRecipientSendsNothing(t *testing.T) {
	for _, text := range []string{"", " , "} {
		out, err := (&Sender{}).Call(t.Context(), params(465, "right"), engine.Object("to_email", text), nil)
		require.NoError(t, err)
		require.Equal(t, `{"success":false}`, out.JSON())
	}
}

func TestServerWithoutAccount(t *testing.T) {
	s := start(t, false, false)
	_, err := (&Sender{Network: to{s}}).Call(
		t.Context(),
		params(25, ""),
		engine.Object("to_email", "ann@example.org"),
		nil,
	)
	require.NoError(t, err)
	require.False(t, (<-s.received).auth)
}

// silent accepts connections and never answers.
type silent struct{}

func (silent) Dial(context.Context, string, string) (net.Conn, error) {
	mine, theirs := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	return mine, nil
}

func TestSilentServerEndsAtTheTimeout(t *testing.T) {
	_, err := (&Sender{Network: silent{}, Timeout: 100 * time.Millisecond}).Call(
		t.Context(), params(25, ""), engine.Object("to_email", "ann@example.org"), nil)
	require.True(t, errors.Is(err, context.DeadlineExceeded), err)
}
