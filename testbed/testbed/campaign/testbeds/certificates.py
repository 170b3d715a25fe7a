# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Certificates for the TLS connections of an inventory: an authority, and a folder for each machine.

Whoever has a certificate of the authority runs programs as the testbeds' user. Host names are not checked: the
authority is for nothing else, and laboratories use addresses.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dask
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from distributed.security import Security

from testbed.campaign.testbeds.inventory import COORDINATOR

# In the folder of each machine.
AUTHORITY_FILE, CERTIFICATE, KEY = "authority.pem", "certificate.pem", "key.pem"
# The folders of an inventory. Names of testbeds are below their own.
AUTHORITY, SCHEDULER, TESTBEDS = "authority", "scheduler", "testbeds"
# Clocks differ.
_EARLIER = timedelta(days=1)
_SOON = timedelta(days=30)


class CertificateError(Exception):
    """A certificate cannot be made or used; the message says what to do."""


@dataclass(frozen=True)
class Made:
    """The folder of one machine."""

    folder: Path
    is_new: bool
    expires: datetime


def make_certificates(folder: Path, testbeds: Iterable[str], days: int) -> list[Made]:
    """Makes what is missing: the authority first, then scheduler, coordinator and testbeds. Keeps what is there.

    Raises `CertificateError` if something that is there is of no use, or the folder cannot be written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority = _made(folder / AUTHORITY, None, days)
        of_testbeds = (folder / TESTBEDS / name for name in testbeds)
        machines = [folder / SCHEDULER, folder / COORDINATOR, *of_testbeds]
        return [authority, *(_made(machine, authority.folder, days) for machine in machines)]
    except OSError as error:
        raise CertificateError(f"cannot write certificates into '{folder}': {error.strerror}") from error


def _made(folder: Path, authority: Path | None, days: int) -> Made:
    if folder.exists():
        return Made(folder, False, checked(folder, None if authority is None else authority / CERTIFICATE))
    issuer = _read(authority / CERTIFICATE) if authority is not None else None
    key = ec.generate_private_key(ec.SECP256R1())
    issuer_key = key if authority is None else load_pem_private_key((authority / KEY).read_bytes(), None)
    assert isinstance(issuer_key, ec.EllipticCurvePrivateKey)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"testbed {folder.name}")])
    now = datetime.now(UTC)
    expires = now + timedelta(days=days)
    if issuer is not None:
        # None outlives its authority.
        expires = min(expires, issuer.not_valid_after_utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer.subject if issuer is not None else name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(expires)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=0 if issuer is None else None), True)
    )
    if issuer is not None:
        # Each machine both listens and connects.
        both = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
        builder = builder.add_extension(both, critical=False)
    certificate = builder.sign(issuer_key, hashes.SHA256())
    own = certificate.public_bytes(Encoding.PEM)
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    # All or nothing: an interrupted command leaves no key without its certificate.
    draft = folder.with_name(f".{folder.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700, parents=True)
    _write(draft / CERTIFICATE, own, 0o644)
    _write(draft / KEY, secret, 0o600)
    if authority is not None:
        _write(draft / AUTHORITY_FILE, (authority / CERTIFICATE).read_bytes(), 0o644)
    draft.rename(folder)
    return Made(folder, is_new=True, expires=certificate.not_valid_after_utc)


def _write(path: Path, data: bytes, mode: int) -> None:
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(number, "wb") as file:
        file.write(data)


def _read(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except OSError as error:
        raise CertificateError(
            f"cannot read '{path}': {error.strerror}: make certificates with ./x testbed certificates --inventory "
            "FILE, and copy to each machine its folder"
        ) from error
    except ValueError as error:
        raise CertificateError(f"'{path}' is not a certificate: remove its folder and make another one") from error


def checked(folder: Path, authority: Path | None = None) -> datetime:
    """When the certificate of a machine's folder expires.

    Raises `CertificateError` if it cannot be used, this authority has not made it, or others can read its key.
    """
    path, key = folder / CERTIFICATE, folder / KEY
    certificate, again = _read(path), f"remove the folder '{folder}' and run ./x testbed certificates again"
    begins, expires, now = certificate.not_valid_before_utc, certificate.not_valid_after_utc, datetime.now(UTC)
    if not key.exists():
        raise CertificateError(f"'{key}' is missing: {again}")
    if key.stat().st_mode & 0o077:
        raise CertificateError(f"others can read the private key '{key}': chmod 600 '{key}'")
    if expires <= now:
        raise CertificateError(f"the certificate '{path}' expired on {expires:%Y-%m-%d}: {again}")
    if begins > now:
        raise CertificateError(f"the certificate '{path}' is valid from {begins:%Y-%m-%d} on: set this machine's clock")
    if authority is not None:
        try:
            certificate.verify_directly_issued_by(_read(authority))
        except (ValueError, InvalidSignature) as error:
            raise CertificateError(
                f"the certificate '{path}' is not from the authority '{authority}': {again}"
            ) from error
    return expires


def soon(expires: datetime) -> bool:
    """Whether it is time for a new one."""
    return expires - datetime.now(UTC) < _SOON


def has_own_settings() -> bool:
    """Whether Dask's own configuration has an authority, and encryption is required."""
    return dask.config.get("distributed.comm.tls.ca-file", None) is not None and bool(
        dask.config.get("distributed.comm.require-encryption", None)
    )


def security(folder: Path) -> Security:
    """The settings of a machine that has this folder, for each of Dask's roles: nothing is sent or taken without TLS.

    Raises `CertificateError`.
    """
    checked(folder, folder / AUTHORITY_FILE)
    files = {"cert": str(folder / CERTIFICATE), "key": str(folder / KEY)}
    roles = ("client", "scheduler", "worker")
    own = {f"tls_{role}_{kind}": path for role in roles for kind, path in files.items()}
    return Security(require_encryption=True, tls_ca_file=str(folder / AUTHORITY_FILE), **own)
