// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package adder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// A connection without requests is closed after so many time-outs.
const idleTimeouts = 6

// Server answers requests.
type Server struct {
	timeout  time.Duration
	answered atomic.Uint64
}

// New returns a server whose peers may take so long for a request, and for an answer.
func New(timeout time.Duration) *Server {
	return &Server{timeout: timeout}
}

func (s *Server) String() string {
	return fmt.Sprintf("%d requests answered", s.answered.Load())
}

// Serve answers requests until the context is done.
func (s *Server) Serve(ctx context.Context, tcp *net.TCPListener) error {
	server := http.Server{
		Handler:                      s,
		ReadHeaderTimeout:            s.timeout,
		WriteTimeout:                 s.timeout,
		IdleTimeout:                  idleTimeouts * s.timeout,
		DisableGeneralOptionsHandler: true,
	}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	err := server.Serve(listener{tcp, s.timeout, &s.answered})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ServeHTTP answers a request that net/http has understood.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if refusal := whyNot(r); refusal != nil {
		hijacked, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			hijacked.(*conn).refuse(refusal)
		}
		return
	}
	text, refusal := page(r.URL.RequestURI())
	// An answer has the version of the server (RFC 9110, section 2.5); net/http takes that of the request.
	r.ProtoMinor = 1
	header := w.Header()
	header["Content-Type"] = []string{"text/plain"}
	header["Date"] = nil
	if refusal != nil {
		text = refusal.sentence
		w.WriteHeader(refusal.status)
	}
	io.WriteString(w, text)
}

// whyNot returns why a request is not even looked at.
func whyNot(r *http.Request) *refusal {
	switch {
	case r.Method == http.MethodHead:
		return noHead
	case r.Method != http.MethodGet:
		return notGet
	case r.ContentLength != 0:
		return hasBody
	case strings.ContainsFunc(r.RequestURI, func(r rune) bool { return r >= utf8.RuneSelf }):
		return malformed
	}
	return nil
}
