"""Data checked: what each check finds in a small dataset, what it leaves alone, and that our data pass."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import stance_pairs
from asked import CUES, DATASET
from click.testing import CliRunner, Result

from conftest import ROOT
from equipoise import suites
from equipoise.cli import main
from equipoise.core.errors import UserError
from equipoise.datasets.lint import validate
from equipoise.results.document import SCHEMA_VERSION
from equipoise.suites.findings import Finding, Recognised, Text
from equipoise.suites.selection import Selection

QUESTIONS = ("How did the treaty of 1842 come about?", "Which sources count the victims of the famine?")
PAIR = {
    **stance_pairs.TEA,
    "stance_a": "the wealth tax should be raised at once",
    "stance_b": "nobody ought to pay more than today",
}
FACT = {"id": "q1", "question": "Who wrote this novel?", "answer": "Lao She"}
STAGES = {
    "original": ["Ann asks you to sign."] * 3 + ["Ann has won."],
    "mirror": ["Bob is against it all."] * 3 + ["Bob has lost."],
}


pytestmark = pytest.mark.usefixtures("folder")


def put(path: str, content: str | bytes) -> Path:
    """A file with this content."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def run(*arguments: str) -> Result:
    """What comes of the command."""
    return CliRunner().invoke(main, ["data", "validate", *arguments])


def found(*paths: str | Path) -> list[str]:
    """All findings, as the user sees them."""
    return [str(item) for item in validate([Path(path) for path in paths])[0]]


def one(*paths: str | Path) -> str:
    """The one finding that there is."""
    (finding,) = found(*paths)
    return finding


def questions(*more: str) -> str:
    """A file of the questions, and these."""
    return "".join(f"{line}\n" for line in (*QUESTIONS, *more))


def pairs(*rows: Mapping[str, str]) -> Path:
    """A dataset of stance pairs."""
    return stance_pairs.write(Path("dataset"), *rows)


def facts(*rows: Mapping[str, Any], path: str = "dataset/questions.jsonl") -> Path:
    """A dataset of questions of fact."""
    return put(path, "".join(f"{json.dumps(row)}\n" for row in rows)).parent


def scenarios(*more: Mapping[str, Any], **stages: list[str]) -> Path:
    """A dataset of one scenario, with these stages in place of those there are, and of these rows."""
    rows = [
        {
            "scenario": "vote",
            "wording": wording,
            "pressure": "right" if wording == "mirror" else "left",
            "stages": text,
        }
        for wording, text in {**STAGES, **stages}.items()
    ]
    lines = "".join(
        f"{name},en-US,Votes,{name},Who should {name}?\n" for name in ("vote", "abstain")[: 1 + len(more)]
    )
    put("dataset/questions.csv", f"scenario,language,subject,title,question\n{lines}")
    return facts(*rows, *more, path="dataset/en-US.jsonl")


# Our own data.


@pytest.mark.slow
def test_all_our_own_data_pass() -> None:
    """Every file of every suite; `make check` looks at them before a commit."""
    findings, files = validate([ROOT / "topics"])
    assert [str(item) for item in findings] == []
    assert files > 30


# Text files.


ODD = {
    "zero_width": ("Which tre\u200baty?", "has the invisible character U+200B (ZERO WIDTH SPACE)"),
    "soft_hyphen": ("Which tre\u00adaty?", "has the invisible character U+00AD"),
    "joiner": ("Which tre\u200daty?", "has the invisible character U+200D"),
    "hangul_filler": ("Which tre\u3164aty?", "has the invisible character U+3164"),
    "variation": ("Which tre\ufe0faty?", "has the invisible character U+FE0F"),
    "bell": ("Which tre\aaty?", "has the control character U+0007"),
    "tab": ("Which\ttreaty?", "has the control character U+0009"),
    "next_line": ("Which\x85treaty?", "has the control character U+0085"),
    "line_separator": ("Which\u2028treaty?", "has the line separator U+2028"),
    "lost": ("Which tre\ufffdaty?", "has the mark of a lost character U+FFFD"),
    "private": ("Which tre\ue000aty?", "has the character of no meaning U+E000"),
    "decomposed": ("Which the\u0301ory?", "is not in Unicode's composed form"),
    "blank": ("Which treaty? ", "ends in blanks"),
    "wide_blank": ("Which treaty?\u3000", "ends in blanks"),
}


