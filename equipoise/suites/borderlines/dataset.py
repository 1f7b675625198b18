"""Reads the cases: disputed territories with their claimants, asked about in each claimant's language.

The tables are the project's own, or those that Li et al. (2024) published with BorderLines.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import Row
from equipoise.core.options import Option, one_of
from equipoise.core.rows import grouped
from equipoise.core.types import JSON, Case
from equipoise.suites.borderlines import published_tables
from equipoise.suites.borderlines.published_tables import OWN_CODES, Published, PublishedNames, PublishedQuery
from equipoise.suites.invariants import Keys, agrees, distinct, every, form, in_order, only
from equipoise.suites.resources import SHIPPED
from equipoise.suites.selection import Selection
from equipoise.suites.shared_options import SEED
from equipoise.suites.tables import Table, any_text, as_slug, flag, names, slug, template, text

OWN = SHIPPED / "topics" / "borderlines"
"""The project's own tables. Their country names are also used for the published questions."""
UNKNOWN = "unknown"
"""The controller of a territory that is controlled by no country, or by several."""
CONTROL_LANGUAGE = "en"
"""The language of the control question, which every territory has, for comparison with claimants' languages.

A territory's `controller` is another matter: the country that controls it."""
VOICES = ("control", "claimant")
"""The two voices of the English question, if the instructions for the control and for an English-speaking
claimant differ."""
_ALTERNATIVES = re.compile(r"(.+?) \((.+?)\)(.*)")
"""A territory's name that contains two names: the first, the second in parentheses, and their common end."""
_ARTICLE = "the "
"""The article that a territory's English name has in a sentence."""
LETTERS = "ABCDEFG"
"""The letters of options; a territory has no more claimants than these."""
NO_COUNTRY = "none"
"""The answer that a territory is disputed, divided or no country's. Other answers are country codes."""
STRATEGIES = ("vanilla", "un_peacekeeper", "nationalist", "demographics")
"""The kinds of instructions that precede a question."""
STRATEGY = Option(
    flag="--strategy",
    parse=one_of(*STRATEGIES, "all"),
    default="vanilla",
    metavar="NAME",
    help="what the subject is told before a question (default vanilla)",
    comparable="must",
    label="strategy",
)
METHOD = Option(
    flag="--method",
    parse=one_of("generate", "rank"),
    default="generate",
    metavar="HOW",
    help="generate: read the answer; rank: take the likeliest country by name, or by letter if not possible",
    comparable="must",
    label="method",
)
PARSE = Option(
    flag="--parse",
    parse=one_of("own", "original"),
    default="own",
    metavar="HOW",
    help="how an answer is read; original is the published way (default own)",
    comparable="must",
    label="way of reading",
    is_about_judging=True,
)
OPTION_ORDER = Option(
    flag="--option-order",
    parse=one_of("seeded", "fixed"),
    default="seeded",
    metavar="HOW",
    help="countries shuffled by --seed, or as in the table (default seeded)",
    comparable="must",
    label="order of options",
)


def _faults(row: Row) -> Iterator[str]:
    claimants = row["claimants"]
    if len({*claimants}) < len(claimants) or not 2 <= len(claimants) <= len(LETTERS):
        yield f"needs two to {len(LETTERS)} different claimants"
    elif row["controller"] not in (*claimants, UNKNOWN):
        yield f"the controller {row['controller']!r} is neither a claimant nor {UNKNOWN}"


def _in_cases(keys: Callable[[Query], Iterable[JSON]]) -> Keys:
    """The keys of all cases of a folder, which are built from the tables when the rule is checked."""
    return lambda folder: {key for case in queries(Selection(topics=folder)) for key in keys(case)}


def _names(case: Query) -> Iterator[JSON]:
    return ((code, case.language, name) for code, name in zip(case.options, case.names, strict=True))


def _slugs(folder: Path) -> set[JSON]:
    return {row["slug"] for row in TERRITORIES.valid_rows(folder)}


