"""Drive `steelyard active ask` from another program: twenty lines, in any language."""

import json
import subprocess
import sys

COMMAND = [sys.executable, "-c", "from steelyard.cli import main; main()", "active", "ask"]
MAIL = [("cheap pills, buy now", "spam"), ("lunch on friday?", "ham"), ("buy cheap watches", "spam")] * 30

with subprocess.Popen(
    [*COMMAND, "--classes", "ham,spam", "--rate", "0.2"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
) as process:  # fmt: skip
    assert process.stdin
    assert process.stdout
    status = json.loads(process.stdout.readline())  # what a journal knows already; here nothing
    for text, label in MAIL[status["seen"] :]:
        process.stdin.write(json.dumps({"example": {"text": text}}) + "\n")
        reply = json.loads(process.stdout.readline())
        if reply["ask"]:  # here a person would be asked
            process.stdin.write(json.dumps({"id": reply["id"], "label": label}) + "\n")
            status["answered"] += json.loads(process.stdout.readline())["answered"]
    process.stdin.close()
print(f"{status['answered']} labels of {len(MAIL)}; {text!r} is {reply['class']}")
