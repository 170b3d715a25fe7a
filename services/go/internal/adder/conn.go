// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package adder

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

var (
	closeHeader  = []byte("\r\nConnection: close\r\n")
	lengthHeader = []byte("\r\nContent-Length: ")
)

// A listener accepts connections for net/http.
type listener struct {
	*net.TCPListener
	timeout  time.Duration
	answered *atomic.Uint64
}

func (l listener) Accept() (net.Conn, error) {
	accepted, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return &conn{TCPConn: accepted, timeout: l.timeout, answered: l.answered, isNew: true}, nil
}

// A conn is a connection between net/http and a peer. It checks what comes, and says why it is refused.
type conn struct {
	*net.TCPConn
	timeout  time.Duration
	answered *atomic.Uint64
	isNew    bool
	head     head
	refusal  atomic.Pointer[refusal]
	hasLast  atomic.Bool // whether the last answer was written
}

func (c *conn) Read(p []byte) (int, error) {
	for {
		if refusal := c.refusal.Load(); refusal != nil {
			return 0, refusal
		}
		n, err := c.read(p)
		// While net/http answers, it reads one byte, and uses the time-out to break that off.
		if len(p) > 1 && c.head.length > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			c.refusal.Store(timedOut)
		}
		if n = c.check(p[:n]); n > 0 || err != nil {
			return n, err
		}
	}
}

// read waits for the first request as long as net/http does for further ones.
func (c *conn) read(p []byte) (int, error) {
	if !c.isNew {
		return c.TCPConn.Read(p)
	}
	c.isNew = false
	c.SetReadDeadline(time.Now().Add(idleTimeouts * c.timeout))
	n, err := c.TCPConn.Read(p)
	c.SetReadDeadline(time.Now().Add(c.timeout))
	return n, err
}

// check moves together what net/http gets, and returns how many bytes these are.
func (c *conn) check(bytes []byte) int {
	kept := 0
	for _, b := range bytes {
		isKept, refusal := c.head.next(b)
		if refusal != nil {
			c.refusal.Store(refusal)
			break
		}
		if isKept {
			bytes[kept] = b
			kept++
		}
	}
	return kept
}

// Write gets whole answers, which are shorter than the buffer of net/http. Those that net/http makes itself for what it
// does not understand have no length, and are replaced.
func (c *conn) Write(p []byte) (int, error) {
	if bytes.Contains(p, closeHeader) {
		if !bytes.Contains(p, lengthHeader) {
			c.refusal.CompareAndSwap(nil, malformed)
			return len(p), nil
		}
		c.hasLast.Store(true)
	}
	c.answered.Add(1)
	return c.TCPConn.Write(p)
}

func (c *conn) Close() error {
	if c.hasLast.Load() || c.refusal.Load() != nil {
		go c.end()
		return nil
	}
	return c.TCPConn.Close()
}

func (c *conn) refuse(refusal *refusal) {
	c.refusal.Store(refusal)
	c.Close()
}

// end writes the last answer, if that is still to be done. What comes then is read away, so that the peer gets the
// answer and not a reset.
func (c *conn) end() {
	defer c.TCPConn.Close()
	c.SetDeadline(time.Now().Add(c.timeout))
	if !c.hasLast.Load() {
		c.answered.Add(1)
		c.TCPConn.Write(c.refusal.Load().last())
	}
	c.CloseWrite()
	io.Copy(io.Discard, c.TCPConn)
}
