// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

const patience = 20 * time.Second

// A bench has a proxy, and its back end.
type bench struct {
	*testing.T
	front, back *net.TCPListener
	server      *Server
	stop        context.CancelFunc
	ended       chan error
}

func newBench(t *testing.T, timeout time.Duration, limit int) *bench {
	b := &bench{T: t, front: listen(t), back: listen(t), ended: make(chan error, 1)}
	b.server = New(b.back.Addr().(*net.TCPAddr).AddrPort(), timeout, limit)
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	go func() { b.ended <- b.server.Serve(ctx, b.front) }()
	return b
}

func listen(t *testing.T) *net.TCPListener {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv6loopback})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	listener.SetDeadline(time.Now().Add(patience))
	return listener
}

// pair returns both ends of a connection through the proxy.
func (b *bench) pair() (client, backEnd *net.TCPConn) {
	client, err := net.DialTCP("tcp", nil, b.front.Addr().(*net.TCPAddr))
	if err != nil {
		b.Fatal(err)
	}
	backEnd, err = b.back.AcceptTCP()
	if err != nil {
		b.Fatal(err)
	}
	for _, conn := range []*net.TCPConn{client, backEnd} {
		b.Cleanup(func() { conn.Close() })
		conn.SetDeadline(time.Now().Add(patience))
	}
	return client, backEnd
}

// isReset expects that the proxy resets a connection, perhaps while it is still opened.
func (b *bench) isReset(conn net.Conn, err error) {
	b.Helper()
	if err == nil {
		conn.SetDeadline(time.Now().Add(patience))
		_, err = conn.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		b.Errorf("no reset: %v", err)
	}
}

// ends expects that the proxy ends, and what it says then.
func (b *bench) ends(want string) {
	b.Helper()
	b.stop()
	if err := <-b.ended; err != nil || b.server.String() != want {
		b.Errorf("%s, %v", b.server, err)
	}
}

func TestPairsGoOnAfterTheStop(t *testing.T) {
	b := newBench(t, patience, 1)
	client, backEnd := b.pair()
	b.stop()
	io.WriteString(client, "request")
	client.CloseWrite()
	if found, err := io.ReadAll(backEnd); err != nil || string(found) != "request" {
		t.Errorf("%q, %v", found, err)
	}
	io.WriteString(backEnd, "answer")
	backEnd.CloseWrite()
	if found, err := io.ReadAll(client); err != nil || string(found) != "answer" {
		t.Errorf("%q, %v", found, err)
	}
	b.ends("1 connections, 0 refused, 0 over the limit, 0 broken")
}

func TestWhatIsLeftIsReset(t *testing.T) {
	b := newBench(t, 500*time.Millisecond, 1)
	client, backEnd := b.pair()
	b.stop()
	b.isReset(client, nil)
	b.isReset(backEnd, nil)
	b.ends("1 connections, 0 refused, 0 over the limit, 1 broken")
}

func TestSilenceIsReset(t *testing.T) {
	b := newBench(t, 200*time.Millisecond, 1)
	client, backEnd := b.pair()
	b.isReset(client, nil)
	b.isReset(backEnd, nil)
	b.ends("1 connections, 0 refused, 0 over the limit, 1 broken")
}

func TestTheLimit(t *testing.T) {
	b := newBench(t, patience, 1)
	client, backEnd := b.pair()
	b.isReset(net.Dial("tcp", b.front.Addr().String()))
	client.CloseWrite()
	backEnd.CloseWrite()
	b.ends("1 connections, 0 refused, 1 over the limit, 0 broken")
}

func TestNoBackEnd(t *testing.T) {
	b := newBench(t, patience, 1)
	b.back.Close()
	b.isReset(net.Dial("tcp", b.front.Addr().String()))
	b.ends("0 connections, 1 refused, 0 over the limit, 0 broken")
}
