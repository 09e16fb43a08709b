"""What to use here instead of options of Vowpal Wabbit."""

from collections.abc import Iterable

_NOT_HERE = "that is not here: see docs/from-vowpal-wabbit.md"
# By the flag of Vowpal Wabbit: what does the same here.
_HERE = {
    "-d --data": "name files without a flag: steelyard train FILE",
    "-f --final_regressor": "use -o MODEL",
    "-i --initial_regressor": "to continue learning use train FILE --resume MODEL, to predict: steelyard "
    "predict MODEL FILE",
    "-t --testonly": "use steelyard predict MODEL FILE, or steelyard evaluate MODEL FILE",
    "-p --predictions -r --raw_predictions": "use steelyard predict MODEL FILE > PREDICTIONS",
    "-b --bit_precision": "use --bits N",
    "-l --learning_rate": "use --learning-rate (for squared loss twice Vowpal Wabbit's number), or "
    "--learning-rate auto",
    "-c --cache --cache_file -k --kill_cache": "no cache is needed; steelyard convert writes a file that "
    "loads faster",
    "-P --progress --quiet --driver_output_off --driver_output --log_level --log_output": "use --json for "
    "one JSON object, or > /dev/null",
    "-a --audit": "use steelyard explain MODEL FILE",
    "--invert_hash --readable_model --audit_regressor": "use steelyard inspect MODEL --top N",
    "--loss_function": "use --loss logistic, hinge, quantile or squared",
    "--quantile_tau": "use --tau",
    "--noconstant": "use --no-bias",
    "--oaa --ect": "use --classes; how many there are is found in the files",
    "--oaa_subsample": "leave it out, and use --classes",
    "--multilabel_oaa": "a row has one class here: train a model for each label, as in docs/recipes.md",
    "--named_labels": "use a table, such as CSV or JSON lines: its labels are names",
    "--scores": "use steelyard predict MODEL FILE: it prints one number for each class",
    "--top": "use steelyard predict MODEL FILE --top N, for the N most likely classes",
    "--probabilities --confidence --confidence_after_training": "use predict --as probability",
    "--binary": "use predict --as label",
    "--link": "use predict --as probability",
    "--csoaa --csoaa_ldf --wap --wap_ldf": "use --classes, with --class-weight or a weight for each row; "
    "costs for each class are not supported",
    "--holdout_off": "leave it out: nothing is held out without --holdout N",
    "--holdout_period": "use --holdout N",
    "--holdout_after": "put those rows into a file of their own: steelyard evaluate MODEL FILE",
    "--examples": "use head -n N FILE | steelyard train -",
    "--save_per_pass": "use --checkpoint-every ROWS",
    "--replay_b --replay_c --replay_m": "use --shuffle, with --passes N",
    "--onethread": "use --threads 1",
    "--span_server --span_server_port --unique_id --total --node": "use train --cluster (docs/clusters.md)",
    "--version": "use steelyard --version",
    "--predict_only_model": "use steelyard export MODEL -o FILE",
    "--csv": "leave it out: formats are recognised, and --format says which it is",
    "--compressed": "leave it out: compressed files are recognised",
    "--strict_parse": "leave it out: a line that cannot be read ends the run, unless with --on-error skip",
    "--no_bias_regularization": "leave it out: the bias is not regularised",
    "--constant -C": "leave it out: the constant begins at 0, and is learned",
    "--sort_features --ring_size --sparse_weights": "leave it out: it makes no difference here",
    "--early_terminate": "use --early-stopping, with --passes N and --holdout M",
    "--sgd": "use --update explicit --scaling plain",
    "--invariant": "use --update invariant, the default",
    "--adaptive": "use --scaling adaptive",
    "--normalized": "use --scaling normalized",
    "--cubic": "use -q abc",
    "--classweight": "use --class-weight 1=2,-1=0.5, or balanced",
    "--save_resume --preserve_performance_counters": "leave it out: every model can be resumed",
    "--decay_learning_rate": "leave it out: with the default scaling pass k learns at 1/k² of the rate",
    "--active --active_cover --cs_active --mellowness": "use steelyard active ask",
    "--simulation": "use steelyard active simulate",
    "--daemon --port --foreground --num_children --pid_file --port_file --no_daemon": "use steelyard serve "
    "MODEL",
    "--min_prediction --max_prediction": "leave it out: predictions are not clipped",
    "--random_seed --random_weights --normal_weights --truncated_normal_weights --initial_weight": "leave it "
    "out: coefficients begin at 0, and nothing is random",
    "--hash": "leave it out: names are hashed as Vowpal Wabbit does, names of digits as numbers",
    "--no_stdin": "leave it out: standard input is read only if the file is -",
    "--cb --cb_adf --cb_explore --cb_explore_adf --cb_type --cbify --lda --nn --bfgs --ftrl --coin "
    "--pistol --boosting --rank --lrq --lrqfa --lrqdropout --search --plt --dsjson --autolink "
    "--stage_poly --ksvm --bs --bootstrap --freegrad --OjaNewton --conjugate_gradient --svrg --adax "
    "--sparse_l2 --l1_state --l2_state --baseline --marginal --interact --memory_tree --recall_tree "
    "--log_multi --new_mf --slates --ot --noop --print --sendto --automl --multiworld_test --explore_eval "
    "--ccb_explore_adf --ignore_linear --redefine --feature_limit --affix --spelling --dictionary "
    "--dictionary_path --permutations --leave_duplicate_interactions --hash_seed --feature_mask "
    "--input_feature_regularizer --output_feature_regularizer_binary --output_feature_regularizer_text "
    "--id --dry_run --initial_pass_length --expectile_q --logistic_min --logistic_max --flatbuffer "
    "--chain_hash --extra_metrics --epsilon --bag --cover --first --softmax --squarecb --regcb --regcbopt "
    "--nounif --psi --lambda": _NOT_HERE,
}  # fmt: skip
# Options of methods that are not here begin with the method's name.
_METHODS = tuple(
    f"--{name}"
    for name in ("bfgs_", "cats", "cb_", "cbify_", "cbzo", "ftrl_", "lda_", "rnd", "search_", "warm_")
)
ANSWERS = {flag: answer for flags, answer in _HERE.items() for flag in flags.split()}


def answer(flag: str, options: Iterable[str]) -> str | None:
    """What to type instead of a flag of Vowpal Wabbit; `options` are those of the command."""
    dashed = flag.replace("_", "-")
    if dashed != flag and dashed in options and flag not in ANSWERS:
        return f"use {dashed}"
    return ANSWERS.get(flag, _NOT_HERE if flag.startswith(_METHODS) else None)
