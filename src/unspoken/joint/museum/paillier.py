"""Paillier's encryption, which adds under encryption, through the package of TNO.

The package (tno.mpc.encryption_schemes.paillier, Apache-2.0) does the arithmetic on plain
integers, so that what comes from outside can be checked before it is used. Its own key generation
is not used: it draws primes with sympy, whose generator is a Mersenne Twister. Here they come from
OpenSSL, as for RSA. Keys are fresh for every call and never stored.

Neither is in constant time: how long a party computes may depend on its values. Slow, too: at
3072 bits about a quarter of a second for each encryption or decryption, and a quarter of that if
gmpy2 is installed. For short vectors only.
"""

from __future__ import annotations

import math
import secrets
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.asymmetric import rsa

from unspoken.errors import InputError, MissingExtraError, explain

Raw = npt.NDArray[np.uint8]

KEY_BITS = 3072
LEAST_BITS = 2048
MOST_BITS = 8192


class BadCiphertextError(ValueError):
    """Bytes that are no ciphertext under a key, or no key."""


class _Package(NamedTuple):
    """What is used of the package."""

    scheme: Any
    public: Any
    secret: Any
    ciphertext: Any
    source: Any
    power: Callable[[int, int, int], int]


@cache
def _package() -> _Package:
    """Return the package, or say how to get it."""
    try:
        with warnings.catch_warnings():
            # It says at each start that gmpy2 would be quicker.
            warnings.simplefilter("ignore", UserWarning)
            from tno.mpc.encryption_schemes import paillier
            from tno.mpc.encryption_schemes.templates import random_sources
            from tno.mpc.encryption_schemes.utils import pow_mod
    except ImportError:
        raise MissingExtraError(
            "Homomorphic encryption needs tno.mpc.encryption_schemes.paillier, which is not "
            "installed. Get it with: pip install 'unspoken[paillier]'") from None
    return _Package(paillier.Paillier, paillier.PaillierPublicKey, paillier.PaillierSecretKey,
                    paillier.PaillierCiphertext, random_sources.ContextlessSource, pow_mod)


def check_bits(bits: int) -> None:
    """Refuse keys that are too short to protect, or too long to compute with."""
    if not isinstance(bits, int) or not LEAST_BITS <= bits <= MOST_BITS or bits % 16:
        raise InputError(explain("'key_bits'", f"a multiple of 16 from {LEAST_BITS} to "
                                 f"{MOST_BITS}", bits, f"Leave it out for {KEY_BITS}."))


class Scheme:
    """A key, with or without its secret part, and what can be done with it."""

    def __init__(self, n: int, secret: Any = None) -> None:
        package = _package()
        self.bits = n.bit_length()
        self._inside = package.scheme(package.public(n, n + 1), secret)
        # The package keeps every scheme, secret keys too, in a global list.
        self._inside.remove_from_global_list()
        self._inside.register_randomness_source(package.source(_randomness(n, package.power)))
        self._ciphertext = package.ciphertext

    @property
    def n(self) -> int:
        """Return the modulus, which is public."""
        return int(self._inside.public_key.n)

    @property
    def width(self) -> int:
        """Return the bytes of a ciphertext."""
        return 2 * self.bits // 8

    def encrypt(self, number: int) -> int:
        """Return a fresh encryption of a number modulo n."""
        return self._value(self._inside.encrypt(self._centred(number)))

    def decrypt(self, ciphertext: int) -> int:
        """Return the number in a ciphertext, from 0 to n - 1."""
        plaintext = self._inside.decrypt(self._ciphertext(ciphertext, self._inside))
        return int(plaintext) % self.n

    def weighted(self, ciphertexts: Sequence[int], weights: Sequence[int], plus: int) -> int:
        """Return an encryption of plus + the sum of weights times what is encrypted.

        It is re-randomised: without that, the holder of the key could test guesses of the weights.
        """
        total = self._inside.unsafe_encrypt(self._centred(plus))
        for ciphertext, weight in zip(ciphertexts, weights, strict=True):
            total = total + self._ciphertext(ciphertext, self._inside) * int(weight)
        return self.rerandomised(self._value(total))

    def rerandomised(self, ciphertext: int) -> int:
        """Return another encryption of the same number, which nobody can tell from a new one."""
        again = self._ciphertext(ciphertext, self._inside)
        again.randomize()
        return self._value(again)

    def pack(self, ciphertexts: Iterable[int]) -> Raw:
        """Return ciphertexts as they travel: rows of one width."""
        raw = b"".join(c.to_bytes(self.width, "little") for c in ciphertexts)
        return np.frombuffer(raw, np.uint8).reshape(-1, self.width)

    def unpack(self, raw: Raw) -> list[int]:
        """Return ciphertexts from outside; each must be invertible modulo n squared."""
        ciphertexts = [int.from_bytes(row.tobytes(), "little") for row in raw]
        if not all(0 < c < self.n ** 2 and math.gcd(c, self.n) == 1 for c in ciphertexts):
            raise BadCiphertextError("bytes that are not a ciphertext")
        return ciphertexts

    def _centred(self, number: int) -> int:
        number %= self.n
        return number if 2 * number <= self.n else number - self.n

    @staticmethod
    def _value(ciphertext: Any) -> int:
        return int(ciphertext.peek_value())


def _randomness(n: int, power: Callable[[int, int, int], int]) -> Iterator[int]:
    """Yield n-th powers of fresh units, which are the randomness of ciphertexts."""
    while True:
        yield power(secrets.randbelow(n - 1) + 1, n, n * n)


def fresh_scheme(bits: int = KEY_BITS) -> Scheme:
    """Return a new key pair; the primes are OpenSSL's."""
    check_bits(bits)
    primes = rsa.generate_private_key(65537, bits).private_numbers()
    n, order = primes.p * primes.q, (primes.p - 1) * (primes.q - 1)
    return Scheme(n, _package().secret(order, pow(order, -1, n), n))


def public_scheme(raw: Raw, bits: int) -> Scheme:
    """Return the public key that a peer sent; one of another length is refused."""
    n = int.from_bytes(raw.tobytes(), "little")
    if n.bit_length() != bits or n % 2 == 0 or math.gcd(n, _SMALL) != 1:
        raise BadCiphertextError("bytes that are not a key")
    return Scheme(n)


def public_bytes(scheme: Scheme) -> Raw:
    """Return a public key as it travels."""
    return np.frombuffer(scheme.n.to_bytes(scheme.bits // 8, "little"), np.uint8)


_SMALL = math.prod(p for p in range(3, 1000) if all(p % q for q in range(2, int(p ** .5) + 1)))
