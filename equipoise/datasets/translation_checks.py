"""What can be told of a translation without reading it: its script, numbers, quotes, placeholders. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_LANGUAGES = {
    "ARABIC": "acm aeb ajp apc ar ary arz azb bal ckb fa glk ks lrc mzn ota pnb prs ps sd sdh skr ug ur",
    "ARMENIAN": "hy hyw",
    "BENGALI": "as bn bpy syl",
    "CHEROKEE": "chr",
    "CJK": "cmn gan hak hsn ja lzh wuu yue zh zhs zht",
    "CYRILLIC": "ab av ba be bg bua ce chm cv kbd kk krc kv ky lez mdf mhr mk mn myv os ru rue sah sr tg tt"
    " tyv udm uk xal",
    "DEVANAGARI": "anp awa bgc bho brx doi gom hi hne kok mag mai mr ne new raj sa",
    "ETHIOPIC": "am gez ti tig",
    "GEORGIAN": "ka xmf",
    "GREEK": "el grc pnt",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "HANGUL": "ko",
    "HEBREW": "he iw ji yi",
    "KANNADA": "kn tcy",
    "KHMER": "km",
    "LAO": "lo",
    "LATIN": "aa ace af ak an ast ay az ban bcl bi bjn bm br bs ca ceb ch co crh cs csb cy da de dsb ee"
    " en eo es et eu ext fi fil fj fo fr frp fur fy ga gd gl gn gsw gv ha haw hr hsb ht hu ia id ig ilo in is"
    " it jam jv kab ki kl kg kmb kw la lb lg li lij lmo ln lt ltg lua luo lv mfe mg mh mi min ms mt na nah"
    " nap nb nd nds nl nn no nr nso ny oc om pag pam pap pcd pl pms pt qu rm rn ro rw sc scn sco se sg sk sl"
    " sm sn so sq srn ss st stq su sv sw szl tet tk tl tn to tpi tr ts tum tw ty uz ve vec vep vi vls vo vro"
    " wa war wo xh yo za zea zu",
    "MALAYALAM": "ml",
    "MYANMAR": "ksw mnw my rki shn",
    "NKO": "nqo",
    "OL CHIKI": "sat",
    "ORIYA": "or ory",
    "SINHALA": "si",
    "SYRIAC": "arc syr",
    "TAMIL": "ta",
    "TELUGU": "te",
    "THAANA": "dv",
    "THAI": "th",
    "TIBETAN": "bo dz",
    "TIFINAGH": "zgh",
}
"""Languages by their first subtag under the script that they are written in, as Unicode names it.

Those that are written in several, as Kurdish is, are not here.
"""
_SCRIPTS = {code: name for name, codes in _LANGUAGES.items() for code in codes.split()}
_EXPLICIT = {
    "Arab": "ARABIC", "Armn": "ARMENIAN", "Beng": "BENGALI", "Cyrl": "CYRILLIC", "Deva": "DEVANAGARI",
    "Ethi": "ETHIOPIC", "Geor": "GEORGIAN", "Grek": "GREEK", "Gujr": "GUJARATI", "Guru": "GURMUKHI",
    "Hang": "HANGUL", "Hani": "CJK", "Hans": "CJK", "Hant": "CJK", "Hebr": "HEBREW", "Jpan": "CJK",
    "Khmr": "KHMER", "Knda": "KANNADA", "Kore": "HANGUL", "Laoo": "LAO", "Latn": "LATIN",
    "Mlym": "MALAYALAM", "Mong": "MONGOLIAN", "Mymr": "MYANMAR", "Olck": "OL CHIKI", "Orya": "ORIYA",
    "Sinh": "SINHALA", "Taml": "TAMIL", "Telu": "TELUGU", "Tfng": "TIFINAGH", "Thaa": "THAANA",
    "Thai": "THAI", "Tibt": "TIBETAN",
}  # fmt: skip
"""The scripts that a second subtag can name."""
_ALSO = {"CJK": ("CJK", "HIRAGANA", "KATAKANA"), "HANGUL": ("HANGUL", "CJK")}
_SCRIPT_LENGTH = 4
LEAST = 0.5
"""The share of letters that must be in the language's script: names may stay as they are."""
_MARK = r"[.,'\u2019\u066b\u066c]"
_NUMBER = re.compile(rf"\d+(?:{_MARK}\d+)*")
_GROUPED = re.compile(
    rf"(\d{{1,3}}(?:{_MARK}\d{{3}})+|\d{{1,2}}(?:{_MARK}\d{{2}})+{_MARK}\d{{3}})({_MARK}\d+)?"
)
"""A number in groups of three digits, or of two before the last three as in India, and its fraction."""
_SPACED = r"(?<!\d)(?<!\d[.,])\d{1,3}(?:%s\d{3})+(?!\d)"
_BLANK = re.compile(_SPACED % " ")
_NARROW = re.compile(_SPACED % r"[\u00a0\u2009\u202f]")
_PLACEHOLDER = re.compile(r"\{\w+\}")
_QUOTES = frozenset('"\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f')
_HEBREW_ABBREVIATION = re.compile(r'(?<=[\u05d0-\u05ea])"(?=[\u05d0-\u05ea])')
_PREAMBLE = re.compile(r"^\s*(here is|translation\s*:|sure[,!])", re.IGNORECASE)


