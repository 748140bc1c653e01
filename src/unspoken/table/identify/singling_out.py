"""What finds a person only together with other columns: sex, age, place, dates, family."""

from __future__ import annotations

import datetime
import re

from unspoken.table.identify.column_sample import ColumnSample
from unspoken.table.identify.detector import Detector, named
from unspoken.table.identify.finding import Finding
from unspoken.table.identify.law import DATES, PERSONAL, PLACES, Law

_ANY = ("text", "integer", "whole float", "boolean")
_NUMBERS = ("integer", "whole float", "float")
_SEXES = """
m f w male female man woman männlich weiblich mannelijk vrouwelijk vrouw masculin féminin feminin
homme femme hombre mujer masculino femenino maschio femmina divers other unknown x non-binary
nonbinary diverse
"""
_SEX = frozenset(_SEXES.split())
_MARITAL = re.compile(r"(never|not|un)?[ -]?(married|divorced|separated|widow(ed|er)?|single|"
                      r"verheiratet|geschieden|verwitwet|ledig|marie|marié|divorcé|célibataire|"
                      r"veuf|veuve|gehuwd|gescheiden|weduw(e|naar)|ongehuwd|casad[oa]|"
                      r"divorciad[oa]|solter[oa]|viud[oa]|cohabit\w*|domestic partner\w*)\b.*",
                      re.IGNORECASE)
_POSTCODES = tuple(re.compile(pattern) for pattern in (
    r"(GIR ?0AA|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})",   # United Kingdom
    r"[1-9]\d{3} ?[A-Z]{2}",                          # the Netherlands
    r"[A-Z]\d[A-Z][ -]?\d[A-Z]\d",                    # Canada
    r"\d{5}-\d{4}",                                   # United States, ZIP+4
    r"(D|A|CH|F|B|L|NL|PL)-\d{4,5}",                  # with the country in front
    r"\d{2}-\d{3}",                                   # Poland
))
_DAY_FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y%m%d",
                "%d.%m.%y", "%m/%d/%y")
BIRTH_HEADERS = ("date of birth", "dob", "birth date", "birthdate", "birthday", "born", "birth",
                 "geburtsdatum", "geburtstag", "geb", "gebdatum", "date de naissance",
                 "date naissance", "naissance", "geboortedatum", "fecha de nacimiento",
                 "fecha nacimiento", "nacimiento", "data di nascita", "data nascita")
_PLACE_LAW, _DATE_LAW = Law(PLACES, PERSONAL), Law(DATES, PERSONAL)


def _sex(text: str) -> bool:
    return text.casefold() in _SEX


def _sex_by_itself(text: str) -> bool:
    return text.casefold() in _SEX - {"other", "unknown", "x", "divers", "diverse"}


def _marital(text: str) -> bool:
    return _MARITAL.fullmatch(text) is not None


def _postcode(text: str) -> bool:
    return any(pattern.fullmatch(text.upper()) for pattern in _POSTCODES)


def _postcode_if_named(text: str) -> bool:
    return _postcode(text) or re.fullmatch(r"\d{3,6}", text) is not None


def _age(text: str) -> bool:
    return re.fullmatch(r"\d{1,3}(\.\d+)?", text) is not None and float(text) <= 130


def _coordinate(text: str) -> bool:
    return re.fullmatch(r"-?\d{1,3}\.\d{3,}", text) is not None and abs(float(text)) <= 180


def _coordinates(text: str) -> bool:
    parts = re.split(r"[,; ]+", text.strip("()[] "))
    return len(parts) == 2 and all(map(_coordinate, parts))


def day_of(text: str) -> datetime.date | None:
    """Return the day that a text writes, in one of the usual ways."""
    if not re.match(r"\d", text) or not 6 <= len(text) <= 32:
        return None
    first = re.split(r"[T ]", text)[0]
    for pattern in _DAY_FORMATS:
        try:
            return datetime.datetime.strptime(first, pattern).date()
        except ValueError:
            continue
    return None


def _days(sample: ColumnSample) -> list[tuple[datetime.date, int]]:
    """Return the days in a column with how often each occurs; none if most values are no days."""
    if sample.kind not in ("date", "text"):
        return []
    first = [day_of(text) for text, _ in sample.counted[:100]]
    if first.count(None) > 0.3 * len(first):
        return []
    days = [(day_of(text), count) for text, count in sample.counted]
    return [(day, count) for day, count in days if day is not None]


