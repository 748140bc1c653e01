"""`unspoken sign` and `unspoken verify-record`: a decision record that nobody can change unseen."""

from __future__ import annotations

import argparse
from pathlib import Path

from unspoken.cli.common import Adder, add_passphrase, emit, passphrase, verb


def add(verbs: Adder) -> None:
    """Add both verbs."""
    signing = verb(verbs, "sign", run_sign,
                   "Sign a decision record, or any file, with an Ed25519 key. "
                   "The signature is written beside it, as RECORD.sig.")
    signing.add_argument("record", type=Path, metavar="RECORD", help="the file to sign")
    signing.add_argument("--key", type=Path, required=True, metavar="FILE",
                         help="the private key, in PEM; keys of 'unspoken joint identity' work")
    signing.add_argument("--new-key", action="store_true", help="make the key first")
    add_passphrase(signing)
    checking = verb(verbs, "verify-record", run_verify,
                    "Check that a signed record was not changed. "
                    "Exit status 0: as it was signed, 1: changed, or signed with another key.")
    checking.add_argument("record", type=Path, metavar="RECORD", help="the signed file")
    checking.add_argument("--fingerprint", metavar="HEX",
                          help="the key that must have signed it, as 'unspoken sign' printed it; "
                               "without it any key will do")


def run_sign(args: argparse.Namespace) -> int:
    """Sign a file."""
    from unspoken.release.record_signature import new_signing_key, sign_file, signature_path

    secret = passphrase(args, new=args.new_key)
    if args.new_key:
        new_signing_key(args.key, secret)
    done = sign_file(args.record, args.key, secret)
    emit(args, {"record": str(args.record), "signature": str(signature_path(args.record)),
                "fingerprint": done.fingerprint, "signed_at": done.signed_at},
         f"Signed at {done.signed_at}: {signature_path(args.record)}.\n"
         f"Fingerprint of the key: {done.fingerprint}. Give it to whoever checks the record.")
    return 0


def run_verify(args: argparse.Namespace) -> int:
    """Check a signed file."""
    from unspoken.release.record_signature import verify_file

    found = verify_file(args.record, args.fingerprint)
    note = "" if args.fingerprint else (" Compare the fingerprint with the signer's: anybody can "
                                        "make a key.")
    emit(args, {"record": str(args.record), "valid": found.valid, "reason": found.reason,
                "fingerprint": found.fingerprint, "signed_at": found.signed_at},
         f"As it was signed at {found.signed_at} with the key {found.fingerprint}.{note}"
         if found else f"Refused: {found.reason} (key {found.fingerprint}).")
    return 0 if found else 1
