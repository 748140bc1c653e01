"""All detectors, in the order in which their findings are listed."""

from __future__ import annotations

from unspoken.table.identify.contact_details import CONTACT_DETAILS
from unspoken.table.identify.official_numbers import OFFICIAL_NUMBERS
from unspoken.table.identify.person_names import PERSON_NAMES
from unspoken.table.identify.singling_out import SINGLING_OUT
from unspoken.table.identify.special_categories import SPECIAL
from unspoken.table.identify.uniqueness import UNIQUENESS

DETECTORS = (*PERSON_NAMES, *CONTACT_DETAILS, *OFFICIAL_NUMBERS, *SINGLING_OUT, *SPECIAL,
             *UNIQUENESS)
