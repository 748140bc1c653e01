"""Names of people: by the header, or two capitalised words of which one is a given name."""

from __future__ import annotations

import re
import unicodedata

from unspoken.table.identify.column_sample import ColumnSample
from unspoken.table.identify.detector import Detector, named
from unspoken.table.identify.finding import Finding
from unspoken.table.identify.law import NAMES, PERSONAL, Law

_COMMON = """
adam adrian agnes ahmed aisha alan albert alejandro alessandro alexander alexandra alfred ali alice
amelia amy ana andre andrea andreas andrew angela anita anke anna anne annika antoine antonio
arthur astrid barbara bart beatrice ben benjamin bernard bernd birgit bjorn bram brian brigitte
bruno camille carl carla carlos carmen carol caroline catherine cecile charles charlotte chloe
chris christian christina christine christoph christopher clara claire claudia cynthia daan daniel
daniela david deborah dennis diana diego dieter dimitri dirk dominique donald donna dorothy edith
eduard edward elena elias elisabeth elizabeth ella ellen emily emma emmanuel enrique eric erik
ernesto esther eva evelyn fatima felix fernando florian francesca francesco francisco francois
frank franz fred frederic friedrich gabriel gabriele gary george gerald gerard gerhard giovanni
giulia gloria grace greta grzegorz guillaume gustav hannah hans harald harry hassan heather heike
heinrich helen helena helga henk henri henry herbert hugo ian ibrahim ines ingrid irene isabel
isabella ivan jack jacob jacques jakob jakub james jan jana jane janet jason javier jean jeanne
jeff jennifer jens jeremy jerzy jessica joan joanna joao johan johann johannes john jonas jonathan
jorge jose josef joseph joshua juan judith julia julian julie jurgen justin karen karin karl
katarzyna katharina katherine kathleen katja kees keith kelly kenneth kevin kim klaus krzysztof
kurt larry lars laura lauren laurent lea leo leon leonie liam lieke linda lisa louis louise luca
lucas lucia lucy luis lukas maarten magdalena manfred manuel marc marcel marco marek margaret maria
marie marina mario marion mark markus marta martha martin martina mary mateusz matthew matthias max
maximilian maya mehmet mia michael michal michel michele miguel mila mohamed mohammed monica monika
muhammad nadia nancy natalia natalie nathalie nicholas nicolas nicole nina noah nora olga oliver
olivia omar oscar otto pablo pamela patricia patrick paul paula paulo pauline pedro peter petra
philip philipp philippe pierre pieter piotr priya rachel rafael rainer ralf ramon raymond rebecca
renate rene ricardo richard robert roberto roger roland ronald rosa rudolf ruth ryan sabine
samantha samuel sandra sanne sara sarah scott sebastian sergio sharon silvia simon sofia sonja
sophia sophie stefan stefanie stephan stephanie stephen steven susan susanne sven sylvia tanja
teresa theo theresa thomas tim timothy tobias tom tomasz torsten ursula ute uwe valentina vera
victor victoria vincent virginia walter werner willem william wolfgang xavier yasmin yusuf yves
yvonne zoe
"""
GIVEN_NAMES = frozenset(_COMMON.split())

_WORD = r"[^\W\d_][^\W\d_'’.-]*(?:['’-][^\W\d_]+)*\.?"
_WHOLE = re.compile(rf"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme|M|Sr|Sra)\.? )?"
                    rf"{_WORD},?(?: (?:van|von|de|der|den|del|della|di|da|dos|la|le|ter|zu|"
                    rf"{_WORD})){{1,4}}")
_EXACT = ("=name", "=names", "=nom", "=naam", "=nombre", "=nome", "=imie", "=initials")
HEADERS = (*_EXACT, "first name", "firstname", "last name", "lastname", "surname", "full name",
           "fullname", "given name", "givenname", "family name", "familyname", "forename",
           "middle name", "maiden name", "nickname", "username", "user name", "patient name",
           "customer name", "client name", "person name", "employee name", "student name",
           "member name", "doctor name", "physician name", "contact name", "name of patient",
           "vorname", "nachname", "familienname", "geburtsname", "patientenname", "kundenname",
           "prenom", "nom de famille", "nom famille", "nom patient", "achternaam", "voornaam",
           "roepnaam", "apellido", "apellidos", "nombres", "nombre completo", "cognome",
           "nazwisko", "customername", "patientname", "name first", "name last")
_LAW = Law(NAMES, PERSONAL)


def _folded(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word)
    return "".join(c for c in plain if not unicodedata.combining(c)).lower().strip(".,")


def has_given_name(text: str) -> bool:
    """Return True if one of the words is a common given name."""
    return any(_folded(word) in GIVEN_NAMES for word in re.split(r"[ -]", text))


def looks_like_a_name(text: str) -> bool:
    """Return True if a text is two to five words that all begin as names do."""
    if _WHOLE.fullmatch(text) is None:
        return False
    words = text.split()
    return words[0][0].isupper() and words[-1][0].isupper()


def _judge(sample: ColumnSample) -> Finding | None:
    """Look for names of people in a column of text."""
    if sample.kind != "text":
        return None
    looked = len(sample.values)
    if named(sample.header, HEADERS):
        return _finding(sample, "by name", looked, f"the name '{sample.name}' says so")
    whole = sum(n for text, n in sample.counted if looks_like_a_name(text))
    matching = sum(n for text, n in sample.counted if has_given_name(text) and len(text) < 40)
    if len(sample.counted) < 5:
        return None
    if whole >= 0.8 * looked and matching >= 0.3 * looked:
        return _finding(sample, "by content", whole, f"{whole:,} of {looked:,} values are two "
                        f"or more capitalised words, {matching:,} with a common given name")
    alone = sum(n for text, n in sample.counted if _folded(text) in GIVEN_NAMES)
    if alone >= 0.6 * looked:
        return _finding(sample, "by content", alone,
                        f"{alone:,} of {looked:,} values are common given names")
    return None


def _finding(sample: ColumnSample, how: str, count: int, reason: str) -> Finding:
    return Finding(sample.name, "person's name", "identifier", how, count, len(sample.values),
                   reason, _LAW.hipaa, _LAW.gdpr)


PERSON_NAMES = (Detector("person's name", "identifier", _LAW, HEADERS, judge=_judge),)
