"""`steelyard active label`: a page to label in, served to browsers on this machine."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from steelyard._messages import counted
from steelyard.active import strategies
from steelyard.cli import options
from steelyard.cli.grouped_help import MOST_USED, GroupedCommand
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.option_types import Choice
from steelyard.io.columns import TEXT
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.labelling.corpus import Corpus
    from steelyard.labelling.project import Project

_SCREENING = ("irrelevant", "relevant")
_AUDITED = 0.1  # of the labels, by default, with a strategy that leaves nothing to chance
_KINDS = ("table", "ris", "label-studio", "prodigy")
_HEADINGS = {
    MOST_USED: ("classes", "positive", "text", "label", "budget", "target", "screening", "journal"),
    "Which documents to label": ("strategy", "audit", "twice", "grow", "seed"),
    "Files": ("kind", "ignore", "hide_labels"),
    "The page": ("port", "browse"),
}


@click.command(cls=GroupedCommand, headings=_HEADINGS, epilog=EXAMPLES["active label"])
@click.argument("file", type=options.FILE_PATH)
@click.option("--classes", metavar="LIST", help="The classes, two or more.  [default: no,yes; of RIS files "
              "irrelevant,relevant]")  # fmt: skip
@click.option("--positive", metavar="NAME",
              help="The class that is looked for.  [default: the second of two]")  # fmt: skip
@click.option(
    "--journal", type=options.FILE_PATH, metavar="FILE",
    help="Where everything is stored; it can be continued by naming it instead of the FILE.  "
    "[default: FILE.journal]",
)  # fmt: skip
@click.option("--budget", type=click.IntRange(1), metavar="LABELS",
              help="How many labels to ask for; it can be changed later.  [default: 500]")  # fmt: skip
@click.option("--target", type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True), metavar="SHARE",
              help="When you may stop: the error to be below, or with --screening the recall to be "
              "reached.  [default: 0.05, with --screening 0.95]")  # fmt: skip
@click.option("--screening/--no-screening", default=None,
              help="Look for the positive class: recall counts, not the error.  [default: of RIS "
              "files]")  # fmt: skip
@click.option("--strategy", type=Choice(strategies.names()),
              help="How to choose the documents to ask for.  [default: margin where all columns are texts, "
              "else iwal; with --screening relevance]")  # fmt: skip
@click.option("--audit", type=float, metavar="SHARE",
              help="The share of the documents that are asked for at random and never learned; the "
              "strategies margin and relevance need it for estimates.  [default: a tenth of the labels "
              "where margin is the default, else 0.0]")  # fmt: skip
@click.option("--twice", type=click.FloatRange(0.0, 1.0), metavar="SHARE",
              help="The share of documents that two people label, to see whether they agree.  "
              "[default: 0.0]")  # fmt: skip
@click.option("--format", "kind", type=Choice(_KINDS), help="What wrote the file.  [default: detected]")
@click.option("--text", multiple=True, metavar="COLUMN", help="A column is a text to show; may be repeated.")
@click.option("--ignore", multiple=True, metavar="COLUMN",
              help="Neither show nor learn a column; may be repeated.")  # fmt: skip
@click.option("--label", metavar="COLUMN", help="The column of labels that the file has already.")
@click.option("--hide-labels", is_flag=True, help="Leave out labels that the file has, and label anew.")
@click.option("--grow", type=options.FILE_PATH, metavar="FILE", help="Add the documents of another file.")
@click.option("--port", type=click.IntRange(0, 65535), default=8766, show_default=True,
              help="The port; 0 takes a free one.")  # fmt: skip
@click.option(
    "--open/--no-open", "browse", default=True, show_default=True, help="Open the page in a browser."
)
@click.option("--seed", type=int, help="Random seed.  [default: 0]")
def command(file: Path, port: int, browse: bool, **given: Any) -> None:
    """Label the documents of a FILE in a page, until Ctrl-C.

    Each row of a table, each reference of a RIS file and each task of Label Studio or Prodigy is a document.
    The page asks for those that are worth it, says how good the model is by now and whether you may stop, and
    makes a certificate. Keys: 1, 2, 3, … answer (of two classes, n and y do, too), s skips, u undoes,
    / searches.

    Everything is in one journal file: stop whenever you like, and run the command again to go on. steelyard
    active export gives a file with all labels. See docs/labelling.md.
    """
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("uvicorn") is None:
        raise click.ClickException("the page needs Starlette and uvicorn: pip install 'steelyard[label]'")
    from steelyard.labelling.server import bind, serve
    from steelyard.labelling.session import LabellingSession

    with options.errors(), _opened(file, given) as project:
        listening = bind(port)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/{project.settings.token}/"
        project.journal.file.write_address(address)
        session = LabellingSession(project)
        labelled = len(session.labels)
        click.echo(
            f"{project.path}: {counted(project.store.count(), 'document')}, {session.feed.items:,} of them "
            f"different, {counted(labelled, 'label')} so far\n{address}\nCtrl-C stops; nothing is lost",
            err=True,
        )
        if browse:
            click.launch(address)
        serve(session, listening)
        click.echo(f"stopped with {counted(len(session.labels), 'label')} in {project.path}", err=True)


def _opened(file: Path, given: dict[str, Any]) -> "Project":
    """The project of a file: a new one, or one that is continued."""
    from steelyard.labelling.project import Project

    is_journal = file.exists() and _begins(file, b"SQLite format 3")
    path = file if is_journal else given["journal"] or Path(f"{file}.journal")
    new = not path.exists()
    if new and not file.exists():
        raise InputError(f"{file}: there is no such file")
    project = Project(path)
    try:
        if not project.begun:
            if is_journal:
                raise InputError(f"{file}: is a journal without documents; label the file of its rows")
            _begin(project, file, given)
        else:
            _check_same(project, given)
        if given["grow"] is not None:
            project.grow(_read(given["grow"], project.settings.classes, given))
        project.change(target=given["target"], twice=given["twice"])
        if given["budget"] not in (None, project.settings.budget):
            project.set_budget(given["budget"])
    except BaseException:
        empty = not project.begun and new
        project.close()
        if empty:
            path.unlink()
        raise
    return project


def _check_same(project: "Project", given: dict[str, Any]) -> None:
    """What a project was begun with stays, apart from goals: typed again, it must be the same."""
    from steelyard.labelling.project_settings import RECALL

    before, now = project.settings, given
    names = None if now["classes"] is None else ",".join(name.strip() for name in now["classes"].split(","))
    for option, wanted, then in (
        ("--classes", names, ",".join(before.classes)),
        ("--positive", now["positive"], before.positive),
        ("--strategy", now["strategy"], before.strategy),
        ("--audit", now["audit"], before.audit),
        ("--seed", now["seed"], before.seed),
    ):
        if wanted is not None and wanted != then:
            _refuse(project, f"with {option} {then}")
    screening = before.measure == RECALL
    if now["screening"] not in (None, screening):
        _refuse(project, f"with --{'' if screening else 'no-'}screening")
    if now["grow"] is None:
        _check_read_as_before(project, now)


def _check_read_as_before(project: "Project", given: dict[str, Any]) -> None:
    """Refuse options that say how to read the file: its documents are in the journal already."""
    from steelyard.active.label_store import IN_FILE
    from steelyard.io.columns import IGNORE, LABEL

    if given["kind"] not in (None, project.settings.kind):
        _refuse(project, f"with --format {project.settings.kind}")
    assert project.spec.columns is not None
    label = () if given["label"] is None else (given["label"],)
    for role, names in ((TEXT, given["text"]), (IGNORE, given["ignore"]), (LABEL, label)):
        for name in names:
            if name not in project.spec.columns.with_role(role):
                _refuse(project, f"without --{role} {name}")
    if given["hide_labels"] and any(each.annotator == IN_FILE for each in project.store.labels()):
        _refuse(project, "without --hide-labels")


def _refuse(project: "Project", begun: str) -> NoReturn:
    raise InputError(
        f"{project.path}: was begun {begun}; leave the option out, or begin another journal with --journal"
    )


def _begins(file: Path, start: bytes) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(start)) == start


def _begin(project: "Project", file: Path, given: dict[str, Any]) -> None:
    from steelyard.labelling import exchange
    from steelyard.labelling.project_settings import DEFAULT_BUDGET, ERROR, RECALL, ProjectSettings

    kind = given["kind"] or exchange.recognise(str(file))
    several = len((given["classes"] or "").split(",")) > 2
    screening = kind == "ris" and not several if given["screening"] is None else given["screening"]
    usual = ",".join(_SCREENING if screening else ("no", "yes"))
    names = tuple(name.strip() for name in (given["classes"] or usual).split(","))
    target = given["target"] or (0.95 if screening else 0.05)
    positive = given["positive"] or (None if several else names[-1])
    settings = ProjectSettings(
        names, positive, given["strategy"] or strategies.DEFAULT, given["budget"] or DEFAULT_BUDGET,
        given["audit"] or 0.0, given["twice"] or 0.0, RECALL if screening else ERROR, target,
        given["seed"] or 0,
    )  # fmt: skip
    corpus = _read(file, settings.classes, given)
    if corpus.kind == "table":
        assert corpus.spec.columns is not None
        click.echo(
            f"columns (change with --text, --label, --ignore):\n{corpus.spec.columns.describe()}", err=True
        )
    strategy = given["strategy"] or ("relevance" if screening else _best_for(corpus))
    audited = given["strategy"] is None and given["audit"] is None and strategy == "margin"
    settings = replace(settings, kind=corpus.kind, strategy=strategy)
    project.begin(corpus, settings, audited=_AUDITED if audited else None)


def _best_for(corpus: "Corpus") -> str:
    """Margin sampling for texts: far better for rare classes, little worse for others (docs/active.md)."""
    columns = corpus.spec.columns
    assert columns is not None
    return "margin" if columns.with_role(TEXT) == columns.features else strategies.DEFAULT


def _read(file: Path, classes: tuple[str, ...], given: dict[str, Any]) -> "Corpus":
    from steelyard.io.columns import ColumnOverrides
    from steelyard.labelling import corpus

    overrides = ColumnOverrides(label=given["label"], text=given["text"], ignore=given["ignore"])
    return corpus.read(
        str(file), classes=classes, kind=given["kind"], hide_labels=given["hide_labels"], overrides=overrides
    )
