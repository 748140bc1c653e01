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
                    "Check that a signed record was not changed, and that a release is the one "
                    "that it is about. Exit status 0: as it was signed, 1: changed, signed with "
                    "another key, or about another release.")
    checking.add_argument("record", type=Path, metavar="RECORD", help="the signed file")
    checking.add_argument("--fingerprint", metavar="HEX",
                          help="the key that must have signed it, as 'unspoken sign' printed it; "
                               "without it any key will do")
    checking.add_argument("--release", type=Path, metavar="RELEASE",
                          help="the release (folder or file) that the record must be about "
                               "(default: the one of its name beside the record, or here, if "
                               "there is one)")


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
    """Check a signed file, and the release that it is about."""
    from unspoken.release.record_signature import verify_file

    found = verify_file(args.record, args.fingerprint)
    release, reason = _release_of(args) if found else (None, found.reason)
    note = "" if args.fingerprint else (" Compare the fingerprint with the signer's: anybody can "
                                        "make a key.")
    emit(args, {"record": str(args.record), "valid": not reason, "reason": reason,
                "fingerprint": found.fingerprint, "signed_at": found.signed_at,
                "release": None if release is None else str(release)},
         f"Refused: {reason} (key {found.fingerprint})." if reason else
         f"As it was signed at {found.signed_at} with the key {found.fingerprint}.{note}\n"
         f"{_told_of(release)}")
    return 1 if reason else 0


def _release_of(args: argparse.Namespace) -> tuple[Path | None, str]:
    """Return the release that was compared with the record, and why it is not the one."""
    from unspoken.release.record_subject import subject_in

    subject = subject_in(args.record)
    if subject is None:
        return None, "" if args.release is None else "it does not say which release it is about"
    place = args.release or subject.beside([args.record.resolve().parent, Path.cwd()])
    return place, "" if place is None else subject.why_not(place)


def _told_of(release: Path | None) -> str:
    if release is None:
        return "It was compared with no release: none of its name is at hand. Pass --release."
    return f"The release '{release}' is the one that it is about."
