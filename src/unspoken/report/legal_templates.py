"""Templates filled from what was measured: expert determination, and impact assessment.

HIPAA, 45 CFR 164.514(b)(1): an expert determines that the risk is very small and documents methods
and results. GDPR, article 35(7): an assessment describes the processing, necessity, risks and
measures. What a program cannot know is left open and marked, never filled in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.people_risk import INFERRED, LINKED, MEMBER, SINGLED, Risk
from unspoken.disclosure.release_verdict import verdict_of
from unspoken.errors import InputError
from unspoken.release.method import name_in
from unspoken.release.terms_of_use import Terms
from unspoken.report.drawing import percent
from unspoken.report.markup import clean
from unspoken.report.page import Page
from unspoken.table.identify.law import NO_ADVICE

OPEN = "[to be filled in]"
_NAMES = {SINGLED: "singling out", LINKED: "linkability", INFERRED: "inference",
          MEMBER: "membership"}
_HEAD = ("risk", "people", "share", "outside the release", "guess", "beyond control")


@dataclass(frozen=True)
class Part:
    """One section: paragraphs, then points, then a table of risks."""

    heading: str
    paragraphs: Sequence[str] = ()
    points: Sequence[str] = ()
    risks: Sequence[Risk] = ()


@dataclass(frozen=True)
class Template:
    """A document that is part measured, part open.

    Attributes
    ----------
    title : str
        Its title.
    parts : tuple of Part
        Its sections.
    """

    title: str
    parts: tuple[Part, ...]

    def markdown(self) -> str:
        """Return it as Markdown."""
        lines = [f"# {self.title}", "", f"> {NO_ADVICE}", ""]
        for part in self.parts:
            lines += [f"## {part.heading}", ""]
            lines += [line for text in part.paragraphs for line in (_plain(text), "")]
            lines += [f"- {_plain(point)}" for point in part.points]
            lines += [""] * bool(part.points) + _markdown_table(part.risks)
        return "\n".join(lines).rstrip() + "\n"

    def page(self) -> Page:
        """Return it as a page."""
        page = Page(self.title, NO_ADVICE)
        for part in self.parts:
            page.section(part.heading)
            for text in part.paragraphs:
                page.text(text)
            if part.points:
                page.bullets(part.points)
            if part.risks:
                page.table(_HEAD, [_cells(risk) for risk in part.risks], align="lrrrrr")
        return page

    def save(self, path: Path) -> None:
        """Write it as Markdown or HTML, by the ending of the name, readable by its owner only."""
        from unspoken.table.atomic_files import write_file

        if path.suffix.lower() not in (".md", ".html"):
            raise InputError(f"'{path}' must end in .md or .html, which says what to write.")
        text = self.markdown() if path.suffix.lower() == ".md" else self.page().html()
        write_file(path, text.encode(), 0o600)


def _plain(text: str) -> str:
    """Return text in which no name of a column can be markup, of Markdown or of HTML."""
    flat = " ".join(clean(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    escaped = "".join(f"\\{sign}" if sign in "\\`*_{}[]#|" else sign for sign in flat)
    return escaped.replace("\\[to be filled in\\]", OPEN)


def _cells(risk: Risk) -> list[str]:
    column = f" of '{risk.column}'" if risk.kind == INFERRED else ""
    beyond = "–" if risk.upper_bound else " / ".join(percent(v) for v in risk.beyond)
    return [f"{_NAMES[risk.kind]}{column}", f"{risk.hits:,} of {risk.people:,}",
            percent(risk.value), "–" if risk.control is None else percent(risk.control),
            percent(risk.baseline), beyond]


def _markdown_table(risks: Sequence[Risk]) -> list[str]:
    if not risks:
        return []
    rows = [_HEAD, ["---"] * len(_HEAD), *([_plain(c) for c in _cells(risk)] for risk in risks)]
    return [*(f"| {' | '.join(row)} |" for row in rows), ""]


def _worst(audit: Audit) -> list[Risk]:
    if audit.people is None:
        return []
    return [one for kind in _NAMES if (one := audit.people.worst(kind)) is not None]


def _measured(audit: Audit) -> tuple[str, ...]:
    """Return the verdict and its two sides."""
    verdict = verdict_of(audit)
    sides = [f"{name}: {one.words if one is not None else 'not measured'}."
             for name, one in (("Naming", verdict.naming), ("Inferring", verdict.inferring))]
    bound = ["There was no control group, so the shares are upper bounds."] * verdict.upper_bound
    return (f"Measured: {verdict.word.lower()}; {verdict.advice}.", *sides, *bound)


def _about(audit: Audit) -> str:
    kind = name_in(audit.release.get("mechanism", {}))
    columns = ", ".join(map(str, audit.release.get("columns", {}))) or OPEN
    return (f"{audit.release.get('rows', OPEN)} records, released by {kind}. Columns: {columns}. "
            f"Fingerprint: {audit.release.get('fingerprint', OPEN)}.")


def _terms(terms: Terms) -> list[str]:
    return [f"{name.replace('_', ' ').capitalize()}: {text or OPEN}"
            for name, text in asdict(terms).items()]


def expert_determination(audit: Audit, terms: Terms | None = None) -> Template:
    """Return a template of an expert determination (45 CFR 164.514(b)(1)), filled where it can be.

    Parameters
    ----------
    audit : Audit
        What was measured.
    terms : Terms, default None
        Purpose, legal basis, recipient, retention.

    Returns
    -------
    Template
    """
    stated = terms or Terms()
    persons = audit.people.persons.lines() if audit.people is not None \
        and audit.people.persons is not None else []
    return Template("Expert determination (45 CFR 164.514(b)(1))", (
        Part("Expert", (f"Name, qualification and experience with generally accepted statistical "
                        f"principles and methods: {OPEN}",)),
        Part("Data and anticipated recipient", (_about(audit),), _terms(stated)),
        Part("Methods", ("The attacks below were carried out on people of the original, on a "
                         "control group, and beside the best guess without the release. Intervals "
                         "are Wilson's at 95%.",),
             [f"{name}: who {does}" for name, does in list(audit.words.items())[:20]]),
        Part("Results", _measured(audit), persons, _worst(audit)),
        Part("Replicability, availability, distinguishability",
             ("For each column: does it stay the same over time, who else has it, and does it "
              "distinguish people?",),
             [f"{name}: {OPEN}" for name in list(audit.release.get("columns", {}))[:30]]),
        Part("Limits", (), list(audit.limits) or ["none stated"]),
        Part("Determination", (
            "The risk that the information could be used, alone or with other reasonably available "
            f"information, by an anticipated recipient to identify a person is very small: {OPEN} "
            "(yes or no, and why)", f"Valid until: {OPEN}", f"Signature: {OPEN}")),
    ))


def impact_assessment(audit: Audit, terms: Terms | None = None) -> Template:
    """Return a template of an impact assessment (GDPR article 35(7)), filled where it can be.

    Parameters
    ----------
    audit : Audit
        What was measured.
    terms : Terms, default None
        Purpose, legal basis, recipient, retention.

    Returns
    -------
    Template
    """
    stated = terms or Terms()
    remedies = [f"{one.what}: {one.why}" for one in audit.suggestions] or [OPEN]
    return Template("Data protection impact assessment (GDPR article 35)", (
        Part("Description of the processing (35(7)(a))", (_about(audit),), _terms(stated)),
        Part("Necessity and proportionality (35(7)(b))", (
            f"Why the purpose cannot be reached with less data, or with results alone: {OPEN}",
            *_use(audit))),
        Part("Risks to the rights and freedoms of people (35(7)(c))", _measured(audit),
             [f"Consequences for people if it happens: {OPEN}"], _worst(audit)),
        Part("Measures (35(7)(d))", ("Technical measures that would lower what was measured:",),
             [*remedies, f"Contract with the recipient: {OPEN}", f"Deletion: {OPEN}"]),
        Part("What was not measured", (), [*(f"{n}: {why}" for n, why in audit.unscored.items()),
                                           *audit.limits] or ["nothing stated"]),
        Part("Views of people and of the data protection officer (35(2), 35(9))", (
            f"Advice of the data protection officer: {OPEN}",
            f"Views of the people concerned or their representatives: {OPEN}")),
        Part("Decision", (f"Residual risk and decision: {OPEN}",
                          "If it stays high, the authority is consulted first (article 36).")),
    ))


def _use(audit: Audit) -> tuple[str, ...]:
    kept = audit.people.utility if audit.people is not None else {}
    return tuple(f"Of {name} {percent(share)} of the distribution is kept."
                 for name, share in kept.items())
