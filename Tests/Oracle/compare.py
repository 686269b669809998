"""Compares the engine with the rules in this folder, over random policies and customers.

    python3 compare.py --tool .build/debug/tenure-cli --policies 100 --customers 50 --seed 1

Every customer is decided by `tenure policy test`. A difference is printed with the policy, the customer, both answers
and the rule that decided here; the exit status is then 1. `--only N` repeats the policy with this number.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter

import casefile
import mutations
import rules
from check_rows import OUTCOMES, failures
from generator import PolicyMaker, generate
from policy import Policy
from rows import BASE, ROWS
from rules import GRANTED, UNDETERMINED
from values import instant, text


# ---------------------------------------------------------------- Files


def flow(value):
    """YAML in flow style. Nothing is the plain word that means that a field is absent."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key}: {flow(each)}" for key, each in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def null_for_removal(value):
    """In an overlay, `null` removes a key."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key}: {null_for_removal(each)}" for key, each in value.items()) + " }"
    return "null" if value is None else flow(value)


def policy_text(written):
    lines = []
    for key, value in written.items():
        if isinstance(value, list) and value:
            lines.append(f"{key}:")
            lines += [f"  - {flow(each)}" for each in value]
        elif key == "entitlements":
            lines.append(f"{key}:")
            lines += [f"  {name}: {flow(each)}" for name, each in value.items()]
        else:
            lines.append(f"{key}: {flow(value)}")
    return "\n".join(lines) + "\n"


def case_text(name, case, answers):
    lines = [f"  - name: {json.dumps(name)}"]
    for key, value in case.items():
        if key == "policy":
            lines.append(f"    policy: {null_for_removal(value)}")
        elif key == "promises":
            lines.append("    promises:")
            for promise in value:
                promise = dict(promise)
                given = dict(promise.pop("given", {}))
                overlay = given.pop("policy", None)
                inner = [f"{k}: {flow(v)}" for k, v in given.items()]
                if overlay is not None:
                    inner.append(f"policy: {null_for_removal(overlay)}")
                parts = [f"{k}: {flow(v)}" for k, v in promise.items()] + ["given: { " + ", ".join(inner) + " }"]
                lines.append("      - { " + ", ".join(parts) + " }")
        elif isinstance(value, list) and value:
            lines.append(f"    {key}:")
            lines += [f"      - {flow(each)}" for each in value]
        else:
            lines.append(f"    {key}: {flow(value)}")
    lines.append("    expect:")
    for entitlement, answer in answers.items():
        expected = {"outcome": answer.outcome}
        if answer.outcome != UNDETERMINED or answer.next_steps:
            expected["nextSteps"] = sorted(answer.next_steps)
        if answer.until is not None:
            expected["until"] = text(answer.until)
        restored = any(line.startswith("E2") for line in answer.why)
        if answer.outcome == GRANTED and answer.in_doubt == answer.has_doubt and not restored:
            expected["reasons" if answer.in_doubt else "notReasons"] = ["inDoubt"]
        lines.append(f"      {entitlement}: {flow(expected)}")
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- The engine


class PolicyRefused(Exception):
    pass


class Engine:
    def __init__(self, tool):
        self.tool = tool
        self.folder = tempfile.TemporaryDirectory(prefix="tenure-oracle-")

    def run(self, written, cases, answers):
        """What the engine answers in each case: the differences that it names, or the text of its refusal.

        A file with a mistake is refused as a whole. Then each case is tried alone.
        """
        policy = os.path.join(self.folder.name, "policy.yaml")
        file = os.path.join(self.folder.name, "cases.yaml")
        with open(policy, "w", encoding="utf-8") as out:
            out.write(policy_text(written))
        with open(file, "w", encoding="utf-8") as out:
            out.write("cases:\n")
            for place, (case, answer) in enumerate(zip(cases, answers)):
                out.write(case_text(str(place), case, answer))
        result = subprocess.run(
            [self.tool, "policy", "test", policy, file, "--json"], capture_output=True, text=True, check=False)
        if not result.stdout:
            if "policy.yaml:" in result.stderr.splitlines()[0]:
                raise PolicyRefused(result.stderr.strip())
            if len(cases) == 1:
                return [result.stderr.strip() or f"exit status {result.returncode}"]
            alone = [self.run(written, [case], [answer])[0] for case, answer in zip(cases, answers)]
            return alone
        return [case["differences"] for case in json.loads(result.stdout)["cases"]]


def differences(answers, told):
    """What the engine decides otherwise, with the rules that decided here."""
    if isinstance(told, str):
        return [f"refused: {told}"]
    found = list(told)
    for name, answer in answers.items():
        if any(line.startswith(f"{name}: ") for line in told):
            found.append(f"  the rules for {name}: {'; '.join(answer.why)}")
    return found


# ---------------------------------------------------------------- Making a difference small


# Without these, another customer would be meant.
KEPT = {"signedDate", "transactionID", "appTransactionID", "downloadID", "environment"}


def smaller(value):
    """Every value that lacks one part of this one, the largest parts first."""
    if isinstance(value, dict):
        for key in [key for key in value if key not in KEPT]:
            yield {other: each for other, each in value.items() if other != key}
        for key, each in value.items():
            for less in smaller(each):
                yield {**value, key: less}
    elif isinstance(value, list):
        for place in range(len(value)):
            yield value[:place] + value[place + 1:]
        for place, each in enumerate(value):
            for less in smaller(each):
                yield value[:place] + [less] + value[place + 1:]


def differs(engine, answers_of, written, case):
    """Whether the two still answer differently, both without a mistake."""
    try:
        if not PolicyMaker.is_sound(written):
            return False
        answers = answers_of(written, case)
        told = engine.run(written, [case], [answers])[0]
    except Exception:  # Whatever became unreadable is no smaller form of the difference.
        return False
    return not isinstance(told, str) and bool(differences(answers, told))


def shrunk(engine, answers_of, written, case, attempts):
    """A smaller policy and customer with a difference."""
    progress = True
    while progress and attempts > 0:
        progress = False
        for candidate in smaller(case):
            attempts -= 1
            if attempts <= 0:
                break
            if differs(engine, answers_of, written, candidate):
                case, progress = candidate, True
                break
        if progress:
            continue
        for candidate in smaller(written):
            attempts -= 1
            if attempts <= 0:
                break
            if differs(engine, answers_of, candidate, case):
                written, progress = candidate, True
                break
    return written, case


# ---------------------------------------------------------------- Policies with mistakes, and the examples of the text


def is_refused(engine, written, missing):
    """Whether the engine refuses a policy, and names every fact that is missing."""
    try:
        engine.run(written, [{"now": "2015-01-01"}], [{}])
    except PolicyRefused as refusal:
        return all(name in str(refusal) for name in missing)
    return False


def show_rows(engine):
    """Prints what the engine decides otherwise than the examples; their number."""
    found = 0
    expected = []
    for _, case, answers in ROWS:
        parsed = {}
        for name, wanted in answers.items():
            outcome, *details = wanted.split()
            answer = rules.Answer(OUTCOMES[outcome[0]], has_doubt=outcome != "G!", in_doubt=outcome == "G?")
            if outcome[0] == "G":
                answer.until = instant(details[0]) if details else None
            elif details:
                answer.next_steps = set(details)
            parsed[name] = answer
        expected.append(parsed)
    for (number, _, _), told in zip(ROWS, engine.run(BASE, [case for _, case, _ in ROWS], expected)):
        if told:
            found += 1
            print(f"row {number}: {told if isinstance(told, str) else '; '.join(told)}")
    return found


# ---------------------------------------------------------------- The command


def main():
    parser = argparse.ArgumentParser(description="Compares the engine with the rules as the text says them.")
    parser.add_argument("--tool", default=".build/debug/tenure-cli")
    parser.add_argument("--policies", type=int, default=50)
    parser.add_argument("--customers", type=int, default=40, help="customers of each policy")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, help="the number of one policy")
    parser.add_argument("--show", type=int, default=5, help="how many differences are printed in full")
    parser.add_argument("--shrink", type=int, default=300, help="attempts to make a difference smaller; 0: none")
    parser.add_argument("--break-rule", help="one of mutations.py: the comparison must then fail")
    options = parser.parse_args()

    wrong = list(failures())
    if wrong:
        print("These rules don't follow the examples of the text:", *wrong, sep="\n")
        return 2
    modules = mutations.broken_rule(options.break_rule) if options.break_rule else (casefile, rules)

    def answers_of(written, case):
        cases, decisions = modules
        return decisions.decide(*cases.policy_and_customer(written, case))

    engine = Engine(options.tool)
    shown = policies = customers = found = refused = mistaken = 0
    outcomes = Counter()
    if options.only is None:
        found += show_rows(engine)
    for number, written, cases in generate(options.seed, options.policies, options.customers):
        if options.only is not None and number != options.only:
            continue
        policies += 1
        missing = Policy(written).mistakes
        if missing:
            mistaken += 1
            if not is_refused(engine, written, missing):
                found += 1
                print(f"\n---- policy {number} (--seed {options.seed} --only {number})")
                print(f"{policy_text(written)}\nnot refused, though it doesn't state {', '.join(sorted(missing))}")
            continue
        answers = [answers_of(written, case) for case in cases]
        count = len(cases)
        # Artifacts in another order give the same.
        shuffle = random.Random(f"{options.seed}/{number}/order").sample
        for case, answer in list(zip(cases, answers)):
            again = casefile.reordered(case, lambda artifacts: shuffle(artifacts, len(artifacts)))
            if again is None:
                continue
            cases.append(again)
            answers.append(answer)
            if answers_of(written, again) != answer:
                found += 1
                print(f"\n---- policy {number}: these rules depend on the order of the artifacts\n"
                      f"{policy_text(written)}{case_text('customer', again, answer)}")
        try:
            all_told = engine.run(written, cases, answers)
        except PolicyRefused as refusal:
            found += 1
            refused += 1
            print(f"\n---- policy {number} (--seed {options.seed} --only {number})")
            print(f"{policy_text(written)}\nrefused: {refusal}")
            continue
        for place, told in enumerate(all_told):
            if place < count:
                customers += 1
                outcomes.update(answer.outcome for answer in answers[place].values())
            different = differences(answers[place], told)
            if not different:
                continue
            found += 1
            refused += isinstance(told, str)
            shown += 1
            if shown > options.show:
                continue
            print(f"\n---- policy {number}, customer {place} (--seed {options.seed} --only {number})")
            small = written, cases[place]
            if options.shrink and not isinstance(told, str):
                small = shrunk(engine, answers_of, *small, options.shrink)
                answers_now = answers_of(*small)
                different = differences(answers_now, engine.run(small[0], [small[1]], [answers_now])[0])
            print(policy_text(small[0]) + case_text("customer", small[1], answers_of(*small)))
            print("\n".join(different), flush=True)
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{policies} policies, {customers} customers ({told}): {found} differences; "
          f"{mistaken} policies don't state what they must" + (f"; {refused} refused" if refused else ""))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
