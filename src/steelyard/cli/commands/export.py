"""`steelyard export`: a model for programs that have no steelyard."""

from pathlib import Path

import click

from steelyard.cli import options
from steelyard.cli.help_examples import EXAMPLES


@click.command(epilog=EXAMPLES["export"])
@options.MODEL
@click.option(
    "-o", "--output", type=options.FILE_PATH, metavar="FILE", required=True,
    help="Where to write it: .json, .onnx, or .js for the scorer.",
)  # fmt: skip
@click.option("--names/--no-names", default=True, show_default=True, help="Also write the names of features.")
@options.OWN_LOSS
@options.FORCE
def command(model: Path, output: Path, *, names: bool, loss: str | None, force: bool) -> None:
    """Write a model for programs without steelyard: JSON, JavaScript, ONNX.

    A .json file has the coefficients, by index and by name, and how rows become features. It is read by
    steelyard.predictor, which needs only NumPy, and by the scorer in JavaScript, which is written if FILE
    ends in .js. A .onnx file is for models whose features are columns of numbers.
    """
    from steelyard import exporting
    from steelyard.cli import scoring
    from steelyard.cli.common import check_outputs

    with options.errors():
        kinds = (".json", ".js", ".onnx")
        if output.suffix.lower() not in kinds:
            raise click.BadParameter(
                f"{output}: its name must end in {', '.join(kinds)}", param_hint="--output"
            )
        check_outputs([output], [model], force=force)
        loaded = scoring.load_learned(model, loss)
        if output.suffix.lower() == ".json":
            exporting.write_json(output, loaded, names=names)
        elif output.suffix.lower() == ".onnx":
            exporting.write_onnx(output, loaded)
        else:
            exporting.write_scorer(output)
            click.echo(
                f"{output}: scores any model that is exported as .json, and holds none itself: "
                f"steelyard export {model} -o {model.stem}.json",
                err=True,
            )