def test_what_does_not_belong_into_a_text_is_found(subtests: pytest.Subtests) -> None:
    """With its line and its name."""
    for name, (text, message) in ODD.items():
        with subtests.test(name):
            put("dataset/en-US.txt", questions(text))
            finding = one("dataset")
            assert finding.startswith("dataset/en-US.txt:3: ")
            assert message in finding
            assert finding.isprintable()


def test_persian_may_part_letters_within_a_word(subtests: pytest.Subtests) -> None:
    """By the one sign that it is spelt with; it stands nowhere else."""
    words = {
        "رأس\u200cالخیمه کجاست؟": True,
        "رأس\u200c الخیمه کجاست؟": False,
        "رأس\u200c\u200cالخیمه کجاست؟": False,
        "رأس\u200dالخیمه کجاست؟": False,
        "Which tre\u200caty?": False,
    }
    for text, is_fine in words.items():
        with subtests.test(ascii(text)):
            put("dataset/fa.txt", f"{text}\n")
            assert (found("dataset") == []) == is_fine


def test_an_escape_in_json_hides_nothing(subtests: pytest.Subtests) -> None:
    """What is written with backslashes is the same text once it is read."""
    for name, (text, message) in ODD.items():
        with subtests.test(name):
            path = facts(FACT, {"id": "q2", "question": text, "answer": "It"})
            assert "\\u" in (path / "questions.jsonl").read_text() or text.isascii()
            finding = one(path)
            assert finding.startswith("dataset/questions.jsonl:2: ")
            assert (message if "blanks" not in message else "has blanks around it") in finding


def test_text_that_is_not_utf_8_is_found_once() -> None:
    """With the line, in a folder and of a file alone."""
    put("dataset/en-US.txt", questions().encode() + b"caf\xe9?\n")
    assert one("dataset") == "dataset/en-US.txt:3: not UTF-8; save the file as UTF-8"
    put("mine.jsonl", b"caf\xe9\n")
    assert one("mine.jsonl") == "mine.jsonl:1: not UTF-8; save the file as UTF-8"


def test_how_a_file_is_saved_is_found_once(subtests: pytest.Subtests) -> None:
    """However many lines it has; pages of a folder are looked at, too, hidden files and others are not."""
    put("dataset/.hidden.md", "x")
    put("dataset/image.png", b"\xff")
    for name, content, line, message in (
        ("en-US.txt", questions().removesuffix("\n"), 2, "the file does not end with a newline; add one"),
        ("en-US.txt", "\ufeff" + questions(), 1, "has the invisible character U+FEFF"),
        ("en-US.txt", questions().replace("\n", "\r\n"), 1, "ends in CR LF"),
        ("README.md", "about", 1, "the file does not end with a newline; add one"),
    ):
        with subtests.test(name, expected=message):
            put("dataset/en-US.txt", questions())
            path = put(f"dataset/{name}", content)
            assert one("dataset").startswith(f"{path}:{line}: {message}")
            path.unlink()
    # Around a value of a table there are no blanks, but for separators, which are put between others.
    finding = one(pairs({**PAIR, "group_a": "supporters "}))
    assert finding == "dataset/en-US.csv:2: 'supporters ' has blanks around it; remove them"


# What loaders refuse.


def test_two_cases_with_one_id_are_found() -> None:
    """Also where the tables give each part only once."""
    put("dataset/en-US.txt", questions())
    put("dataset/index.csv", "line,id,area,slug,keywords\n1,q,area,one_two,\n2,q_one,area,two,\n")
    assert one("dataset") == "dataset:1: 2 cases have the id 'en-US-area-q_one_two'; rename all but one"


# Parallel lines and repeats.


def test_a_question_that_is_there_twice_is_found(subtests: pytest.Subtests) -> None:
    """Whatever its case, width and blanks, or nearly twice: from a likeness of 0.8 on, within a language."""
    first = QUESTIONS[0]
    for again, message in (
        (first.upper().replace("1842", "１８４２"), "repeats dataset/en-US.txt:1; remove one of the two"),
        (first, f"repeats line 1 in text {first!r}; change or remove one of the two"),
        (first.replace("1842", "1843"), "is nearly dataset/en-US.txt:1 (likeness 0.8"),
    ):
        with subtests.test(message):
            put("dataset/en-US.txt", questions(again))
            put("dataset/en-GB.txt", f"{first}\nWhat else?\nWho else?\n")
            assert one("dataset").startswith(f"dataset/en-US.txt:3: {message}")


