"""The special categories of article 9 GDPR: by header and by words, in several languages."""

from __future__ import annotations

import re
from collections.abc import Callable

from unspoken.table.identify.detector import Detector
from unspoken.table.identify.law import (
    BIOMETRIC,
    BIOMETRIC_DATA,
    ETHNIC,
    GENETIC,
    HEALTH,
    PERSONAL,
    POLITICAL,
    RELIGIOUS,
    SEXUAL,
    UNION,
    Law,
)

_ANY = ("text", "integer", "whole float", "float", "boolean")
_ICD_10 = re.compile(r"[A-TV-Z]\d[0-9AB](\.[0-9A-Z]{1,4})?[*+!]?")
_GENOTYPE = re.compile(r"[ACGT]{1,2}[/|][ACGT]{1,2}|rs\d{3,}|[ACGTN]{12,}|[cgp]\.\S+[>_]\S+")


def _any_of(*stems: str) -> Callable[[str], bool]:
    """Return a test for words that begin with one of the stems."""
    pattern = re.compile(r"\b(" + "|".join(stems) + ")", re.IGNORECASE)
    return lambda text: len(text) <= 60 and pattern.search(text) is not None


_BELIEF = _any_of(
    "catholic", "protestant", "christian", "muslim", "islam", "jew(ish)?\\b", "judaism", "hindu",
    "buddhis", "sikh", "orthodox", "lutheran", "baptist", "methodist", "mormon", "atheis",
    "agnosti", "katholisch", "evangelisch", "christlich", "muslimisch", "jüdisch",
    "konfessionslos", "catholique", "protestante?", "musulman", "juif", "juive", "katholiek",
    "hervormd", "gereformeerd", "moslim", "joods", "católic", "catolic", "judí", "ate[oa]\\b")
_ORIGIN = _any_of(
    "hispanic", "latin[oa]\\b", "african[ -]?american", "asian", "caucasian", "pacific islander",
    "native american", "american indian", "amer-indian", "black or", "roma\\b", "mixed race",
    "white british", "arab\\b", "afrikanisch", "asiatisch")
_PARTY = _any_of(
    "republican", "democrat", "labour\\b", "conservative", "liberal democrat", "green party",
    "tory", "socialist", "communist", "cdu\\b", "csu\\b", "spd\\b", "fdp\\b", "afd\\b",
    "die linke", "bündnis 90", "vvd\\b", "pvda\\b", "groenlinks", "psoe\\b", "vox\\b",
    "podemos", "rassemblement national", "les républicains", "libertarian")
_ORIENTATION = _any_of("heterosexual", "homosexual", "bisexual", "gay\\b", "lesbian", "asexual",
                       "pansexual", "queer", "schwul", "lesbisch", "heterosexuell", "bisexuell",
                       "hétérosexuel", "homosexuel", "heterosexueel", "homoseksueel")
_ILLNESS = _any_of(
    "cancer", "carcinom", "melanoma", "leuk[aä]?emi", "diabet", "hypertens", "asthma", "copd\\b",
    "hiv\\b", "aids\\b", "hepatitis", "depress", "schizophren", "dementia", "alzheimer",
    "parkinson", "epilep", "stroke\\b", "myocardial", "heart failure", "chf\\b", "cirrhosis",
    "pneumonia", "sepsis", "tumou?r", "coma\\b", "krebs", "herzinsuffizienz", "schlaganfall",
    "kanker", "astma", "beroerte", "cancer du", "cáncer", "asma\\b", "metasta")


def _icd_10(text: str) -> bool:
    return _ICD_10.fullmatch(text) is not None


def _genotype(text: str) -> bool:
    return _GENOTYPE.fullmatch(text) is not None


def _category(category: str, headers: tuple[str, ...], words: Callable[[str], bool],
              share: float = 0.6, least: int = 2) -> tuple[Detector, Detector]:
    """Return two detectors: one by header, whatever the values, and one by the values alone."""
    law = Law(None, category)
    return (Detector(category, "sensitive", law, headers, kinds=(), named_kinds=_ANY),
            Detector(category, "sensitive", law, (), words, share=share, least=least))


_HEALTH_HEADERS = (
    "diagnosis", "diagnoses", "diagnose", "disease", "illness", "health", "icd", "icd 10", "icd10",
    "icd 9", "condition", "comorbidity", "comorbidities", "symptom", "symptoms", "medication",
    "drug", "treatment", "therapy", "blood", "hiv", "diabetes", "dementia", "cancer", "tumor",
    "tumour", "disability", "mental health", "depression", "pregnant", "pregnancy", "smoker",
    "smoking", "bmi", "cholesterol", "glucose", "allergy", "allergies", "krankheit", "erkrankung",
    "gesundheit", "medikament", "behinderung", "schwanger", "maladie", "sante", "traitement",
    "diagnostic", "ziekte", "gezondheid", "aandoening", "enfermedad", "salud", "diagnostico",
    "malattia", "diagnosi", "chemo", "hormon", "metastasis", "survival months")

SPECIAL = (
    *_category(ETHNIC, ("race", "ethnicity", "ethnic", "ethnie", "ethnic group", "racial",
                        "skin color", "skin colour", "ethnische herkunft", "herkunft", "origine",
                        "afkomst", "etniciteit", "raza", "etnia", "migrationshintergrund"),
               _ORIGIN, 0.3),
    *_category(RELIGIOUS, ("religion", "religious", "faith", "belief", "confession", "konfession",
                           "glaube", "culte", "geloof", "godsdienst", "religione",
                           "kirchensteuer", "denomination"), _BELIEF),
    *_category(POLITICAL, ("political", "party", "party affiliation", "politics", "partei",
                           "parti politique", "partij", "partido", "partito", "voted for",
                           "political opinion"), _PARTY),
    *_category(UNION, ("union", "trade union", "union member", "gewerkschaft", "syndicat",
                       "vakbond", "sindicato", "sindacato", "labor union"),
               _any_of("trade union", "ver\\.?di\\b", "ig metall", "fnv\\b", "unison\\b", "cgt\\b",
                       "teamsters")),
    *_category(SEXUAL, ("sexual orientation", "orientation", "sexuality", "sex life",
                        "sexuelle orientierung", "orientation sexuelle", "seksuele geaardheid",
                        "orientacion sexual"), _ORIENTATION),
    *_category(GENETIC, ("genotype", "gene", "genome", "snp", "dna", "allele", "brca", "brca 1",
                         "brca 2", "mutation", "haplotype", "karyotype", "genetic", "genotyp"),
               _genotype, 0.9),
    *_category(HEALTH, _HEALTH_HEADERS, _ILLNESS, 0.5),
    Detector("diagnosis code (ICD-10)", "sensitive", Law(None, HEALTH), (), _icd_10, share=0.9,
             least=5),
    Detector("biometric data", "identifier", Law(BIOMETRIC, BIOMETRIC_DATA),
             ("fingerprint", "finger print", "iris scan", "retina", "voiceprint", "voice print",
              "face embedding", "faceprint", "palm print", "biometric", "fingerabdruck",
              "empreinte digitale", "vingerafdruk", "huella dactilar")),
    Detector("criminal record", "sensitive", Law(None, PERSONAL),
             ("criminal", "criminal record", "conviction", "convictions", "offence", "offense",
              "arrests", "vorstrafen", "strafregister", "casier judiciaire", "strafblad",
              "antecedentes penales"), kinds=(), named_kinds=_ANY),
)
