package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Email sends an e-mail.
type Email struct {
	External
	To         engine.Expr `json:"to_email" label:"To" doc:"e-mail addresses, separated by commas" want:"Enter an address." default:"{sys.query}"`
	CC         engine.Expr `json:"cc_email" label:"CC" doc:"more addresses, separated by commas"`
	Subject    engine.Expr `json:"subject" label:"Subject" doc:"subject line"`
	Content    engine.Expr `json:"content" label:"Text" doc:"text of the mail, as HTML"`
	Server     string      `json:"smtp_server" label:"Mail server" doc:"address of the mail server" section:"advanced" want:"Enter the mail server."`
	Port       int         `json:"smtp_port" label:"Port" doc:"port of the mail server" section:"advanced" default:"465" min:"1"`
	Account    string      `json:"email" label:"Sender" doc:"address of the sender" section:"advanced" want:"Enter the address of the sender."`
	Password   string      `json:"password" label:"Password" doc:"better the name of a secret of the host" section:"advanced" widget:"secret"`
	SenderName string      `json:"sender_name" label:"Name" doc:"name of the sender" section:"advanced"`
	Username   string      `json:"smtp_username" label:"Account" doc:"the sender's address if empty" section:"advanced"`

	Attachments []engine.Expr `json:"attachments" label:"Attachments" doc:"files that go with the mail" widget:"files"`
}

// Run sends the e-mail. Without a recipient it does nothing.
func (e *Email) Run(ctx context.Context, call *engine.Call) error {
	call.Out("success", engine.Bool(false))
	files, err := evaluated(ctx, call, e.Attachments)
	if err != nil {
		return err
	}
	args := []arg{
		{name: "to_email", param: &e.To},
		{name: "cc_email", param: &e.CC},
		{name: "subject", param: &e.Subject},
		{name: "content", param: &e.Content},
	}
	if files.Len() > 0 {
		list := engine.ParseExpr(files)
		args = append(args, arg{name: "attachments", param: &list})
	}
	return e.act(ctx, call, args...)
}

var emailSpec = outside("Email", "email", "Sends a mail.", "success",
	func() engine.Component {
		return &Email{External: External{settings: []string{"smtp_server", "email", "password", "sender_name"}}}
	}, nil,
	wanted("to_email", "address of the recipient"), maybe("cc_email", "string", "more addresses, separated by commas"),
	maybe("content", "string", "body of the e-mail, as HTML"), maybe("subject", "string", "subject line"))