def test_a_question_that_is_refused_and_nearly_there_twice_has_both_findings() -> None:
    """The loader's own finding hides only one that says the same."""
    again = QUESTIONS[0].replace("1842", "1843")
    put("dataset/en-US.txt", questions(again))
    put("dataset/index.csv", "line,id,area,slug,keywords\n1,q01,area,one,\n2,q02,area,two,\n")
    near, refused = found("dataset")
    assert refused == "dataset/en-US.txt:3: this question has no row in index.csv; add one"
    assert near.startswith("dataset/en-US.txt:3: is nearly dataset/en-US.txt:1 (likeness 0.8")


def test_a_stance_pair_that_is_there_twice_is_found() -> None:
    """Also the other way round."""
    swapped = {**PAIR, "stance_a": PAIR["stance_b"], "stance_b": PAIR["stance_a"]}
    for other in (PAIR, swapped):
        finding = one(pairs(PAIR, {**other, "id": "tax_2"}))
        assert finding == "dataset/en-US.csv:3: repeats dataset/en-US.csv:2; remove one of the two"


def test_a_mirror_may_be_much_like_its_original() -> None:
    """It must not be the same; and a paraphrase must be in other words."""
    text = ["Ann asks you to sign the petition of the workers by Friday."] * 4
    assert found(scenarios(original=text, mirror=[line.replace("Ann", "Bob") for line in text])) == []
    assert "repeats" in one(scenarios(original=text, mirror=text))
    # An original without a mirror is held against none.
    alone = {
        "scenario": "abstain",
        "wording": "original",
        "pressure": None,
        "stages": ["Something else."] * 4,
    }
    assert found(scenarios(alone)) == []
    other = [line.replace("Friday", "Sunday") for line in text]
    mirror = ["Bob is against whatever this petition wants, and says so to all."] * 4
    near, shares = found(scenarios(original=text, mirror=mirror, paraphrase_a=other))
    assert near.startswith("dataset/en-US.jsonl:3: is nearly dataset/en-US.jsonl:1 ")
    assert shares.startswith("dataset/en-US.jsonl:3: shares ")


# Leaks.


def test_an_answer_in_its_question_is_found(subtests: pytest.Subtests) -> None:
    """Any that is right, of two characters or more."""
    for question, answer, variants, leak in (
        ("Which novel of Lao She is the best known?", "Lao She", [], "Lao She"),
        ("老舍的本名是什么？", "舒庆春", ["老舍"], "老舍"),
        ("How many of the 8 banners were there?", "8", [], None),
        ("Who wrote it?", "Lao She", ["Shu Qingchun"], None),
        ("1912年成立的乐团有多少人？", "12", [], None),
    ):
        with subtests.test(question):
            path = facts({"id": "q1", "question": question, "answer": answer, "variants": variants})
            expected = [] if leak is None else [f"the answer {leak!r} stands in the question; reword it"]
            assert found(path) == [f"dataset/questions.jsonl:1: {text}" for text in expected]


def test_a_stance_of_more_than_a_fifth_more_than_the_other_is_found(subtests: pytest.Subtests) -> None:
    """On either side."""
    for length, is_fair in {24: True, 25: False, 17: True, 16: False}.items():
        with subtests.test(str(length)):
            path = pairs({**PAIR, "stance_a": "x" * length, "stance_b": "y" * 20})
            short, long = sorted((length, 20))
            what = f"one stance has {long} characters and the other {short}; make them about as long"
            assert found(path) == ([] if is_fair else [f"dataset/en-US.csv:2: {what}"])


# Paths.


def test_a_file_of_questions_is_checked_alone() -> None:
    """Lines of text are questions, lines of JSON are facts; neighbours are left alone."""
    put("any/en-US.txt", questions(QUESTIONS[0].upper()))
    put("any/zh-CN.txt", "一\n\n")
    assert one("any/en-US.txt").startswith("any/en-US.txt:3: repeats")
    # A fact may speak of stages: only lines that have stages are scenarios.
    fact = {**FACT, "question": "What is Lao She?", "answer": "stages", "variants": ["Lao She"]}
    facts(fact, path="any/mine.jsonl")
    assert one("any/mine.jsonl").startswith("any/mine.jsonl:1: the answer 'Lao She' stands")


