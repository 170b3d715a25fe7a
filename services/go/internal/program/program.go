// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Package program has what the programs share: their command lines, and how they begin and end.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
)

// A Server serves connections, and its text says what it has done.
type Server interface {
	// Serve returns when the context is done and the connections have ended, or why it cannot go on.
	Serve(ctx context.Context, listener *net.TCPListener) error
	fmt.Stringer
}

// Main runs a server until SIGINT or SIGTERM.
func Main(name string, isProxy bool, server func(Options) Server) {
	if err := run(name, isProxy, server); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func run(name string, isProxy bool, newServer func(Options) Server) error {
	options, err := parse(os.Args[1:], isProxy)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage(name, isProxy))
		return nil
	}
	if err != nil {
		return err
	}
	listener, err := listen(options.Place)
	if err != nil {
		return fmt.Errorf("cannot listen at %s: %w", options.Place, errors.Unwrap(err))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	server := newServer(options)
	fmt.Printf("%s: %s\n", name, options)
	if err := server.Serve(ctx, listener); err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", name, server)
	return nil
}

func listen(place netip.AddrPort) (*net.TCPListener, error) {
	network := "tcp"
	if place.Addr().Is4() {
		// Else 0.0.0.0 would be IPv6 as well.
		network = "tcp4"
	}
	// The services have time-outs of their own.
	config := net.ListenConfig{KeepAlive: -1}
	// Go would listen for multipath TCP.
	config.SetMultipathTCP(false)
	listener, err := config.Listen(context.Background(), network, place.String())
	if err != nil {
		return nil, err
	}
	return listener.(*net.TCPListener), nil
}