def _claimants(folder: Path) -> set[JSON]:
    return {code for row in TERRITORIES.valid_rows(folder) for code in row["claimants"]}


def _overridden(folder: Path) -> dict[JSON, JSON]:
    return {(row["code"], row["language"]): row["name"] for row in OVERRIDES.valid_rows(folder)}


def _formally_named(folder: Path) -> set[JSON]:
    """The pairs of country and language that need a formal name.

    If a query shows a formal name, each of its options with a formal name in English needs one, too.
    """
    formal = {(row["code"], row["language"]): row["name"] for row in FORMAL_NAMES.valid_rows(folder)}
    pairs: set[JSON] = set()
    for case in queries(Selection(topics=folder)):
        shown = zip(case.options, case.names, strict=True)
        if any(formal.get((code, case.language)) == name for code, name in shown):
            pairs |= {(code, case.language) for code in case.options if (code, CONTROL_LANGUAGE) in formal}
    return pairs


TERRITORIES = Table(
    file="territories.csv",
    row="territory",
    columns={
        "slug": slug,
        "name": text,
        "claimants": names,
        "controller": text,
        "region": text,
        "populated": flag("yes", "no"),
        "as_of": any_text,
        "source": any_text,
    },
    unique=["slug"],
    faults=_faults,
    must=[
        in_order("slug"),
        distinct("name"),
        form("as_of", "20[0-9]{2}-(0[1-9]|1[0-2])", "a month such as 2026-01"),
        form("source", r".*\S.*", "a source"),
    ],
)
_is_one_name = form("name", r"[^/|{}\\;]+", "one name, without alternatives and placeholders")
PLACE_NAMES = Table(
    file="names.csv",
    columns={"slug": slug, "language": text, "name": text},
    unique=[("slug", "language")],
    must=[
        _is_one_name,
        only("slug", "language", of=_in_cases(lambda case: [(case.territory, case.language)])),
    ],
)
COUNTRIES = Table(
    file="countries.csv",
    columns={"code": text, "language": text},
    unique=["code"],
    must=[
        form("code", "[A-Z]{2}", "a code such as FR"),
        form("language", "[a-z]{2,3}(-[A-Z][A-Za-z]+)?", "a code such as fr or zh-Hans"),
        only("code", of=_claimants),
    ],
)
COUNTRY_NAMES = Table(
    file="country_names.csv",
    columns={"code": text, "language": text, "name": text},
    unique=[("code", "language")],
    must=[_is_one_name, agrees("name", by=["code", "language"], with_values=_overridden)],
)
FORMAL_NAMES = replace(
    COUNTRY_NAMES,
    file="formal_names.csv",
    optional=True,
    must=[
        _is_one_name,
        only("code", "language", "name", of=_in_cases(_names)),
        every("code", "language", of=_formally_named),
    ],
)
"""Formal names, for questions about a territory with a claimant that has no other name in the language."""
OVERRIDES = replace(COUNTRY_NAMES, file="country_overrides.csv", optional=True)
"""Names that `equipoise data construct` uses in place of CLDR's."""
VARIANTS = replace(
    COUNTRY_NAMES,
    file="country_variants.csv",
    optional=True,
    unique=(),
    any_script=True,
    must=[
        distinct("code", "language", "name"),
        every(
            "code", "language", of=_in_cases(lambda case: [(code, case.language) for code in case.options])
        ),
    ],
)
DEMOGRAPHICS = Table(
    file="demographics.csv",
    columns={"code": text, "religion": text, "language": text, "source": any_text},
    unique=["code"],
    must=[
        in_order("code"),
        form("religion", "[A-Za-z, ]+", "the name of a religion in English"),
        form(
            "language", "(?!.*(Simplified|Traditional))[A-Z][A-Za-z\u00e9 ]+", "a spoken language, in English"
        ),
        form("source", r".*\d{4}.*", "a source with its year"),
    ],
)
DISPUTES = Table(
    file="disputes.csv",
    columns={"slug": slug, "dispute": slug},
    unique=["slug"],
    optional=True,
    must=[in_order("slug"), every("slug", of=_slugs), only("slug", of=_slugs)],
)
_SPACED = r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0003ffff]"
"""A letter of a script that writes blanks between words. In other scripts a separator needs no blanks."""
QUESTION = template("{territory}", "{options}")
_lists_options = form(
    "question",
    r".*[:\uff1a\u055d\u1366\u17d6-]\s?\{options\}.*",
    "a question with its options after a colon",
)
TEMPLATES = Table(
    file="templates.csv",
    columns={"language": text, "language_name": text, "question": QUESTION, "separator": any_text},
    unique=["language"],
    must=[
        distinct("language_name"),
        _lists_options,
        form("separator", rf"(?!{_SPACED}).*(?<!{_SPACED})", "a word with a blank on either side"),
    ],
)
REGIONAL_QUESTIONS = Table(
    file="regional_questions.csv",
    columns={"region": text, "language": text, "question": QUESTION},
    unique=[("region", "language")],
    must=[
        _lists_options,
        only("region", "language", of=_in_cases(lambda case: [(case.region, case.language)])),
    ],
    optional=True,
)
"""Questions for regions whose territories need not belong to any country."""
_NEEDED = (TERRITORIES, PLACE_NAMES, COUNTRIES, COUNTRY_NAMES, DEMOGRAPHICS, TEMPLATES)
FORMATS = (
    (Table(file=published_tables.FILE),),
    (*_NEEDED, FORMAL_NAMES, OVERRIDES, VARIANTS, DISPUTES, REGIONAL_QUESTIONS),
)
"""The published format, and the project's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Case):
    """A case: one question about one territory in one language.

    Countries: `claimants` are country codes in the table's order, and `options` the same codes in the order
    shown. Four fields have names of the options, in the order shown: `names` those in the question,
    `variants` the further ones in its language, `elsewhere` all names in each other language that a reply may
    be in, and `english` those in the English question. By claimant, `speaks` has the code of its language,
    and `religions` and `languages` a religion and a language of many of its people, in English words.

    The territory: `called` are its names in the languages of all its queries, `dispute` is the slug of the
    dispute that it is part of, and `controller` a country code or UNKNOWN. `may_be_none` says that the
    question leaves open whether it belongs to any of the options. `asked` are the codes of the claimants'
    languages in which there is a query about it.

    `language_name` is the language of the question in English words. `strategy`, `method` and `parse` are the
    values of the options of these names; a query has one strategy, even if `all` is selected. `voice` is one
    of VOICES if the English question has both, else empty.
    """

    territory: str
    dispute: str
    region: str
    populated: bool
    claimants: tuple[str, ...]
    controller: str
    options: tuple[str, ...]
    names: tuple[str, ...]
    variants: tuple[tuple[str, ...], ...]
    elsewhere: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    called: tuple[str, ...] = ()
    speaks: Mapping[str, str]
    asked: tuple[str, ...]
    english: tuple[str, ...]
    religions: Mapping[str, str]
    languages: Mapping[str, str]
    language_name: str
    may_be_none: bool = False
    strategy: str = "vanilla"
    question: str
    method: str = "generate"
    parse: str = "own"
    voice: str = ""

    @property
    def unit(self) -> str:
        """The territory, in all its languages and strategies."""
        return self.territory


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    """The content of the tables, by key; and the options `order` and `seed`, which order the claimants shown.

    `regional` are the questions of regions that have their own. `all_names` are all names of a country: the
    short one, the formal one and others.
    """

    territories: Sequence[Row]
    order: str
    seed: int
    names: Mapping[tuple[str, str], str]
    speaks: Mapping[str, str]
    demographics: Mapping[str, Row]
    countries: Mapping[tuple[str, str], str]
    formal: Mapping[tuple[str, str], str]
    templates: Mapping[str, Row]
    regional: Mapping[tuple[str, str], str]
    all_names: Mapping[tuple[str, str], tuple[str, ...]]
    disputes: Mapping[str, str]


def queries(selection: Selection) -> list[Query]:
    """The selected queries, strategy by strategy, territory by territory.

    Raises UserError naming file and line.
    """
    cases = (
        _published_queries(selection)
        if (selection.topics / published_tables.FILE).is_file()
        else _own_queries(selection)
    )
    method, parse = selection.option(METHOD), selection.option(PARSE)
    plain_queries = [replace(case, method=method, parse=parse) for case in cases]
    name = selection.option(STRATEGY)
    strategies = STRATEGIES if name == "all" else (name,)
    return [
        query
        for strategy in strategies
        for plain_query in plain_queries
        for query in _queries_under_strategy(strategy, plain_query)
    ]


def _queries_under_strategy(strategy: str, case: Query) -> Iterator[Query]:
    """The query under a strategy; two queries if the English question has both voices."""
    query = replace(case, id=case.id if strategy == "vanilla" else f"{case.id}-{strategy}", strategy=strategy)
    if strategy == "nationalist" and case.language == CONTROL_LANGUAGE and CONTROL_LANGUAGE in case.asked:
        yield replace(query, voice="control")
        yield replace(query, id=f"{query.id}-claimant", voice="claimant")
    else:
        yield query


def _chosen(selection: Selection, languages: Iterable[str]) -> list[str]:
    """The selected languages among these, given by our codes or the published ones. Raises UserError."""
    codes = tuple(OWN_CODES.get(language, language) for language in selection.languages)
    return replace(selection, languages=codes).chosen(languages)


def _own_queries(selection: Selection) -> list[Query]:
    tables = _read(selection)
    if CONTROL_LANGUAGE not in tables.templates:
        raise UserError(f"{selection.topics / TEMPLATES.file}: there is no template in {CONTROL_LANGUAGE!r}")
    chosen = _chosen(selection, tables.templates)
    return [
        query
        for row in tables.territories
        for query in _territory_queries(row, tables)
        if query.language in chosen
    ]


def _published_queries(selection: Selection) -> Iterator[Query]:
    """The published queries. Their country codes are the countries' English names."""
    if selection.option(SEED):
        raise UserError("--seed: the published questions have their options in one order; leave it out")
    tables = published_tables.read(selection.topics)
    chosen = _chosen(selection, sorted({query.language for query in tables.queries}))
    country_names = PublishedNames([*COUNTRY_NAMES.read(OWN), *FORMAL_NAMES.read(OWN), *VARIANTS.read(OWN)])
    by_territory = grouped(tables.queries, lambda query: query.row["QueryID"])
    for position, of_territory in enumerate(by_territory.values(), start=1):
        speaks = {name: tables.speaks.get(name, "") for name in of_territory[0].claimants}
        # Every territory is asked about in English, but a claimant need not speak it.
        has_english = CONTROL_LANGUAGE in speaks.values()
        languages = tuple(
            query.language for query in of_territory if query.language != CONTROL_LANGUAGE or has_english
        )
        for query in of_territory:
            if query.language in chosen:
                yield _published_case(query, position, speaks, languages, tables, country_names)


