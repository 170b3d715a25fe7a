// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package proxy

import (
	"cmp"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// So many bytes are moved at a time at most.
const room = 65_536

// A pair is two connections that are joined.
type pair struct {
	client, backEnd *net.TCPConn
	idleTimeout     time.Duration
	silence         *time.Timer
	isBroken        atomic.Bool
}

func newPair(client, backEnd *net.TCPConn, idleTimeout time.Duration) *pair {
	p := &pair{client: client, backEnd: backEnd, idleTimeout: idleTimeout}
	p.silence = time.AfterFunc(idleTimeout, p.breakOff)
	return p
}

// run returns when both directions have ended, and whether that was without a reset.
func (p *pair) run(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, p.breakOff)
	var answers sync.WaitGroup
	answers.Go(func() { p.pass(p.client, p.backEnd) })
	p.pass(p.backEnd, p.client)
	answers.Wait()
	stop()
	p.silence.Stop()
	p.client.Close()
	p.backEnd.Close()
	return !p.isBroken.Load()
}

// breakOff resets both connections, which ends their directions.
func (p *pair) breakOff() {
	p.isBroken.Store(true)
	abort(p.client)
	abort(p.backEnd)
}

// pass moves the bytes of one direction and then passes on its end.
func (p *pair) pass(to, from *net.TCPConn) {
	if err := p.move(to, from); err != nil {
		p.breakOff()
	}
}

// move waits for bytes without holding anything for them. The runtime moves them through a pipe, by splice(2).
func (p *pair) move(to, from *net.TCPConn) error {
	raw, err := from.SyscallConn()
	if err != nil {
		return err
	}
	for {
		count, err := waiting(raw)
		if err == nil && count > 0 {
			_, err = io.CopyN(to, from, int64(count))
		}
		if err != nil {
			return err
		}
		p.silence.Reset(p.idleTimeout)
		if count == 0 {
			return to.CloseWrite()
		}
	}
}

// nowhere is where bytes would go that are only counted.
var nowhere [room]byte

// waiting returns how many bytes wait to be read, once there are some, or 0 at the end.
func waiting(raw syscall.RawConn) (count int, err error) {
	failed := raw.Read(func(file uintptr) bool {
		// TCP counts bytes for MSG_TRUNC, and does not copy them (tcp(7)).
		count, _, err = syscall.Recvfrom(int(file), nowhere[:], syscall.MSG_PEEK|syscall.MSG_TRUNC)
		return err != syscall.EAGAIN
	})
	return count, cmp.Or(failed, err)
}
