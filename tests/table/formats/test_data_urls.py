"""Addresses of data: what they name, and that no password survives in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from unspoken.errors import InputError
from unspoken.table.formats.data_urls import DataUrl, as_place


def test_a_path_stays_a_path():
    assert as_place("data/people.csv") == Path("data/people.csv")
    assert as_place(Path("a:b.csv")) == Path("a:b.csv")


def test_table_schema_and_order_are_taken_out_of_the_address():
    url = as_place("postgresql://ann@db:5432/clinic?sslmode=require&table=a%26b.c&schema=s"
                   "&order=x&order=y")
    assert isinstance(url, DataUrl)
    assert (url.table, url.schema, url.order) == ("a&b.c", "s", ("x", "y"))
    assert url.server == "postgresql://ann@db:5432/clinic?sslmode=require"


@pytest.mark.parametrize(("text", "path"), [
    ("duckdb:///w.db?table=t", "w.db"), ("sqlite:////var/w%20x.db?table=t", "/var/w x.db")])
def test_database_files_are_relative_or_absolute(text, path):
    assert as_place(text).path == path


@pytest.mark.parametrize("text", [
    "postgresql://ann:s3cret@db/clinic?table=t", "postgresql://ann:s3/cret@db/clinic",
    "postgresql://ann:s3?cret@db/clinic", "postgres://db/clinic?password=s3cret",
    "postgresql://db/clinic?table=t&sslPassword=s3cret", "s3://key:s3cret@bucket/x",
    "postgresql://ann:s3cret@[::1]:5432/clinic"])
def test_a_password_is_refused_and_not_repeated(text):
    with pytest.raises(InputError) as refused:
        as_place(text)
    assert "cret" not in str(refused.value)
    assert "PGPASSWORD" in str(refused.value)


@pytest.mark.parametrize("text", ["postgresql://ann@[::1]:5432/clinic?table=t",
                                  "postgresql://a:1,b:2/clinic?table=t",
                                  "postgresql:///clinic?host=/run/pg&passfile=/x&table=t"])
def test_ports_and_several_hosts_are_no_passwords(text):
    assert as_place(text).table == "t"


@pytest.mark.parametrize(("text", "word"), [
    ("mysql://db/x?table=t", "postgresql"), ("sqlite:///x.db?table=", "empty"),
    ("duckdb:///x.db?table=a&table=b", "once")])
def test_what_cannot_be_meant_is_refused(text, word):
    with pytest.raises(InputError, match=word):
        as_place(text)