def _judge_dates(sample: ColumnSample) -> Finding | None:
    """Tell days of birth from other days: by the header, or by years as people's are."""
    days, looked = _days(sample), len(sample.values)
    count = sum(n for _, n in days)
    if count < 0.8 * looked:
        return _birth_year(sample)
    if named(sample.header, BIRTH_HEADERS):
        return _date_finding(sample, "date of birth", "by name", count,
                             f"the name '{sample.name}' says so, and {count:,} of {looked:,} "
                             "values are days")
    if len(days) >= 20 and _spread_like_births([day for day, _ in days]):
        return _date_finding(sample, "date of birth", "by content", count,
                             f"{count:,} of {looked:,} values are days, spread as days of birth")
    return Finding(sample.name, "date", None, "by content", count, looked,
                   f"{count:,} of {looked:,} values are days", DATES, PERSONAL)


def _spread_like_births(days: list[datetime.date]) -> bool:
    years = sorted(day.year for day in days)
    low, high = years[len(years) // 20], years[-1 - len(years) // 20]
    today = datetime.date.today()
    return years[0] >= 1900 and max(days) <= today and high - low >= 30 and \
        years[len(years) // 2] <= today.year - 18


def _birth_year(sample: ColumnSample) -> Finding | None:
    headers = ("birth year", "year of birth", "birthyear", "yob", "geburtsjahr", "geboortejaar",
               "annee de naissance", "ano de nacimiento", *BIRTH_HEADERS)
    if sample.kind not in _ANY or not named(sample.header, headers):
        return None
    this_year = datetime.date.today().year
    count = sum(n for text, n in sample.counted
                if re.fullmatch(r"\d{4}", text) and 1900 <= int(text) <= this_year)
    if count < 0.8 * len(sample.values):
        return None
    return Finding(sample.name, "year of birth", "quasi", "by name", count, len(sample.values),
                   f"the name '{sample.name}' says so, and the values are years", None, PERSONAL)


def _date_finding(sample: ColumnSample, what: str, how: str, count: int, reason: str) -> Finding:
    return Finding(sample.name, what, "quasi", how, count, len(sample.values), reason, DATES,
                   PERSONAL)


SINGLING_OUT = (
    Detector("date", None, _DATE_LAW, judge=_judge_dates),
    Detector("sex", "quasi", Law(None, PERSONAL),
             ("sex", "gender", "geschlecht", "sexe", "geslacht", "sexo", "genero", "sesso"),
             kinds=(), named_kinds=_ANY),
    Detector("sex", "quasi", Law(None, PERSONAL), (), _sex_by_itself, share=0.95, least=2),
    Detector("age", "quasi", Law(DATES, PERSONAL),
             ("age", "age years", "alter", "leeftijd", "edad", "eta", "age at diagnosis",
              "lebensalter"), _age, kinds=(), named_kinds=(*_NUMBERS, "text"), named_share=0.9),
    Detector("postcode", "quasi", _PLACE_LAW,
             ("zip", "zipcode", "zip code", "postcode", "post code", "postal code", "postalcode",
              "plz", "postleitzahl", "code postal", "codigo postal", "cap", "cp"),
             _postcode_if_named, kinds=()),
    Detector("postcode", "quasi", _PLACE_LAW, (), _postcode, share=0.95, least=10),
    Detector("town or district", "quasi", _PLACE_LAW,
             ("city", "town", "village", "municipality", "county", "district", "borough", "parish",
              "precinct", "census tract", "stadt", "ort", "wohnort", "gemeinde", "kreis", "ville",
              "commune", "gemeente", "woonplaats", "stad", "ciudad", "municipio", "comune",
              "birthplace", "place of birth", "geburtsort")),
    Detector("latitude or longitude", "quasi", _PLACE_LAW,
             ("lat", "latitude", "lon", "long", "lng", "longitude", "gps", "breitengrad",
              "langengrad"), _coordinate, kinds=(), named_kinds=("float", "text")),
    Detector("pair of coordinates", "quasi", _PLACE_LAW,
             ("coordinates", "location", "gps", "geo"), _coordinates, least=5),
    Detector("marital status", "quasi", Law(None, PERSONAL),
             ("marital", "marital status", "maritalstatus", "civil status", "familienstand",
              "etat civil", "burgerlijke staat", "estado civil", "stato civile"), kinds=(),
             named_kinds=_ANY),
    Detector("marital status", "quasi", Law(None, PERSONAL), (), _marital, share=0.9, least=2),
    Detector("nationality or country of birth", "quasi", Law(None, PERSONAL),
             ("nationality", "citizenship", "native country", "country of birth",
              "staatsangehorigkeit", "nationalitat", "nationalite", "nationaliteit",
              "nacionalidad", "geburtsland", "geboorteland")),
    Detector("occupation", "quasi", Law(None, PERSONAL),
             ("occupation", "profession", "job title", "beruf", "metier", "beroep", "profesion",
              "ocupacion")),
)
