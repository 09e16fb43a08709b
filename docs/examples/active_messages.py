"""Ask for the labels of text messages until the error is surely below 20 %; go on if it was killed."""

import csv
import lzma
import sys

from sklearn.feature_extraction.text import HashingVectorizer

from steelyard import ActiveClassifier
from steelyard.active.stopping import ErrorBelow

with lzma.open(sys.argv[1], "rt", encoding="utf-8") as file:  # sms-spam.tsv.xz: a label and a text
    header, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
labels = ["spam" if label == "1" else "ham" for label, _ in rows]  # known here; elsewhere people know them
X = HashingVectorizer(alternate_sign=False, norm=None).transform(text for _, text in rows)

rule = ErrorBelow(0.2)
classifier = ActiveClassifier(classes=["ham", "spam"], budget=500, journal=sys.argv[2]).pool(X)
for late in classifier.waiting():  # asked before the process was killed, and not answered
    classifier.answer(late.id, labels[late.row])
while (question := classifier.ask_next(stop=rule)) is not None:
    classifier.answer(question.id, labels[question.row])

print(classifier.should_stop(rule).why)
print(classifier.estimate("error"))
print(classifier.estimate("recall", of="pool"))
print(f"in truth {1.0 - classifier.score(X, labels):.3f} of all messages are taken wrongly")
classifier.close()