def flags(source: str, text: str, source_language: str, language: str) -> list[str]:
    """What is wrong with a translation, each in a few words; nothing where nothing can be told."""
    if not text:
        return ["it is empty"]
    found = []
    if len(text.splitlines()) > 1:
        found.append("it has several lines")
    if _PREAMBLE.match(text):
        found.append("it has words before the translation")
    if source_language != language and _is_same(source, text):
        found.append("it is the source itself")
    if not _is_in_script(text, language):
        found.append(f"most of its letters are not in the script of {language}")
    if not any(numbers in _numbers(text) for numbers in _numbers(source)):
        found.append("its numbers are not those of the source")
    if _quotes(source) != _quotes(text):
        found.append("it has another number of quotation marks than the source")
    if Counter(_PLACEHOLDER.findall(source)) != Counter(_PLACEHOLDER.findall(text)):
        found.append("its placeholders are not those of the source")
    return found


def script(language: str) -> str | None:
    """The script that a language is written in, as Unicode names it; None where we do not know."""
    first, *others = re.split("[-_]", language)
    named = next((tag.title() for tag in others if len(tag) == _SCRIPT_LENGTH and tag.isalpha()), None)
    return _EXPLICIT.get(named) if named else _SCRIPTS.get(first.lower())


def _is_same(source: str, text: str) -> bool:
    """Whether two texts have the same letters and digits, and letters at all."""
    one, other = ("".join(filter(str.isalnum, item.casefold())) for item in (source, text))
    return one == other and any(map(str.isalpha, one))


def _is_in_script(text: str, language: str) -> bool:
    name = script(language)
    letters = [letter for letter in _PLACEHOLDER.sub("", text) if letter.isalpha()]
    if name is None or not letters:
        return True
    wanted = _ALSO.get(name, (name,))
    own = sum(unicodedata.name(letter, "").startswith(wanted) for letter in letters)
    return own >= LEAST * len(letters)


def _numbers(text: str) -> list[Counter[str]]:
    """Figures in any digits, whatever parts their thousands and fractions.

    Two readings, since a blank can stand between thousands or between two numbers.
    """
    plain = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in text)
    apart = _NARROW.sub(_digits, plain)
    return [Counter(map(_figure, _NUMBER.findall(text))) for text in (apart, _BLANK.sub(_digits, apart))]


def _digits(found: re.Match[str]) -> str:
    return re.sub(r"\D", "", found[0])


def _figure(number: str) -> str:
    """A number without marks between groups of digits, and with a point for every other mark."""
    grouped = _GROUPED.fullmatch(number)
    whole, rest = (re.sub(r"\D", "", grouped[1]), grouped[2] or "") if grouped else (number, "")
    return re.sub(_MARK, ".", whole + rest)


def _quotes(text: str) -> int:
    """Pairs of quotation marks; the brackets of Chinese titles are none, nor the marks in Hebrew words."""
    return sum(character in _QUOTES for character in _HEBREW_ABBREVIATION.sub("", text)) // 2