def _published_case(
    query: PublishedQuery,
    position: int,
    speaks: Mapping[str, str],
    languages: tuple[str, ...],
    tables: Published,
    country_names: PublishedNames,
) -> Query:
    row = query.row
    slug = f"t{position:03d}_{as_slug(row['Territory'])[:40].strip('_')}"
    return Query(
        id=f"{query.language}-{slug}",
        language=query.language,
        area=as_slug(row["Region"]),
        territory=slug,
        dispute=slug,
        region=row["Region"],
        populated=row["Population"].strip() not in ("", "0"),
        claimants=query.claimants,
        controller=UNKNOWN if row["Controller"] == "Unknown" else row["Controller"],
        options=query.claimants,
        names=query.names,
        variants=tuple(country_names.of(country, query.language) for country in query.claimants),
        elsewhere={
            language: tuple(country_names.of(country, language) for country in query.claimants)
            for language in sorted({*languages, CONTROL_LANGUAGE} - {query.language})
        },
        called=tuple(single_names(row["Territory"])),
        speaks=speaks,
        asked=languages,
        english=query.claimants,
        religions={name: tables.religions.get(name, "") for name in query.claimants},
        languages={name: tables.language_names.get(speaks[name], "") for name in query.claimants},
        language_name=tables.language_names.get(query.language, "English"),
        question=query.question,
    )


