# shellcheck shell=sh disable=SC2034 # x uses these variables
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
#
# Installs or checks what the commands of `x` need. `x` sources this file and defines `say` and `fail`.

DPDK_FLOOR=22.11
PYTHON_FLOOR=3.11
venv=testbed/.venv

# Debian and Ubuntu packages by purpose.
DOC_PACKAGES='build-essential python3 python3-venv'
# The workspace has generated code of Cap'n Proto.
BUILD_PACKAGES='build-essential capnproto pkgconf libdpdk-dev libclang-dev meson ninja-build'
RUN_PACKAGES='curl dnsmasq-base dpdk-dev ethtool iperf3 iproute2 iputils-ping openssl procps python3 python3-venv tcpdump'
SSH_PACKAGES='openssh-client openssh-server'
VM_PACKAGES='busybox-static qemu-system-x86'
# Opens the written pages as a reader does.
BROWSER_PACKAGES='chromium'
LINT_PACKAGES='clang-format git python3 python3-venv shellcheck'
FUZZ_PACKAGES='clang libclang-rt-dev'
ASAN_PACKAGES='clang dpkg-dev libclang-rt-dev python3-pyelftools'
VALGRIND_PACKAGES='libc6-dbg valgrind'
PARSING_PACKAGES='binutils clang'
CODEC_PACKAGES='libcapnp-dev libprotobuf-dev protobuf-compiler'
ROOT_PACKAGES='debian-archive-keyring debootstrap git python3'

at_least() { # FLOOR VERSION
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

packages() { # NAME…: installs those that are missing
    if ! command -v dpkg-query >/dev/null; then
        say "this is not Debian or Ubuntu: continuing, but the equivalents of these packages must be installed: $*"
        return
    fi
    have=$(dpkg-query -W -f '<${Package}:${db:Status-Status}>' "$@" 2>/dev/null || true)
    missing=
    for name; do
        case "$have<$missing >" in
            *"<$name:installed>"* | *" $name "*) ;;
            *) missing="$missing $name" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif sudo -n true 2>/dev/null; then
        as_root='sudo -n'
    else
        fail "these packages are missing, and installing them needs root. Run: sudo apt-get install$missing"
    fi
    say "installing the packages$missing"
    # An unreachable third-party source must not stop the installation.
    $as_root apt-get -qq update || say 'apt-get update failed: continuing with the present package lists'
    # shellcheck disable=SC2086 # lists of words
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 \
        --no-install-recommends install $missing ||
        fail "cannot install$missing: apt's message is above"
}

dpdk() { # sets $dpdk_version
    dpdk_version=$(pkg-config --modversion libdpdk 2>/dev/null) ||
        fail 'pkg-config does not find libdpdk: install libdpdk-dev, or set PKG_CONFIG_PATH to your own DPDK'
    at_least $DPDK_FLOOR "$dpdk_version" ||
        fail "DPDK $dpdk_version is too old, $DPDK_FLOOR or newer is needed: use Debian 12, Ubuntu 24.04 or newer"
    # `test --dpdk` must not test another version than the one requested.
    case $dpdk_version. in
        "${DPDK_WANTED:-$dpdk_version}".*) ;;
        *) fail "DPDK $DPDK_WANTED was requested, but pkg-config finds $dpdk_version" ;;
    esac
}

rust() {
    floor=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    version=$(cargo --version 2>/dev/null | cut -d ' ' -f 2) || true
    if [ -z "$version" ] || ! at_least "$floor" "$version"; then
        fail "Rust $floor or newer is needed (${version:-none} found): install it with rustup, see https://rustup.rs"
    fi
}

rust_checkers() {
    { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1 ||
        fail 'rustfmt or clippy is missing. Run: rustup component add rustfmt clippy'
}

# The system's Python with pinned packages in a virtual environment, never the system's packages.
python_environment() {
    at_least $PYTHON_FLOOR "$(/usr/bin/python3 -c 'import platform; print(platform.python_version())')" ||
        fail "$(/usr/bin/python3 --version) is too old, $PYTHON_FLOOR or newer is needed"
    stamp="$(/usr/bin/python3 --version) $(cksum <testbed/requirements.lock)"
    [ "$(cat $venv/stamp 2>/dev/null)" = "$stamp" ] && return
    say 'installing the Python packages of testbed/requirements.lock into testbed/.venv'
    /usr/bin/python3 -m venv --clear $venv || fail "cannot create $venv: check that python3-venv is complete"
    $venv/bin/pip --quiet --disable-pip-version-check install -r testbed/requirements.lock ||
        fail "cannot install the Python packages: pip's message is above"
    echo "$stamp" >$venv/stamp
}

# The fuzzer of the Python targets, in the same environment.
fuzz_engine() {
    stamp=$(cksum <testbed/fuzz/requirements.lock)
    [ "$(cat $venv/fuzz-stamp 2>/dev/null)" = "$stamp" ] && return
    say 'installing the Python fuzzer into testbed/.venv'
    $venv/bin/pip --quiet --disable-pip-version-check install -r testbed/fuzz/requirements.lock ||
        fail "cannot install the Python fuzzer: pip's message is above"
    echo "$stamp" >$venv/fuzz-stamp
}

need() { # build run browser ssh vm asan valgrind parsing codecs lint fuzz
    list=
    for purpose; do
        case $purpose in
            build) list="$list $BUILD_PACKAGES" ;;
            run) list="$list $RUN_PACKAGES" ;;
            ssh) list="$list $SSH_PACKAGES" ;;
            vm) list="$list $VM_PACKAGES" ;;
            browser) list="$list $BROWSER_PACKAGES" ;;
            asan) list="$list $ASAN_PACKAGES" ;;
            valgrind) list="$list $VALGRIND_PACKAGES" ;;
            parsing) list="$list $PARSING_PACKAGES" ;;
            codecs) list="$list $CODEC_PACKAGES" ;;
            lint) list="$list $LINT_PACKAGES" ;;
            fuzz) list="$list $FUZZ_PACKAGES" ;;
        esac
    done
    # shellcheck disable=SC2086 # a list of words
    packages $list
    for purpose; do
        case $purpose in
            build) dpdk && rust ;;
            run) python_environment ;;
            lint) python_environment && rust_checkers ;;
            fuzz) fuzz_engine ;;
        esac
    done
}
