"""`unspoken mine` on a release that keeps distances: clusters."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import emit, save_model

if TYPE_CHECKING:
    from unspoken.release.release import Release

LEARNERS = ("kmeans", "dbscan")


def run(args: argparse.Namespace, release: Release, params: dict[str, Any]) -> int:
    """Group the records of a release and write the clusters."""
    from unspoken.methods.rotation.mine_clusters import mine_clusters

    model = mine_clusters(release, args.learner, args.anyway, **params)
    save_model(model, args.out)
    emit(args, {"model": str(args.out), "clusters": int(model.centres.shape[0])},
         f"{model.summary()}\nModel written to {args.out}: it goes back to the custodian, whose "
         "key says whose record lies in which cluster ('unspoken decode').")
    return 0
