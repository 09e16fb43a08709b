"""The examples at the end of each command's help."""

EXAMPLES = {
    name: "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
    for name, lines in {
        "train": (
            "steelyard train rows.vw -o rows.model",
            "steelyard train churn.csv --holdout 0.2 -o churn.model",
            "steelyard train part-*.svm.gz --loss logistic --passes 3 --holdout 10",
            "zcat log.gz | steelyard train - --format vw --json",
            "steelyard train reviews.tsv.xz --interactions 'user*item' -o reviews.model",
            "steelyard train topics.tsv --holdout 10 --calibrate -o topics.model",
            "steelyard train more.vw --resume rows.model -o rows.model",
        ),
        "sweep": (
            "steelyard sweep rows.vw",
            "steelyard sweep rows.svm --loss logistic,hinge --learning-rate 0.01:10:7 --holdout 5",
            "steelyard sweep rows.vw --learning-rate 2^-5..2^5 --save best.model -o all.csv",
            "steelyard sweep rcv1.svm --paper --bits 16 --holdout 5 --pictures pictures",
            "steelyard sweep large.vw.gz --paper --memory 8G --resume large.state",
        ),
        "active simulate": (
            "steelyard active simulate mail.tsv",
            "steelyard active simulate mail.tsv --fractions 0.02,0.1 --strategy iwal,random --seeds 10",
            "steelyard active simulate mail.tsv --update implicit,invariant --pictures curves",
        ),
        "active label": (
            "steelyard active label messages.csv --classes ham,spam",
            "steelyard active label references.ris",
            "steelyard active label messages.csv.journal --budget 800",
        ),
        "active export": (
            "steelyard active export messages.csv.journal -o labels.csv",
            "steelyard active export messages.csv.journal -o all.parquet --model spam.model",
        ),
        "merge": (
            "steelyard merge monday.model tuesday.model -o week.model",
            "steelyard merge part-*.model --choose held-out.tsv -o whole.model",
        ),
        "convert": (
            "steelyard convert log.vw.gz -o log.arrow",
            "steelyard train log.arrow --passes 5 -o log.model",
        ),
        "predict": (
            "steelyard predict rows.model new.vw > predictions.txt",
            "steelyard predict topics.model new.tsv --as label",
            "steelyard predict topics.model new.tsv --top 3 --output-format csv",
            "steelyard predict spam.model mail.tsv --as probability -o probabilities.txt",
            "steelyard predict churn.model customers.xlsx -o scored.xlsx",
        ),
        "filter": (
            "steelyard filter quality.model corpus/ -o kept --keep 'p[good] >= 0.9'",
            "steelyard filter quality.model 'shard-*.jsonl.zst' -o kept --fraction 0.1 --by 'p[good]' "
            "--rejects dropped",
            "steelyard filter language.model quality.model corpus/ -o kept "
            "--keep \"language_label == 'en' and quality_p >= 0.5\" --audit 400",
        ),
        "audit": ("steelyard audit kept", "steelyard audit kept labels.csv --json"),
        "export": (
            "steelyard export spam.model -o spam.json",
            "steelyard export spam.model -o scorer.js",
            "steelyard export prices.model -o prices.onnx",
        ),
        "serve": (
            "steelyard serve spam.model --port 8765",
            "curl --data-binary @new.jsonl http://127.0.0.1:8765/predict",
        ),
        "evaluate": (
            "steelyard evaluate rows.model test.vw",
            "steelyard evaluate rows.model 'test-*.svm.gz' --json",
            "steelyard evaluate income.model test.csv --labels low.,high. --on-error skip",
        ),
        "report": (
            "steelyard report churn.model test.csv -o page.html",
            "steelyard report churn.model churn.csv --held-out",
        ),
        "inspect": ("steelyard inspect rows.model", "steelyard inspect rows.model --top 30 --json"),
        "explain": (
            "steelyard explain rows.model new.vw --rows 3 --top 8",
            "steelyard explain churn.model customers.csv --row 17",
        ),
    }.items()
}
