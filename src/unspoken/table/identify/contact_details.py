"""Where somebody can be reached, and what machines call them: patterns of single values."""

from __future__ import annotations

import re
from ipaddress import ip_address

from unspoken.table.identify.detector import Detector
from unspoken.table.identify.law import (
    DEVICE,
    EMAIL,
    FAX,
    IP,
    OTHER,
    PERSONAL,
    PHOTOGRAPH,
    PLACES,
    TELEPHONE,
    WEB,
    Law,
)

_EMAIL = re.compile(r"(mailto:)?[^\s@<>,;]+@[^\s@<>,;]+\.[A-Za-z]{2,}")
_URL = re.compile(r"(https?://|ftp://|www\.)\S+\.\S+", re.IGNORECASE)
_MAC = re.compile(r"([0-9A-F]{2}[:-]){5}[0-9A-F]{2}|([0-9A-F]{4}\.){2}[0-9A-F]{4}", re.IGNORECASE)
_UUID = re.compile(r"\{?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.IGNORECASE)
_HASH = re.compile(r"(?=.*\d)(?=.*[a-f])([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})",
                   re.IGNORECASE)
_IMAGE = re.compile(r"\S.*\.(jpe?g|png|gif|tiff?|heic|bmp|dcm)", re.IGNORECASE)
_STREET = re.compile(
    r"\b(street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|court|ct|close|crescent|"
    r"terrace|parkway|highway|rue|chemin|impasse|avenida|calle|plaza|paseo|via|viale|piazza|"
    r"platz|allee|gasse|weg|ulica|ul)\b|\w(strasse|straße|str\.|weg|platz|allee|gasse|straat|"
    r"laan|gracht|plein|dijk|kade|vej|gatan|gade)\b", re.IGNORECASE)
_TELEPHONES = tuple(re.compile(pattern) for pattern in (
    r"(\+|00)[1-9]\d{7,14}",                      # E.164
    r"1?[2-9]\d{2}[2-9]\d{6}",                    # North America
    r"0[1-9]\d{6,9}",                             # Britain, France, the Netherlands, Germany
    r"0[1-9]\d{1,4}/\d{4,9}",                     # German area code and number
    r"[679]\d{8}",                                # Spain, Portugal, Poland
))


def _email(text: str) -> bool:
    return _EMAIL.fullmatch(text) is not None


def _web(text: str) -> bool:
    return _URL.fullmatch(text) is not None


def _ip(text: str) -> bool:
    if text.count(".") != 3 and ":" not in text:
        return False
    try:
        ip_address(text.split("/")[0])
    except ValueError:
        return False
    return True


def _telephone(text: str) -> bool:
    bare = re.sub(r"\(0\)|(ext|x)\.? ?\d{1,5}$|[ ().\-]", "", text)
    return any(pattern.fullmatch(bare) for pattern in _TELEPHONES)


def _telephone_as_written(text: str) -> bool:
    """Digits alone could be any number: by content a sign that only telephones have is needed."""
    return bool(re.search(r"^\+|^\(?0|[ ()/-]", text)) and not re.search(
        r"[A-WYZa-wyz]|\d\.\d|^\d{4}-\d\d-\d\d", text) and _telephone(text)


def _address(text: str) -> bool:
    return bool(re.search(r"\d", text)) and _STREET.search(text) is not None


def _device(text: str) -> bool:
    return _MAC.fullmatch(text) is not None


def _code(text: str) -> bool:
    return _UUID.fullmatch(text) is not None or _HASH.fullmatch(text) is not None


def _image(text: str) -> bool:
    return _IMAGE.fullmatch(text) is not None


_PHONE_HEADERS = ("phone", "phones", "telephone", "tel", "mobile", "cell", "cellphone", "telefon",
                  "telefonnummer", "handy", "handynummer", "telefoon", "telefoonnummer", "mobiel",
                  "telefono", "movil", "portable", "gsm", "phone number")
_ADDRESS_HEADERS = ("address", "street", "addr", "adresse", "strasse", "anschrift", "adres",
                    "straat", "rue", "direccion", "calle", "domicilio", "indirizzo")

CONTACT_DETAILS = (
    Detector("e-mail address", "identifier", Law(EMAIL, PERSONAL),
             ("email", "e mail", "mail", "courriel", "correo", "emailadres"), _email, share=0.8),
    Detector("web address", "identifier", Law(WEB, PERSONAL),
             ("url", "website", "homepage", "web address"), _web),
    Detector("IP address", "identifier", Law(IP, PERSONAL), ("ip", "ip address"), _ip),
    Detector("fax number", "identifier", Law(FAX, PERSONAL), ("fax", "telefax"), _telephone,
             kinds=()),
    Detector("telephone number", "identifier", Law(TELEPHONE, PERSONAL), _PHONE_HEADERS,
             _telephone, kinds=()),
    Detector("telephone number", "identifier", Law(TELEPHONE, PERSONAL), (),
             _telephone_as_written, least=5),
    Detector("postal address", "identifier", Law(PLACES, PERSONAL), _ADDRESS_HEADERS, _address,
             share=0.7, least=5, named_share=0.3),
    Detector("device address", "identifier", Law(DEVICE, PERSONAL),
             ("mac", "mac address", "imei", "device id", "serial number", "seriennummer",
              "device serial"), _device, named_share=0.0),
    Detector("random code or hash", "identifier", Law(OTHER, PERSONAL),
             ("uuid", "guid", "hash", "token"), _code, least=5),
    Detector("photograph", "identifier", Law(PHOTOGRAPH, PERSONAL),
             ("photo", "photograph", "picture", "portrait", "foto", "face image", "selfie"),
             _image, least=5),
)