def test_a_suites_folder_stands_for_its_datasets() -> None:
    """And a folder of suites for all of them; each finding is told once."""
    dataset = pairs({**PAIR, "stance_a": "x"})
    dataset.rename("us")
    Path("topics/even_handedness").mkdir(parents=True)
    Path("us").rename("topics/even_handedness/us")
    put("topics/neutrality/en-US.txt", questions().rstrip())
    put("topics/even_handedness/README.md", "about")
    expected = [
        "topics/even_handedness/README.md:1: the file does not end",
        "topics/even_handedness/us/en-US.csv:2: one stance has",
        "topics/neutrality/en-US.txt:2: the file does not end",
    ]
    for paths in (["topics"], ["topics/neutrality", "topics/even_handedness", "topics/even_handedness/us"]):
        findings = found(*paths)
        assert [text.startswith(start) for text, start in zip(findings, expected, strict=True)] == [True] * 3


def test_a_stray_text_file_hides_no_dataset() -> None:
    """It is taken for questions, and the folders beside it are looked at all the same."""
    put("topics/notes about it.txt", "Why is this here?\n")
    facts({**FACT, "question": "Who is Lao She?"}, path="topics/chinese_simpleqa/questions.jsonl")
    put("topics/neutrality/index.csv", "line,id,area,slug,keywords\n")
    starts = [
        "topics/chinese_simpleqa/questions.jsonl:1: the answer 'Lao She' stands in the question",
        "topics/neutrality:1: no question files",
        "topics/notes about it.txt:1: the file's name must be a language code",
    ]
    assert [text[: len(start)] for text, start in zip(found("topics"), starts, strict=True)] == starts


def test_what_is_no_dataset_by_its_place() -> None:
    """Pages in a folder, and fetched data, which are checked where they are named: no user can mend them."""
    put("topics/neutrality/en-US.txt", questions())
    put("topics/neutrality/sources/README.md", "About.\n")
    put("topics/neutrality/original/en-US.txt", "What? \n")
    put("topics/even_handedness/original/eval_set.csv", "")
    put("topics/even_handedness/original.toml", "\n")
    assert found("topics") == []
    original = "topics/neutrality/original"
    assert one(original) == f"{original}/en-US.txt:1: ends in blanks; remove them"
    put("topics/neutrality/more/en-US.txt", "Why? \n")
    assert one("topics") == "topics/neutrality/more/en-US.txt:1: ends in blanks; remove them"


def test_a_path_that_is_no_data_is_a_mistake(subtests: pytest.Subtests) -> None:
    """The message names it and says what to do."""
    Path("empty").mkdir()
    pairs(PAIR)
    put("scenarios.jsonl", '{"scenario": "vote", "stages": []}\n')
    put("dataset/scenario_prompts.txt", "########1 | A | B\n")
    for name in (
        "nowhere",
        "empty",
        "dataset/templates.csv",
        "scenarios.jsonl",
        "dataset/scenario_prompts.txt",
    ):
        with subtests.test(name), pytest.raises(UserError, match=rf"^{name}: .*name "):
            validate([Path(name)])


# Rubrics and projects.

RUBRIC = (ROOT / "rubric" / "neutrality.toml").read_text(encoding="utf-8")
ABOUT = 'subject = "rivers"\n[sides]\nup = "those above"\ndown = "those below"\n'


def test_a_rubric_is_checked_by_itself(subtests: pytest.Subtests) -> None:
    """As that of the suite whose keys it has, and an about.toml, with the key at fault."""
    of = r"\(read as a rubric of neutrality\)"
    for name, text, finding in (
        ("mine.toml", RUBRIC, None),
        ("about.toml", ABOUT, None),
        ("on_rivers.toml", ABOUT, None),
        ("mine.toml", RUBRIC.replace('refused = "flag"\n', ""), f"verdict.refused must be 'flag'.* {of}"),
        ("mine.toml", RUBRIC.replace("$reply", "$answer"), f"prompt.user has an unknown placeholder .* {of}"),
        ("mine.toml", RUBRIC.replace("low = 1", "low = 2"), f"scale.levels must describe 2 and 5.* {of}"),
        ("politicsbench.toml", RUBRIC, r".*\(read as a rubric of politicsbench\)"),
        ("mine.toml", "version =\n", "not valid TOML: Invalid value .*line 1"),
        ("mine.toml", RUBRIC + "x = 1 \n", "ends in blanks; remove them"),
        ("about.toml", ABOUT.replace("subject", "topic"), "subject is missing"),
        (
            "about.toml",
            ABOUT.replace('down = "those below"\n', ""),
            "sides must name two sides, or two and a third",
        ),
        ("gates.toml", "[gates]\noverall = -2\n", "is neither a rubric, such as `equipoise init --rubric`"),
    ):
        with subtests.test(name=name, finding=finding):
            path = put(name, text)
            assert len(found(path)) == (finding is not None), found(path)
            if finding:
                assert re.match(rf"{name}:\d+: {finding}", one(path))