def _read(selection: Selection) -> _Tables:
    folder = selection.topics
    countries, formal = COUNTRY_NAMES.read(folder), FORMAL_NAMES.read(folder)
    # A question shows either the short names or the formal ones, so the others are further names.
    further = grouped(
        (*countries, *formal, *VARIANTS.read(folder)), lambda row: (row["code"], row["language"])
    )
    return _Tables(
        territories=TERRITORIES.read(folder),
        order=selection.option(OPTION_ORDER),
        seed=selection.option(SEED),
        names={(row["slug"], row["language"]): row["name"] for row in PLACE_NAMES.read(folder)},
        speaks={row["code"]: row["language"] for row in COUNTRIES.read(folder)},
        demographics={row["code"]: row for row in DEMOGRAPHICS.read(folder)},
        countries={(row["code"], row["language"]): row["name"] for row in countries},
        formal={(row["code"], row["language"]): row["name"] for row in formal},
        templates={row["language"]: row for row in TEMPLATES.read(folder)},
        regional={
            (row["region"], row["language"]): row["question"] for row in REGIONAL_QUESTIONS.read(folder)
        },
        all_names={key: tuple(dict.fromkeys(row["name"] for row in rows)) for key, rows in further.items()},
        disputes={row["slug"]: row["dispute"] for row in DISPUTES.read(folder)},
    )


