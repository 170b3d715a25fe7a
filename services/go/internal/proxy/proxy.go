// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Package proxy joins each connection to one of its own to a back end, and passes the bytes of both on.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// A pair on which nothing moves is reset after so many time-outs.
	idleTimeouts = 6
	// When all files are in use, some are closed sooner or later.
	acceptPause = 100 * time.Millisecond
)

// Server is a proxy on one port.
type Server struct {
	to      netip.AddrPort
	timeout time.Duration
	limit   int

	connections, refused, overLimit, broken atomic.Uint64
}

// New returns a proxy that connects to an address. Connecting may take so long, and at the end what is open.
func New(to netip.AddrPort, timeout time.Duration, limit int) *Server {
	return &Server{to: to, timeout: timeout, limit: limit}
}

func (s *Server) String() string {
	return fmt.Sprintf("%d connections, %d refused, %d over the limit, %d broken",
		s.connections.Load(), s.refused.Load(), s.overLimit.Load(), s.broken.Load())
}

// Serve accepts connections until the context is done, and then waits a time-out at most for their ends.
func (s *Server) Serve(ctx context.Context, listener *net.TCPListener) error {
	defer context.AfterFunc(ctx, func() { listener.Close() })()
	open, reset := context.WithCancel(context.Background())
	defer reset()
	var pairs sync.WaitGroup
	places := make(chan struct{}, s.limit)
	for {
		client, err := listener.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			break
		}
		if err != nil {
			time.Sleep(acceptPause)
			continue
		}
		select {
		case places <- struct{}{}:
			pairs.Go(func() {
				s.join(open, client)
				<-places
			})
		default:
			s.overLimit.Add(1)
			abort(client)
		}
	}
	defer time.AfterFunc(s.timeout, reset).Stop()
	pairs.Wait()
	return nil
}

// join serves a client until its pair ends, or until the context is done.
func (s *Server) join(ctx context.Context, client *net.TCPConn) {
	dialer := net.Dialer{Timeout: s.timeout, KeepAlive: -1}
	backEnd, err := dialer.DialTCP(ctx, "tcp", netip.AddrPort{}, s.to)
	if err != nil {
		s.refused.Add(1)
		abort(client)
		return
	}
	s.connections.Add(1)
	if !newPair(client, backEnd, idleTimeouts*s.timeout).run(ctx) {
		s.broken.Add(1)
	}
}

// abort ends a connection by a reset.
func abort(conn *net.TCPConn) {
	conn.SetLinger(0)
	conn.Close()
}