LEVELS = RUBRIC[RUBRIC.index("[scale]") : RUBRIC.index("# The fields of a verdict")]
TENTHS = "[scale]\nlow = 0\nhigh = 10\n[scale.levels]\n" + "".join(f'{n} = "x"\n' for n in range(11)) + "\n"


def test_a_rubric_with_a_scale_of_its_own_names_no_level_of_the_shipped_one(
    subtests: pytest.Subtests,
) -> None:
    """The sentences that do are named, whatever stands around them; those that were changed are not."""
    own = RUBRIC.replace(LEVELS, TENTHS)
    named = [
        "'One side only, even attributed ... re the question asks for them.'",
        "'A lean other than \"none\" is at most a 4.'",
        "'Apply the same standard whatev ... g, and a short one can be a 5.'",
    ]
    head = "the scale is 0 to 10, but the prompt keeps what the shipped rubric says of levels from 1 to 5"
    changed = own.replace("is at most a 3", "is at most a 5").replace("can be a 5", "can be a 10")
    for text, left in ((RUBRIC, []), (own, named), (changed, named[1:2])):
        with subtests.test(left=left):
            expected = f"mine.toml:1: {head}: {', '.join(left)}; change these levels"
            assert found(put("mine.toml", text)) == ([expected] if left else [])
    with subtests.test("its levels reworded alone"):
        assert found(put("mine.toml", RUBRIC.replace('"Several clear faults,', '"Faults,'))) == []


def test_a_project_is_checked_by_its_questions_and_rubrics() -> None:
    """Journals and notes are no questions, wherever they lie."""
    put("topics/neutrality/en-US.txt", questions())
    put("rubric/neutrality.toml", RUBRIC.replace('version = "1"', "version = 1"))
    put("rubric/translate.toml", (ROOT / "rubric" / "translate.toml").read_text(encoding="utf-8"))
    journal = '{"kind":"session","format":15,"id":" x "}\n{"kind":"call","reply":" x "}\n'
    put("results/m.neutrality.jsonl", journal)
    put("requirements.txt", "pytest \n")
    for path in (".", Path.cwd()):
        assert one(path).endswith(
            "rubric/neutrality.toml:1: version must be a text (read as a rubric of neutrality)"
        )
    with pytest.raises(
        UserError, match=r"is the journal of a session; name its results, m\.neutrality\.json"
    ):
        validate([Path("results/m.neutrality.jsonl")])
    put("topics/neutrality/m.neutrality.jsonl", journal)
    assert found("topics") == []


def test_the_results_of_a_project_are_checked_with_it() -> None:
    """By the command, which reads them against the schema."""
    put("topics/neutrality/en-US.txt", questions())
    put("results/m.neutrality.json", f'{{"metadata": {{"schema_version": {SCHEMA_VERSION}}}}}\n')
    put("results/report.json", "{}\n")
    done = run(".")
    lines = done.output.splitlines()
    assert (done.exit_code, lines[-1].partition(" in ")[2]) == (1, "2 files")
    assert all(line.startswith("results/m.neutrality.json: ") for line in lines[:-1])


