"""Shows that the random customers reach the rules: each rule is broken on purpose, and some customer must notice.

    python3 mutations.py --policies 60 --customers 40
"""
import argparse
import os
import sys
import types

import casefile
import policy
import rules
import values
from generator import generate

# The rule, the file, what it says, and what it says when it is broken.
MUTATIONS = [
    ("Acquisitions 1: IDs of one kind", "rules", "distance <= TOLERANCE and can_be_one(one, other):\n                    pairs", "distance <= TOLERANCE:\n                    pairs"),
    ("Acquisitions 1: nearest", "rules", "min(pairs, key=lambda pair: pair[0])", "max(pairs, key=lambda pair: pair[0])"),
    ("Acquisitions 2: earliest-signed", "rules", "in sorted(self.artifacts, key=lambda artifact: artifact.order)", "in sorted(self.artifacts, key=lambda artifact: -artifact.signed)"),
    ("A2: iPadOS", "casefile", 'platform = "iOS" if platform == "iPadOS" else platform', "platform = platform"),
    ("A4: missing components", "values", "while components and components[-1] == 0:", "while False:"),
    ("A5: a day in any time zone", "policy", "self.day - 14 * HOUR, self.day + DAY + 12 * HOUR", "self.day, self.day + DAY"),
    ("A5: releases of one day", "policy", "return (x.day, x.place) < (y.day, y.place)", "return x.day < y.day"),
    ("A5: two days", "policy", "return (x.day, x.place) < (y.day, y.place)", "return False"),
    ("A5: a boundary's version", "policy", "release.boundary = next(iter(instants), None)", "pass"),
    ("A5: first listed date", "policy", "                if listed:\n", "                if False:\n"),
    ("A5: undated neighbors", "policy", "ends = [other for other in dated if other.place > release.place][:1]", "ends = []"),
    ("A6: the same version", "rules", "boundary.version is None or boundary.version in begun or app_version", "boundary.version is None or app_version"),
    ("A6: increasing", "rules", "if not timeline.has_increasing_versions:", "if False:"),
    ("A7: new", "policy", "if begin.is_new or early:", "if early:"),
    ("A7: an era that skips a platform", "policy", "continue  # A7: it didn't happen there, the era before it went on.", "self.eras.append(era.index)"),
    ("A8: inherited boundaries", "policy", 'era.begins.get("iOS") if own is None and platform in OPENINGS else None', "None"),
    ("A8: before the opening", "policy", "begin.at <= OPENINGS[platform]\n", "False\n"),
    ("A8: inherited list", "policy", "if not rows and self.platform in OPENINGS:", "if False:"),
    ("A9", "rules", "if opening is not None and date is not None and date < opening - TOLERANCE:", "if False:"),
    ("B: tolerance", "rules", "return boundary.at is None or date >= boundary.at - TOLERANCE", "return boundary.at is None or date >= boundary.at"),
    ("C1: early date", "rules", "eras, rule = by_date, \"C1: date before version\"", "eras, rule = by_date | by_version, \"\""),
    ("C1: contradiction", "rules", "eras, rule = by_date, \"C1: contradiction\"", "eras, rule = by_date | by_version, \"\""),
    ("C1: authority yields", "rules", "and any(status != NO for status in statuses_of(by_date))", "and False"),
    ("C2: inherited", "rules", "        if timeline.inherits:\n            return False\n", ""),
    ("C2: listed in one era", "rules", "return listed_once or timeline.has_increasing_versions", "return timeline.has_increasing_versions"),
    ("C3: a window removes nothing", "rules", "eras | added | by_date", "added"),
    ("C3: eras of the date", "rules", "eras | added | by_date", "eras | added"),
    ("C3: inclusive with tolerance", "rules", "<= date <= boundary.window[1] + TOLERANCE", "<= date < boundary.window[1]"),
    ("D1: nothing to compare", "rules", "if not self.allowed_comparison:", "if False:"),
    ("D2: no date", "rules", "            return UNCLEAR, None\n        if honor.since", "            return NO, None\n        if honor.since"),
    ("D3: no next era", "rules", "    if not has_next:\n", "    if False:\n"),
    ("D3: no instant", "rules", "return False, honor.until", "return True, honor.until"),
    ("D3: judged by platform", "rules", "[t for t in self.timelines if era in alone[t.platform]] or self.timelines", "self.timelines"),
    ("D4: what has ended", "rules", "return NO, None  # D4", "return YES, end  # D4"),
    ("D4: the latest end", "rules", "        if self.policy.favors_customer:\n            return latest(*ends)\n", ""),
    ("D5: boughtSince", "policy", 'written.get("boughtSince"), -14', 'written.get("boughtSince"), 0'),
    ("D5: boughtBefore", "policy", 'written.get("boughtBefore"), 12', 'written.get("boughtBefore"), 0'),
    ("D5: until", "policy", "_limit(until, 36)", "_limit(until, 0)"),
    ("E1: one instant", "rules", "artifact.signed > last.signed and", "artifact.signed >= last.signed and"),
    ("E2: not before the refund", "rules", " and artifact.signed >= last.revocation", ""),
    ("E2: windows", "rules", "for era in date_eras(timeline, signed)[0] | window_eras(timeline, signed)", "for era in date_eras(timeline, signed)[0]"),
    ("E2: on sale meanwhile", "rules", "and (before is None or after < before)", "and True"),
    ("E3: no longer than now", "rules", 'answer if end is None else self.until(answer, end, "E2: its end")', "answer"),
    ("E3: ended by now", "rules", "if is_over(honor_end(honor, timeline, era)[1], self.now):", "if False:"),
    ("E4: the latest-signed receipt", "rules", "max(receipts, key=lambda receipt: (", "min(receipts, key=lambda receipt: ("),
    ("F1: latest-signed form", "rules", 'transaction["signedDate"] > known["signedDate"]', 'transaction["signedDate"] < known["signedDate"]'),
    ("F1: grace", "rules", "end = latest(expires, grace) if grace is not None else expires", "end = expires"),
    ("F2", "rules", "end = after_period(purchased, product_length)", "end = None"),
    ("F4: no products", "rules", "customer.purchases_complete or not has_products", "customer.purchases_complete"),
    ("G1: at the instant of its end", "rules", "return end is not None and end <= now", "return end is not None and end < now"),
    ("G2: missing or malformed", "rules", "if self.version is None or self.date is None:\n            return", "if False:\n            return"),
    ("G2: several platforms", "rules", "if len(self.timelines) > 1:", "if False:"),
    ("G3: latest action", "rules", 'max(actions, key=lambda action: action["date"]', 'min(actions, key=lambda action: action["date"]'),
    ("H3: rule E", "rules", "    if not same:\n        return right\n", "    return right\n"),
    ("H5", "rules", '    if customer.environment == "Production":  # H5', "    if True:  # H5"),
    ("I2: owner", "rules", "oldest = min(", "oldest = max("),
    ("I3", "casefile", 'environment = "Production" if "Production" in environments else own', "environment = own"),
    ("I4: persona", "rules", "if customer.persona is not None and (customer.artifacts or customer.transactions):", "if False:"),
    ("Calendar", "values", "min(start.day, last)", "min(start.day, 28)"),
]

