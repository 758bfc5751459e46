// Command zitadel starts the example provider of zitadel/oidc on a free loopback port and prints
// its address. Arguments: the client's id and secret, and the address to which it sends browsers
// back.
package main

import (
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

func main() {
	if len(os.Args) < 4 {
		log.Fatal("usage: zitadel CLIENT SECRET REDIRECT")
	}
	storage.RegisterClients(storage.WebClient(os.Args[1], os.Args[2], os.Args[3]))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	issuer := fmt.Sprintf("http://127.0.0.1:%d/", l.Addr().(*net.TCPAddr).Port)
	s := storage.NewStorage(storage.NewUserStore(issuer))
	handler := exampleop.SetupServer(issuer, s, slog.New(slog.DiscardHandler), false)
	fmt.Println("issuer " + issuer)
	log.Fatal(http.Serve(l, handler))
}