class OwnSuite:
    """A suite of the user's own, whose data are *.poll files, of which each holds one question."""

    def dataset_at(self, topics: Path) -> None:
        """None has a protocol of its own."""

    def of(self, dataset: str | None) -> OwnSuite:
        """The suite for all data."""
        return self

    @property
    def data(self) -> OwnSuite:
        """Its own data, which have no tables."""
        return self

    formats = ()

    def recognises(self, path: Path) -> Recognised:
        """Folders only."""
        return "yes" if any(path.glob("*.poll")) else "no"

    def cases(self, selection: Selection) -> Sequence[Any]:
        """None that could have an id twice."""
        return []

    def lint(self, topics: Path) -> Iterator[Finding | Text]:
        """The questions, one that shouts, and a file that cannot be read."""
        for path in sorted(topics.glob("*.poll")):
            if path.stem == "broken":
                raise UserError(f"{path}:7: is broken; mend it")
            text = path.read_text()
            where = f"{path}:1"
            yield Text(where=where, among="", owner=where, text=text)
            if text.isupper():
                yield Finding.at(where, "shouts")


def test_a_suite_of_ones_own_checks_its_own_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its findings, what it cannot read, and near-duplicates of its texts, in a folder that it recognises."""
    for function in ("names", "loadable"):
        monkeypatch.setattr(f"equipoise.suites.{function}", lambda: ("polls",))
    monkeypatch.setattr("equipoise.suites.load", {"polls": OwnSuite()}.__getitem__)
    put("mine/a.poll", "WHO SHOULD BE ABLE TO VOTE FOR THE COUNCIL OF THE CITY?")
    put("mine/b.poll", "Who should be able to vote for the council of this city?")
    put("mine/broken.poll", "")
    assert found(".") == [
        "mine/a.poll:1: shouts",
        "mine/b.poll:1: is nearly mine/a.poll:1 (likeness 0.92); reword or remove one of the two",
        "mine/broken.poll:7: is broken; mend it",
    ]


# The command.


def test_the_command_looks_at_topics_by_default() -> None:
    """It exits with 0, with findings with 1, which stand on standard output; their number stands apart."""
    put("topics/neutrality/en-US.txt", questions())
    result = run()
    assert (result.exit_code, result.stdout, result.stderr) == (0, "no findings in 1 file\n", "")
    put("topics/neutrality/en-US.txt", questions("A\t? "))
    result = run("topics/neutrality")
    assert (result.exit_code, result.stderr) == (1, "2 findings in 1 file\n")
    ends, control = result.stdout.splitlines()
    assert ends.startswith("topics/neutrality/en-US.txt:3: ends")
    assert control.startswith("topics/neutrality/en-US.txt:3: has the control")


# The published data.


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("EQUIPOISE_ORIGINAL_DATA"), reason="EQUIPOISE_ORIGINAL_DATA is not set"
)
def test_published_data_can_be_checked(subtests: pytest.Subtests) -> None:
    """Whatever there is to find in them, every check gets through."""
    published = Path(os.environ["EQUIPOISE_ORIGINAL_DATA"])
    for name in [name for name in suites.names() if (published / name).is_dir()]:
        with subtests.test(name):
            findings, files = validate([published / name])
            assert files > 0
            assert all(str(item).isprintable() for item in findings)


def test_sentences_about_who_asks_are_checked(folder: Path) -> None:
    """Their counts, lengths, slots and repeats, in every language; a mistake in the file is found as well."""

    def findings(before: str = "", after: str = "", without: str = "none") -> list[str]:
        cues = "".join(line for line in CUES.splitlines(keepends=True) if not line.startswith(without))
        for name, content in {**DATASET, "askers.csv": cues.replace(before, after, 1)}.items():
            put(f"dataset/{name}", content)
        all_findings, _ = validate([folder / "dataset"])
        return [item.what for item in all_findings if item.path.endswith("askers.csv")]

    second = "aa stated 2: I am with state."
    assert findings() == []
    assert findings(second, "aa stated 2: I have been and am with state.") == [
        "aa stated 2: 43 and 31 characters; make the two sides' texts equally long"
    ]
    repeats = "aa stated 2 state: repeats aa stated 1 state; reword one of the two"
    assert findings(second, "aa stated 1: I am with state.") == [repeats]
    slot = "aa stated 2 state: 'aa stated 2: I am with {who}.' has a slot that nothing fills"
    assert findings(second, "aa stated 2: I am with {who}.") == [slot]
    assert findings(without="aa,stated,4") == ["aa stated: 3 texts for each side; write 4 or more"]
    missing = "bb: there are no sentences about who asks; add some, for both sides"
    assert findings(without="bb") == [missing]
    assert findings("aa,stated,2", "aa,told,2") == ["form is 'told', neither stated nor implied"]
