// Package mail sends the mails of canvases over SMTP servers that they name. It is the Email
// component behind the engine's Tools port.
//
// Port 465 is implicit TLS; on other ports STARTTLS is required once an account is given, so that
// no password crosses the network in the clear. Certificates are verified. Addresses of servers are
// checked by the dialer of the [Network], on the dialled IP address.
package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	netmail "net/mail"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
)

var (
	// ErrSettings means that a setting is missing or malformed; the message names it.
	ErrSettings = errors.New("mail settings")
	// ErrAddress means that a recipient is not an address, or that the mail has too many.
	ErrAddress = errors.New("mail recipients")
	// ErrTooLarge means that the mail has too many bytes; send links instead of files.
	ErrTooLarge = errors.New("mail is too large")
)

// Limits of a mail.
const (
	mostRecipients = 100
	mostBytes      = 25 << 20 // of body and attachments, as common servers accept
	implicitTLS    = 465
	defaultTimeout = time.Minute
	// libraryTimeout is never reached: the end of a mail's context closes its connection.
	libraryTimeout = time.Hour
)

// Network connects to servers and refuses forbidden addresses.
type Network interface {
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

// Sender sends mails. Network must be set.
type Sender struct {
	Network Network
	Roots   *x509.CertPool // nil is the system's
	Timeout time.Duration  // of one mail; 0 is 60 s
}

// Settings name a server and an account on it.
type Settings struct {
	Server   string
	Port     int    // 0 is 465
	From     string // address of the sender
	Name     string // of the sender
	User     string // of the account; "" is From
	Password string // "" does not authenticate
}

// Message is one mail.
type Message struct {
	To, CC      []string // addresses, also in the form Name <address>
	Subject     string
	HTML        string
	Attachments []Attachment
}

// Attachment is a file that goes with a mail.
type Attachment struct {
	Name string
	Data []byte
}

func (m *Message) size() int {
	n := len(m.HTML) + len(m.Subject)
	for _, a := range m.Attachments {
		n += len(a.Data)
	}
	return n
}

// Send sends a mail. Errors: [ErrSettings], [ErrAddress], [ErrTooLarge], those of the server.
func (s *Sender) Send(ctx context.Context, settings *Settings, m *Message) error {
	msg, err := compose(settings, m)
	if err != nil {
		return err
	}
	timeout := s.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := s.client(ctx, settings)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSettings, err)
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("send mail over %s: %w", settings.address(), err)
	}
	return nil
}

func (s *Settings) port() int {
	if s.Port == 0 {
		return implicitTLS
	}
	return s.Port
}

func (s *Settings) address() string { return net.JoinHostPort(s.Server, strconv.Itoa(s.port())) }

// client returns a client for one mail, whose connection ends with ctx: the library looks at
// contexts only while it dials.
func (s *Sender) client(ctx context.Context, settings *Settings) (*mail.Client, error) {
	config := &tls.Config{ServerName: settings.Server, RootCAs: s.Roots, MinVersion: tls.VersionTLS12}
	policy := mail.TLSMandatory
	switch {
	case settings.port() == implicitTLS:
		policy = mail.NoTLS // the connection is encrypted before the first byte
	case settings.Password == "":
		policy = mail.TLSOpportunistic
	}
	options := []mail.Option{
		mail.WithPort(
			settings.port(),
		), mail.WithTLSConfig(config), mail.WithTLSPolicy(policy), mail.WithHELO("localhost"),
		mail.WithTimeout(libraryTimeout),
		mail.WithDialContextFunc(func(_ context.Context, network, _ string) (net.Conn, error) {
			conn, err := s.Network.Dial(ctx, network, settings.address())
			if err != nil {
				return nil, err
			}
			context.AfterFunc(ctx, func() { _ = conn.Close() }) // which ends what reads or writes
			if settings.port() != implicitTLS {
				return conn, nil
			}
			encrypted := tls.Client(conn, config)
			if err := encrypted.HandshakeContext(ctx); err != nil {
				return nil, errors.Join(err, conn.Close())
			}
			return encrypted, nil
		}),
	}
	if settings.Password != "" {
		user := settings.User
		if user == "" {
			user = settings.From
		}
		// With implicit TLS the library considers the connection unencrypted and would not send the
		// password.
		auth := mail.SMTPAuthAutoDiscover
		if settings.port() == implicitTLS {
			auth = mail.SMTPAuthPlainNoEnc
		}
		options = append(
			options,
			mail.WithSMTPAuth(auth),
			mail.WithUsername(user),
			mail.WithPassword(settings.Password),
		)
	}
	return mail.NewClient(settings.Server, options...)
}

// compose writes a mail. Names and the subject are encoded, so that a line end in them adds no
// header.
func compose(settings *Settings, m *Message) (*mail.Msg, error) {
	if settings.Server == "" {
		return nil, fmt.Errorf("%w: smtp_server is empty", ErrSettings)
	}
	from, err := netmail.ParseAddress(settings.From)
	if err != nil {
		return nil, fmt.Errorf("%w: email %q is not an address", ErrSettings, settings.From)
	}
	if settings.Name != "" {
		from.Name = oneLine(settings.Name)
	}
	if n := len(m.To) + len(m.CC); n > mostRecipients {
		return nil, fmt.Errorf("%w: %d, at most %d", ErrAddress, n, mostRecipients)
	}
	if m.size() > mostBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, m.size(), mostBytes)
	}
	to, err := addresses(m.To)
	if err != nil {
		return nil, err
	}
	cc, err := addresses(m.CC)
	if err != nil {
		return nil, err
	}
	msg := mail.NewMsg()
	msg.FromMailAddress(from)
	msg.ToMailAddress(to...)
	msg.CcMailAddress(cc...)
	msg.Subject(oneLine(m.Subject))
	msg.SetDate()
	msg.SetMessageID()
	msg.SetBodyString(mail.TypeTextHTML, m.HTML)
	for _, a := range m.Attachments {
		msg.AttachReadSeeker(oneLine(a.Name), io.ReadSeeker(bytes.NewReader(a.Data)))
	}
	return msg, nil
}

func addresses(texts []string) ([]*netmail.Address, error) {
	var list []*netmail.Address
	for _, text := range texts {
		a, err := netmail.ParseAddress(text)
		if err != nil {
			return nil, fmt.Errorf("%w: %q is not an address", ErrAddress, text)
		}
		list = append(list, a)
	}
	return list, nil
}

// oneLine replaces line ends and other control characters by blanks.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