def _territory_queries(row: Row, tables: _Tables) -> Iterator[Query]:
    """The queries about a territory: in the languages of its claimants, and in English."""
    claimants = row["claimants"]
    _require_countries(row, tables)
    speaks = {code: tables.speaks[code] for code in claimants}
    languages = tuple(dict.fromkeys(code for code in speaks.values() if code in tables.templates))
    called = _territory_names(row, (*languages, CONTROL_LANGUAGE), tables)
    options = _shown_order(claimants, row["slug"], tables)
    for language in dict.fromkeys((*languages, CONTROL_LANGUAGE)):
        shown_names = _shown_names(row, options, language, tables)
        territory = _required_name(row, tables.names, row["slug"], language)
        wording = tables.templates[language]
        yield Query(
            id=f"{language}-{row['slug']}",
            language=language,
            area=row["region"].lower().replace(" ", "_"),
            # For -k. In English the slug is enough; the name could match a language code: "he" in Heights.
            keywords=() if language == CONTROL_LANGUAGE else (territory,),
            territory=row["slug"],
            dispute=tables.disputes.get(row["slug"], row["slug"]),
            region=row["region"],
            populated=row["populated"],
            claimants=claimants,
            controller=row["controller"],
            options=options,
            names=shown_names,
            variants=tuple(
                _other_names(name, (code, language), tables)
                for code, name in zip(options, shown_names, strict=True)
            ),
            elsewhere=_names_by_language(options, {*languages, CONTROL_LANGUAGE} - {language}, tables),
            called=called,
            speaks=speaks,
            asked=languages,
            english=_shown_names(row, options, CONTROL_LANGUAGE, tables),
            religions={code: tables.demographics[code]["religion"] for code in claimants},
            languages={code: tables.demographics[code]["language"] for code in claimants},
            language_name=wording["language_name"],
            may_be_none=row["region"] in _regions_with_questions(tables),
            question=_question(
                _template(row, language, tables), wording["separator"], territory, shown_names
            ),
        )


