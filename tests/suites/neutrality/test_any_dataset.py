"""Arbitrary question files: questions or a UserError, nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzzing import any_text, made_of, modest, user_errors
from hypothesis import example, given
from hypothesis import strategies as st

from equipoise.suites.neutrality.dataset import questions
from equipoise.suites.selection import Selection, data_hash


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the dataset of an example."""
    return tmp_path_factory.mktemp("dataset")


INDEX = b"line,id,area,slug,keywords\n"
question_bytes = st.binary(max_size=60) | made_of("What?", "\n", "\r", "\t", "\ufeff", " ", "\x00").map(
    lambda text: text.encode("utf-8", "surrogatepass")
)
cell = (
    st.sampled_from(("1", "2", "3", "q1", "q2", "area", "", "a;b", '"', "\u0661", "-1", "9" * 5000))
    | any_text
)
index_row = st.lists(cell, min_size=4, max_size=6).map(
    lambda row: ",".join(row).encode("utf-8", "surrogatepass") + b"\n"
)
index_bytes = st.one_of(
    st.none(),
    st.binary(max_size=60),
    st.lists(index_row, max_size=4).map(lambda rows: INDEX + b"".join(rows)),
    st.just(INDEX + b"1,q1,area,slug,\n2,q2,area,slug,\xe8\xb4\xb0\n"),
)


@modest
@given(aa=question_bytes, bb=question_bytes | st.just(b"One?\nTwo?\n"), index=index_bytes)
@example(aa=b"One?\n", bb=b"One?\n", index=INDEX + b'1,q1,area,slug,"' + b"a" * 140_000)
@example(aa=b"One?\n", bb=b"One?\n", index=INDEX + b"9" * 5000 + b",q1,area,slug,\n")
def test_any_dataset_is_read_or_refused(aa: bytes, bb: bytes, index: bytes | None, dataset: Path) -> None:
    """Arbitrary bytes make questions with ids of their own, or raise UserError."""
    (dataset / "aa.txt").write_bytes(aa)
    (dataset / "bb.txt").write_bytes(bb)
    (dataset / "index.csv").unlink(missing_ok=True)
    if index is not None:
        (dataset / "index.csv").write_bytes(index)
    data_hash(dataset)
    with user_errors():
        cases = questions(Selection(topics=dataset))
        assert len({case.id for case in cases}) == len(cases)
        assert all(case.id.isascii() and case.question.strip() == case.question != "" for case in cases)
