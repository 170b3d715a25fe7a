// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package adder

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

const sum = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n1 + 2 = 3\n"

func TestAnswers(t *testing.T) {
	get := "GET /add/1/2 HTTP/1.1\r\nHost: a\r\n\r\n"
	closed := strings.Replace(sum, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)
	for _, test := range []struct{ name, sent, want string }{
		{"what net/http does not understand", get + "GET /add/1/2\r\n\r\n", sum + string(malformed.last())},
		{"what is not passed on to it", get + " " + get, sum + string(malformed.last())},
		{"a version of the future", "GET / HTTP/3.0\r\n\r\n", string(malformed.last())},
		{"another method", "POST / HTTP/1.1\r\nHost: a\r\n\r\n" + get, string(notGet.last())},
		{"HEAD", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + get, string(noHead.last())},
		{"a body that does not come", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", string(hasBody.last())},
		{"the last request", "GET /add/1/2 HTTP/1.0\r\n\r\n\n", closed},
		{"half a request", get + "GET", sum},
	} {
		if found := exchange(t, New(time.Minute), test.sent); found != test.want {
			t.Errorf("%s: %q", test.name, found)
		}
	}
}

func TestSlowRequests(t *testing.T) {
	for _, sent := range []string{"\r\n", "GE", "GET /add/1/2 HTTP/1.1\r\nHo"} {
		if found := exchange(t, New(100*time.Millisecond), sent); found != string(timedOut.last()) {
			t.Errorf("%q: %q", sent, found)
		}
	}
}

// exchange sends bytes, and returns all that comes back.
func exchange(t *testing.T, server *Server, sent string) string {
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv6loopback})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx, tcp) }()
	peer, err := net.Dial("tcp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	peer.SetDeadline(time.Now().Add(20 * time.Second))
	io.WriteString(peer, sent)
	if strings.HasSuffix(sent, "GET") {
		peer.(*net.TCPConn).CloseWrite()
	}
	found, err := io.ReadAll(peer)
	if err != nil {
		t.Error(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return string(found)
}