NAMES = ("values", "policy", "rules", "casefile")


def source(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py"), encoding="utf-8") as file:
        return file.read()


def broken(file, old, new):
    """The modules with one rule broken."""
    kept = {name: sys.modules[name] for name in NAMES}
    try:
        for name in NAMES:
            text = source(name)
            if name == file:
                if text.count(old) != 1:
                    raise SystemExit(f"`{old}` isn't once in {file}.py; correct the table of mutations")
                text = text.replace(old, new)
            module = types.ModuleType(name)
            sys.modules[name] = module
            exec(compile(text, f"{name}.py", "exec"), module.__dict__)
        return sys.modules["casefile"], sys.modules["rules"]
    finally:
        sys.modules.update(kept)


def broken_rule(name):
    """The modules with the rule of this name broken."""
    found = [mutation for mutation in MUTATIONS if mutation[0] == name]
    if not found:
        raise SystemExit(f"no rule `{name}`; write one of: {', '.join(mutation[0] for mutation in MUTATIONS)}")
    return broken(*found[0][1:])


def answers(case_module, rule_module, written, case):
    """What a customer gets; an error is an answer too, for a broken rule."""
    try:
        decided = rule_module.decide(*case_module.policy_and_customer(written, case))
    except Exception as error:
        return type(error).__name__
    return {name: (answer.outcome, answer.until, frozenset(answer.next_steps)) for name, answer in decided.items()}


def main():
    parser = argparse.ArgumentParser(description="Breaks each rule and counts the customers who notice.")
    parser.add_argument("--policies", type=int, default=60)
    parser.add_argument("--customers", type=int, default=40)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    customers = [
        (written, case)
        for _, written, cases in generate(options.seed, options.policies, options.customers) for case in cases]
    right = [answers(casefile, rules, written, case) for written, case in customers]
    unnoticed = []
    for name, file, old, new in MUTATIONS:
        modules = broken(file, old, new)
        noticed = sum(
            answers(*modules, written, case) != expected for (written, case), expected in zip(customers, right))
        print(f"{noticed:6}  {name}", flush=True)
        if not noticed:
            unnoticed.append(name)
    print(f"{len(customers)} customers, {len(MUTATIONS)} broken rules"
          + (f"; unnoticed: {', '.join(unnoticed)}" if unnoticed else ""))
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
