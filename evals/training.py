"""Train the verifier on sets of questions, and measure how its probabilities hold on a set it has not seen."""

import hashlib
import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from qkva.contracts.errors import ConfigError
from qkva.evals.practice import Pair, Practice, by_question, practise, read_practice
from qkva.planning.decision.evidence import FEATURES
from qkva.planning.decision.recalibration import fit_line
from qkva.planning.decision.verifier import CLIP, Node, Prior, Verifier, Weight, logit

STREAMS = ((1.0, 0.3), (0.35, 0.3), (0.6, 0.3))
"""Of each small set: the share of its questions that is stored, and the share whose plan is hidden from them."""
STREAMS_OF_LARGE = ((1.0, 0.25), (0.3, 0.25))
LARGE, MOST = 1_500, 2_500
"""A set of so many questions is large; of each of its streams so many are played."""
TREES, LEAVES, LEARNING_RATE, LEAST_IN_LEAF, SHRINKAGE = 80, 6, 0.08, 30, 5.0
RIDGE = 0.1
FOLDS = 3
LEAST_DEVIATION = 0.25
"""Of the prior: a handful of sets is too few to know it better."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Trained:
    """What came of it."""

    verifier: Verifier
    held_out: Mapping[str, Sequence[tuple[float, bool]]]
    """By set (or fold), of each question the best probability of a verifier that has not seen the set, and whether that
    plan was right."""


def train(paths: Sequence[Path], progress: Progress = lambda _: None) -> Trained:
    """On several sets: the prior says how the probabilities hold from set to set. Raises ConfigError."""
    pairs: dict[str, list[Pair]] = {}
    for path in paths:
        progress(f"practising on {path.name}")
        practice = read_practice(path)
        pairs[practice.name] = practise(practice, **_streams(practice))
    if len(pairs) == 1:
        raise ConfigError("To train a verifier that holds on other sources, several files of questions are needed.")
    return _cross(pairs, hard_guards=True, progress=progress)


def train_on_part(practice: Practice, keep: frozenset[int], progress: Progress = lambda _: None) -> Trained:
    """On some of the plans of one set, for use on its others: the prior is how the probabilities hold from fold to
    fold."""
    groups = sorted(keep)
    pairs = {}
    for fold in range(FOLDS):
        progress(f"practising, part {fold + 1} of {FOLDS}")
        part = frozenset(groups[fold::FOLDS])
        pairs[f"part {fold + 1}"] = practise(practice, keep=part, **_streams(practice, len(part) / len(groups)))
    whole = practise(practice, keep=keep, **_streams(practice))
    crossed = _cross(pairs, hard_guards=False, progress=progress)
    fitted = fit({"all": whole}, hard_guards=False)
    return Trained(replace(fitted, prior=crossed.verifier.prior), crossed.held_out)


def _streams(practice: Practice, share: float = 1.0) -> dict[str, Any]:
    if len(practice.questions) * share < LARGE:
        return {"streams": STREAMS}
    return {"streams": STREAMS_OF_LARGE, "limit": MOST}


def _cross(pairs: Mapping[str, Sequence[Pair]], *, hard_guards: bool, progress: Progress) -> Trained:
    held_out = {}
    for name in pairs:
        progress(f"trying on {name} what the others taught")
        others = fit({other: found for other, found in pairs.items() if other != name}, hard_guards=hard_guards)
        held_out[name] = best_of_each(others, pairs[name])
    verifier = replace(fit(pairs, hard_guards=hard_guards), prior=_prior(held_out.values()))
    return Trained(verifier, held_out)


def best_of_each(verifier: Verifier, pairs: Sequence[Pair]) -> list[tuple[float, bool]]:
    """Of each question the highest probability among the plans whose hard doors are open, and whether it is right."""
    best = []
    for candidates in by_question(pairs).values():
        open_ones = [pair for pair in candidates if may_be_served(pair, verifier.hard_guards)]
        if open_ones:
            best.append(max((verifier.probability(pair.evidence.features), pair.same) for pair in open_ones))
    return best


def may_be_served(pair: Pair, hard_guards: bool) -> bool:
    """Whether only the probability decides."""
    features = pair.evidence.features
    return pair.evidence.fits and not (hard_guards and (features["guarded"] or features["unexplained"]))


def _prior(held_out: Iterable[Sequence[tuple[float, bool]]]) -> Prior:
    """How slope and shift of the right calibration vary from set to set."""
    lines = np.array([fit_line([logit(p) for p, _ in found], [same for _, same in found]) for found in held_out])
    mean, deviation = lines.mean(0), np.maximum(lines.std(0, ddof=1), LEAST_DEVIATION)
    return Prior(*(round(float(x), 4) for x in (*mean, *deviation)))


def fit(pairs: Mapping[str, Sequence[Pair]], *, hard_guards: bool) -> Verifier:
    """A verifier without a prior; every set weighs as the root of its size. Raises ConfigError without scikit-learn."""
    names = list(FEATURES)
    fitting = {name: [pair for pair in found if pair.evidence.fits] for name, found in pairs.items()}
    usable = {name: found for name, found in fitting.items() if found}
    if len({pair.same for found in usable.values() for pair in found}) < 2:
        raise ConfigError(
            "The questions for training need plans that are right and plans that are wrong for a question."
        )
    rows = np.array([[pair.evidence.features[f] for f in names] for found in usable.values() for pair in found])
    same = np.array([pair.same for found in usable.values() for pair in found])
    weight = np.concatenate([np.full(len(found), len(found) ** -0.5) for found in usable.values()])
    weight *= len(weight) / weight.sum()
    if len(set(same.tolist())) < 2:
        raise ConfigError(
            "The questions for training need plans that are right and plans that are wrong for a question."
        )
    intercept, weights = _regress(names, rows, same, weight)
    baseline, trees = _grow(names, rows, same, weight)
    drafted = Verifier("", intercept, weights, baseline, trees, hard_guards=hard_guards)
    version = hashlib.sha256(json.dumps(drafted.dump(), sort_keys=True).encode()).hexdigest()[:8]
    return replace(drafted, version=version)


def _regress(names: Sequence[str], rows: Any, same: Any, weight: Any) -> tuple[float, dict[str, Weight]]:
    mean, scale = rows.mean(0), rows.std(0) + 1e-6
    model = _require("sklearn.linear_model").LogisticRegression(C=RIDGE, max_iter=500)
    model.fit(np.clip((rows - mean) / scale, -CLIP, CLIP), same, sample_weight=weight)
    weights = {
        name: Weight(*(round(float(x), 5) for x in found))
        for name, *found in zip(names, mean, scale, model.coef_[0], strict=True)
        if abs(found[2]) > 5e-4
    }
    return round(float(model.intercept_[0]), 5), weights


def _grow(names: Sequence[str], rows: Any, same: Any, weight: Any) -> tuple[float, tuple[tuple[Node, ...], ...]]:
    model = _require("sklearn.ensemble").HistGradientBoostingClassifier(
        learning_rate=LEARNING_RATE, max_iter=TREES, max_leaf_nodes=LEAVES, min_samples_leaf=LEAST_IN_LEAF,
        l2_regularization=SHRINKAGE, monotonic_cst=list(FEATURES.values()), early_stopping=False, random_state=0,
    )  # fmt: skip
    model.fit(rows, same, sample_weight=weight)
    trees = tuple(_nodes(names, predictor[0].nodes) for predictor in model._predictors)
    return round(float(model._baseline_prediction.ravel()[0]), 5), trees


def _nodes(names: Sequence[str], nodes: Any) -> tuple[Node, ...]:
    return tuple(
        Node(value=round(float(node["value"]), 5))
        if node["is_leaf"]
        else Node(
            names[node["feature_idx"]], round(float(node["num_threshold"]), 5), int(node["left"]), int(node["right"])
        )
        for node in nodes
    )


def _require(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ConfigError("Training needs scikit-learn: pip install 'qkva[bench]'.") from None