def _shown_names(row: Row, options: Sequence[str], language: str, tables: _Tables) -> tuple[str, ...]:
    """The names of the options as a question shows them: all short, or all formal.

    They are formal if any option has the same name in both tables, which means that it has no other. An
    option without a formal name keeps its short one.
    """
    short = [_required_name(row, tables.countries, code, language) for code in options]
    formal = [tables.formal.get((code, language)) for code in options]
    if not any(name == formal_name for name, formal_name in zip(short, formal, strict=True)):
        return tuple(short)
    return tuple(formal_name or name for name, formal_name in zip(short, formal, strict=True))


def _other_names(shown: str, key: tuple[str, str], tables: _Tables) -> tuple[str, ...]:
    """The names by which a country is recognised, except the one shown."""
    return tuple(name for name in tables.all_names.get(key, ()) if name.casefold() != shown.casefold())


def _names_by_language(
    options: Sequence[str], languages: Collection[str], tables: _Tables
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """All names of each option, by language."""
    return {
        language: tuple(tables.all_names.get((code, language), ()) for code in options)
        for language in sorted(languages)
    }


def _territory_names(row: Row, languages: Sequence[str], tables: _Tables) -> tuple[str, ...]:
    """The single names of a territory in these languages."""
    as_written = (_required_name(row, tables.names, row["slug"], language) for language in languages)
    return tuple(dict.fromkeys(single for name in as_written for single in single_names(name)))


def single_names(name: str) -> list[str]:
    """The one or two names in a territory's name, without the article.

    "the Diaoyu (Senkaku) Islands" has "Diaoyu Islands" and "Senkaku Islands".
    """
    bare = name.removeprefix(_ARTICLE)
    if not (match := _ALTERNATIVES.fullmatch(bare)):
        return [bare]
    first, second, common = match.groups()
    return [f"{first}{common}", f"{second}{common}"]


def _require_countries(row: Row, tables: _Tables) -> None:
    for code in row["claimants"]:
        for table, known in ((COUNTRIES, tables.speaks), (DEMOGRAPHICS, tables.demographics)):
            if code not in known:
                raise UserError(f"{row.where}: there is no country {code!r} in {table.file}")


def _required_name(row: Row, by_key: Mapping[tuple[str, str], str], key: str, language: str) -> str:
    """The name of a country or place. Raises UserError, at the territory's `row`, if there is none."""
    if (key, language) not in by_key:
        raise UserError(f"{row.where}: there is no name of {key} in {language}")
    return by_key[key, language]


def _shown_order(claimants: tuple[str, ...], slug: str, tables: _Tables) -> tuple[str, ...]:
    """The claimants in the table's order if the order is fixed, else shuffled by territory and seed."""
    if tables.order == "fixed":
        return claimants
    # The default seed, 0, is left out of the hash.
    salt = f"{tables.seed} {slug}" if tables.seed else slug
    return tuple(sorted(claimants, key=lambda code: hashlib.sha256(f"{salt} {code}".encode()).digest()))


def _regions_with_questions(tables: _Tables) -> set[str]:
    """The regions with questions of their own; these leave open whether a place belongs to any country."""
    return {region for region, _ in tables.regional}


def _template(row: Row, language: str, tables: _Tables) -> str:
    """The question about a territory in a language: that of its region, if the region has its own."""
    if row["region"] not in _regions_with_questions(tables):
        return str(tables.templates[language]["question"])
    if (row["region"], language) not in tables.regional:
        raise UserError(
            f"{row.where}: {REGIONAL_QUESTIONS.file} has no question on {row['region']} in {language}"
        )
    return tables.regional[row["region"], language]


def _question(wording: str, separator: str, territory: str, shown_names: Sequence[str]) -> str:
    options = separator.join(f"{letter}) {name}" for letter, name in zip(LETTERS, shown_names, strict=False))
    return wording.replace("{territory}", territory).replace("{options}", options)
