"""The verbs of the command: where each lives, and its line in `unspoken --help`.

The lines stand here a second time, so that a command loads the file of its own verb and no other;
a test compares them with the verbs.
"""

from __future__ import annotations

from typing import NamedTuple


class VerbLine(NamedTuple):
    """One verb: its name, the file of this package that adds it, and what it does in a line."""

    name: str
    file: str
    text: str


VERBS = (
    VerbLine("start", "start_verb",
             "Begin here: show what a table holds, ask three questions, recommend a method, run "
             "it, attack the release, and write one page about it"),
    VerbLine("advise", "advise_verb",
             "Say which way of sharing serves a purpose, what it promises and what breaks it"),
    VerbLine("inspect", "inspect_verb",
             "Print what the columns of a table are and how well each could be protected"),
    VerbLine("methods", "methods_verb",
             "List the release methods, or say of one what it does, promises and takes, and which "
             "adversaries the audit sends against it"),
    VerbLine("protect", "protect_verb",
             "Write a release for a miner, and the key that only the custodian keeps"),
    VerbLine("private", "private_verb",
             "Say what a private result costs and how exact it will be, and with --out measure it: "
             "marginals, naive Bayes, a tree, a regression or frequent itemsets"),
    VerbLine("hierarchy", "hierarchy_verb",
             "Show the levels that a column may be generalised to, and save them as a file for "
             "'protect' and 'anonymize'"),
    VerbLine("anonymize", "anonymize_verb",
             "Try every method that gives K and L on a table, show what each keeps and risks, and "
             "write the release that serves the task best"),
    VerbLine("hide", "hide_verb",
             "Change baskets so that chosen association rules and itemsets are no longer found at "
             "the thresholds given, with few changes, and report the side effects"),
    VerbLine("query", "query_verb",
             "Answer a count, a sum or a mean over a table with noise, until the declared epsilon "
             "is spent"),
    VerbLine("search", "search_verb",
             "Search a table that lies with somebody else, who sees rotated records only"),
    VerbLine("serve", "serve_verb",
             "Answer statistics over HTTP to analysts who never hold the table"),
    VerbLine("budget", "budget_verb",
             "Show what all disclosures of a table have spent, to whom, and what is left"),
    VerbLine("mine", "mine_verb",
             "Mine a model from a release directory"),
    VerbLine("mixture", "mixture_verb",
             "Cluster what several sources hold, each of which sends a model of its records in "
             "place of them (generative clustering)"),
    VerbLine("reconstruct", "reconstruct_verb",
             "Estimate the distribution of the original values from a release of distorted ones "
             "(as2000 section 3)"),
    VerbLine("decode", "decode_verb",
             "Turn a mined model into the model of the original data"),
    VerbLine("predict", "predict_verb",
             "Apply a model to records: a decoded one to original records, a mined one to released "
             "records"),
    VerbLine("verify", "verify_verb",
             "Compare two models bit for bit, or a mined model with the original data"),
    VerbLine("summary", "summary_verb",
             "Describe a release directory, a key file or a model file"),
    VerbLine("audit", "audit_verb",
             "Attack a release in every known way and write what each way recovers"),
    VerbLine("measure", "measure_verb",
             "Measure what a table, a published classifier, published counts or published "
             "itemsets give away, and what a release keeps"),
    VerbLine("sign", "record_verbs",
             "Sign a decision record, or any file, with an Ed25519 key"),
    VerbLine("verify-record", "record_verbs",
             "Check that a signed record was not changed, and that a release is the one that it is "
             "about"),
    VerbLine("register", "register_verb",
             "List a custodian's register, or enter a published model, an answered query, a joint "
             "study or a table that another tool made"),
    VerbLine("joint", "joint_verb",
             "Compute with other owners without showing them your data"),
    VerbLine("node", "node_verb",
             "Run a node: agree on studies with other organisations, and run them"),
    VerbLine("relay", "relay_verb",
             "Run a relay: parties of joint studies behind NAT or a firewall meet there over "
             "outgoing connections"),
    VerbLine("studio", "studio_verb",
             "Open pages in a browser: look at a table, try methods side by side, decide and sign"),
    VerbLine("demo", "demo_verb",
             "Protect a real table, mine it in another process, decode, compare and attack"),
    VerbLine("reproduce", "reproduce_verb",
             "Run the experiments of the papers again and write one page"),
)
