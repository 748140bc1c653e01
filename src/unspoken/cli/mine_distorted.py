"""`unspoken mine` on a release of distorted values: learners that know the distortion."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import emit
from unspoken.errors import InputError, SchemaError, explain

if TYPE_CHECKING:
    from unspoken.models.naive_bayes import NaiveBayes
    from unspoken.models.tree import Tree
    from unspoken.release.release import Release

STRATEGIES = ("refined", "byclass", "local", "global", "randomized")
LEARNERS = ("tree", "naive-bayes")


def wanted(args: argparse.Namespace, release: Release) -> bool:
    """Return True if a learner is asked for, or needed, that knows how values were distorted."""
    if args.strategy is not None or args.learner == "naive-bayes":
        return True
    return release.guarantee.name == "distorted" and args.learner == "tree" and not args.anyway


def run(args: argparse.Namespace, release: Release, params: dict[str, Any]) -> int:
    """Mine a release of distorted values, and write the model beside its recipe."""
    _check(args, release)
    settings = dict(params)
    if args.learner == "tree":
        settings["strategy"] = args.strategy or "refined"
    model = _mined(args.learner, release, settings)
    recipe = _save(args, release, model, settings)
    emit(args, {"model": str(args.out), "recipe_file": str(recipe), "covered": True,
                "recipe": _recipe(args, release, model, settings).to_json()},
         f"{model.summary()}\nModel written to {args.out}, its recipe to {recipe}. It is for "
         "undistorted records; nobody needs a key.")
    return 0


def _check(args: argparse.Namespace, release: Release) -> None:
    if args.learner not in LEARNERS:
        raise InputError(f"'--strategy' is for trees, not for '{args.learner}'. Leave it out, or "
                         "use '--learner tree'.")
    if args.learner == "naive-bayes" and args.strategy is not None:
        raise InputError(f"'--strategy' is for trees, not for '{args.learner}'. Naive Bayes "
                         "reconstructs every column by class.")
    if args.task == "regression":
        raise InputError(f"Distorted values can be mined for classification only, not for "
                         f"{args.task}. Use '--task classification'.")
    if release.schema.target is None:
        raise SchemaError("This needs a release with a target. Got none.")


def _mined(learner: str, release: Release, settings: dict[str, Any]) -> Tree | NaiveBayes:
    from unspoken.mine import (
        ReconstructingNaiveBayes,
        ReconstructingTreeClassifier,
        noisy_naive_bayes,
        noisy_tree,
    )

    kind = ReconstructingTreeClassifier if learner == "tree" else ReconstructingNaiveBayes
    known = sorted(set(kind().get_params()) - {"noise", "support"})
    strange = sorted(set(settings) - set(known))
    if strange:
        raise InputError(explain(f"'--param {strange[0]}'", "one of " + ", ".join(known),
                                 strange[0]))
    return noisy_tree(release, **settings) if learner == "tree" \
        else noisy_naive_bayes(release, **settings)


def _recipe(args: argparse.Namespace, release: Release, model: Any,
            settings: dict[str, Any]) -> Any:
    import sklearn

    from unspoken.models.recipe import Recipe

    return Recipe(args.learner, "classification", settings, tuple(model.features), (),
                  release.fingerprint, {"scikit-learn": str(sklearn.__version__)})


def _save(args: argparse.Namespace, release: Release, model: Any,
          settings: dict[str, Any]) -> Path:
    from unspoken.methods.encoding.learners.mine_trees import recipe_path

    place = recipe_path(args.out)
    _recipe(args, release, model, settings).save(place)
    try:
        model.save(args.out)
    except BaseException:
        place.unlink(missing_ok=True)
        raise
    return place
