// A schema registry for tests: franz-go's srfake behind a port, with faults on demand.
//
//	registry [-port N] [-authorization VALUE] [-certificate FILE]
//
// It prints its URL and serves until it is killed. With -certificate it speaks TLS and writes there the certificate to
// trust. POST /fault?status=503 makes every other request fail with that status until POST /fault?status=0;
// POST /fault?drop=true cuts their connections. GET /requests counts the requests that came, faults included.
package main

import (
	"encoding/pem"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/sr/srfake"
)

type faults struct {
	mutex    sync.Mutex
	status   int
	drop     bool
	requests int
}

// intercept answers instead of the registry where a fault is wanted, and the two requests that are not the registry's.
func (f *faults) intercept(writer http.ResponseWriter, request *http.Request) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	switch request.URL.Path {
	case "/fault":
		f.status, _ = strconv.Atoi(request.URL.Query().Get("status"))
		f.drop = request.URL.Query().Get("drop") == "true"
		return true
	case "/requests":
		fmt.Fprint(writer, f.requests)
		return true
	}
	f.requests++
	if f.drop {
		panic(http.ErrAbortHandler)
	}
	if f.status != 0 {
		writer.WriteHeader(f.status)
	}
	return f.status != 0
}

func main() {
	port := flag.Int("port", 0, "port of the loopback interface; 0 takes a free one")
	authorization := flag.String("authorization", "", "what the Authorization header must be")
	certificate := flag.String("certificate", "", "speak TLS and write the certificate to this file")
	flag.Parse()
	registry := srfake.NewRegistry(srfake.WithAuth(*authorization))
	registry.Intercept((&faults{}).intercept)
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewUnstartedServer(registry.Handler())
	server.Listener.Close()
	server.Listener = listener
	server.Config.ErrorLog = log.New(os.Stderr, "", 0)
	if *certificate == "" {
		server.Start()
	} else {
		server.StartTLS()
		trusted := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		if err := os.WriteFile(*certificate, trusted, 0o600); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(server.URL)
	select {}
}
