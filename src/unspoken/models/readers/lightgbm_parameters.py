"""The training parameters that follow LightGBM's trees: a closed list of names and spellings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unspoken.models.hostile_json import refuse
from unspoken.models.written_numbers import real_of

NUMBERS = frozenset((
    "num_iterations", "learning_rate", "num_leaves", "num_threads", "seed", "deterministic",
    "force_col_wise", "force_row_wise", "histogram_pool_size", "max_depth", "min_data_in_leaf",
    "min_sum_hessian_in_leaf", "bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction",
    "bagging_freq", "bagging_seed", "bagging_by_query", "feature_fraction",
    "feature_fraction_bynode", "feature_fraction_seed", "extra_trees", "extra_seed",
    "early_stopping_round", "early_stopping_min_delta", "first_metric_only", "max_delta_step",
    "lambda_l1", "lambda_l2", "linear_lambda", "min_gain_to_split", "drop_rate", "max_drop",
    "skip_drop", "xgboost_dart_mode", "uniform_drop", "drop_seed", "top_rate", "other_rate",
    "min_data_per_group", "max_cat_threshold", "cat_l2", "cat_smooth", "max_cat_to_onehot",
    "top_k", "monotone_penalty", "refit_decay_rate", "cegb_tradeoff", "cegb_penalty_split",
    "path_smooth", "verbosity", "saved_feature_importance_type", "use_quantized_grad",
    "num_grad_quant_bins", "quant_train_renew_leaf", "stochastic_rounding", "linear_tree",
    "max_bin", "min_data_in_bin", "bin_construct_sample_cnt", "data_random_seed",
    "is_enable_sparse", "enable_bundle", "use_missing", "zero_as_missing", "feature_pre_filter",
    "pre_partition", "two_round", "header", "precise_float_parser", "objective_seed", "num_class",
    "is_unbalance", "scale_pos_weight", "sigmoid", "boost_from_average", "reg_sqrt", "alpha",
    "fair_c", "poisson_max_delta_step", "tweedie_variance_power", "lambdarank_truncation_level",
    "lambdarank_norm", "lambdarank_position_bias_regularization", "multi_error_top_k",
    "num_machines", "local_listen_port", "time_out", "gpu_platform_id", "gpu_device_id",
    "gpu_use_dp", "num_gpu",
))
WORDS = frozenset((
    "boosting", "objective", "metric", "tree_learner", "device_type", "data_sample_strategy",
    "monotone_constraints", "monotone_constraints_method", "feature_contri",
    "cegb_penalty_feature_lazy", "cegb_penalty_feature_coupled", "interaction_constraints",
    "max_bin_by_feature", "label_gain", "eval_at", "auc_mu_weights", "gpu_device_id_list",
    "categorical_feature",
))
PLACES = frozenset((
    "data", "valid", "forcedsplits_filename", "forcedbins_filename", "parser_config_file",
    "machine_list_filename", "machines", "label_column", "weight_column", "group_column",
    "ignore_column",
))
"""Names of files, machines and columns: read, so that decoding can refuse them; written empty."""

_WORD = re.compile(r"[A-Za-z0-9_,.:;\[\]+\- ]{0,100000}")
_LINE = re.compile(r"\[([a-z_0-9]{1,60}): (.*)\]")


def read_parameters(lines: Sequence[str]) -> dict[str, str]:
    """Return the known parameters; unknown ones are dropped, twice given ones refused."""
    known: dict[str, str] = {}
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        name, value = match[1], match[2]
        if name in known:
            refuse(f"parameters.{name}", "given once", "twice")
        if name in NUMBERS and value and real_of(value) is None:
            refuse(f"parameters.{name}", "a finite number", value[:40])
        if name in WORDS and not _WORD.fullmatch(value):
            refuse(f"parameters.{name}", "words and numbers", "something else")
        if name in NUMBERS | WORDS | PLACES:
            known[name] = value
    return known


def written_parameters(known: dict[str, str]) -> list[str]:
    """Return the lines that LightGBM writes for known parameters."""
    return [f"[{name}: {'' if name in PLACES else value}]" for name, value in known.items()]
