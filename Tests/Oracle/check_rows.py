"""Checks the rules against the rows of the text."""
import sys

from casefile import policy_and_customer, reordered
from rows import BASE, ROWS
from rules import DENIED, GRANTED, UNDETERMINED, decide
from values import instant, text

OUTCOMES = {"G": GRANTED, "D": DENIED, "U": UNDETERMINED}


def difference(expected, answer):
    """What is wrong with an answer, or nothing."""
    outcome, *details = expected.split()
    if OUTCOMES[outcome[0]] != answer.outcome:
        return "another outcome"
    if outcome == "G?" and not answer.in_doubt or outcome == "G!" and answer.in_doubt:
        return "another doubt"
    if outcome[0] == "G" and answer.until != (instant(details[0]) if details else None):
        return f"another end: {text(answer.until)}"
    if outcome[0] == "U" and details and set(details) != answer.next_steps:
        return f"other next steps: {sorted(answer.next_steps)}"
    return None


def failures():
    for number, case, expected in ROWS:
        # Row 78: artifacts in another order give the same.
        for each in filter(None, (case, reordered(case))):
            answers = decide(*policy_and_customer(BASE, each))
            for name, wanted in expected.items():
                problem = difference(wanted, answers[name])
                if problem is not None:
                    answer = answers[name]
                    yield f"row {number}: {name}: expected {wanted}, got {answer.outcome}: {problem}; {answer.why}"


if __name__ == "__main__":
    found = list(failures())
    print("\n".join(found))
    print(f"{len(ROWS)} rows, {len(found)} differences")
    sys.exit(1 if found else 0)
