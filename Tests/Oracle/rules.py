"""The rules of a decision, read from the text alone. The letters and numbers are those of the rules."""
import math
from dataclasses import dataclass, field, replace

from policy import OPENINGS, Policy
from values import SECOND, after_period, earliest, instant, latest, version

TOLERANCE = 2 * SECOND

GRANTED, DENIED, UNDETERMINED = "granted", "denied", "undetermined"
# What one source says. (A source never denies.)
NOTHING = "nothing"


@dataclass
class Answer:
    """What one source gives, or the whole decision."""

    outcome: str
    until: int | None = None
    next_steps: set = field(default_factory=set)
    # The rules that decided, to explain a difference.
    why: list = field(default_factory=list)
    # Whether everything, or anything, that gives it does so in doubt.
    in_doubt: bool = False
    has_doubt: bool = False


def granted(until, *why, in_doubt=False):
    return Answer(GRANTED, until, why=list(why), in_doubt=in_doubt, has_doubt=in_doubt)


def undetermined(next_steps, *why):
    return Answer(UNDETERMINED, next_steps=set(next_steps), why=list(why))


def nothing(*why):
    return Answer(NOTHING, why=list(why))


def best(answers):
    """G1. Sources combine by OR; the latest end counts."""
    why = [line for answer in answers for line in answer.why]
    gives = [answer for answer in answers if answer.outcome == GRANTED]
    if gives:
        return Answer(GRANTED, latest(*(answer.until for answer in gives)), why=why,
                      in_doubt=all(answer.in_doubt for answer in gives),
                      has_doubt=any(answer.has_doubt for answer in gives))
    open_ones = [answer for answer in answers if answer.outcome == UNDETERMINED]
    if open_ones:
        return Answer(UNDETERMINED, next_steps=set().union(*(answer.next_steps for answer in open_ones)), why=why)
    return Answer(NOTHING, why=why)


def is_over(end, now):
    """G1. At the instant of its end a right no longer holds."""
    return end is not None and end <= now


# ---------------------------------------------------------------- Acquisitions


@dataclass
class Artifact:
    """What one artifact says about the app."""

    kind: str
    signed: int
    id: tuple | None
    platform: str | None
    version: str | None
    date: int | None
    revocation: int | None
    expiration: int | None

    @property
    def is_app_transaction(self):
        return self.kind == "appTransaction"

    @property
    def order(self):
        """By signing. Of artifacts signed at one instant, the content decides, so that their order doesn't matter."""
        return self.signed, math.inf if self.date is None else self.date, tuple(
            str(value or "")
            for value in (self.kind, self.id, self.platform, self.version, self.revocation, self.expiration))


@dataclass
class Acquisition:
    artifacts: list

    @property
    def ids(self):
        return {artifact.id for artifact in self.artifacts if artifact.id is not None}

    def first(self, read):
        """Acquisitions 2. A field comes from the earliest-signed artifact in which it can be read."""
        for artifact in sorted(self.artifacts, key=lambda artifact: artifact.order):
            value = read(artifact)
            if value is not None:
                return value
        return None

    @property
    def date(self):
        return self.first(lambda artifact: artifact.date)

    @property
    def version(self):
        return self.first(lambda artifact: version(artifact.version))

    @property
    def platform(self):
        """A2, A9. The signed platform. One that the purchase date contradicts counts as absent."""
        date = self.date

        def read(artifact):
            opening = OPENINGS.get(artifact.platform)
            if opening is not None and date is not None and date < opening - TOLERANCE:
                return None
            return artifact.platform

        return self.first(read)

    def timelines(self, policy):
        """A3. The possible platforms. Without any in the policy, nothing is excluded."""
        if self.platform is not None:
            return [policy.timeline(self.platform)]
        return [policy.timeline(platform) for platform in policy.platforms] or [policy.timeline("iOS")]


def date_distance(one, other):
    """How far the nearest purchase dates of two acquisitions are apart."""
    distances = [
        abs(first.date - second.date)
        for first in one.artifacts for second in other.artifacts
        if first.date is not None and second.date is not None
    ]
    return min(distances) if distances else None


def can_be_one(one, other):
    """Acquisitions 1. Unless they carry different IDs of one kind."""
    return all(first == second for first in one.ids for second in other.ids if first[0] == second[0])


def acquisitions(artifacts):
    """Acquisitions 1."""
    groups = []
    for artifact in sorted(artifacts, key=lambda artifact: artifact.order):
        same = next((group for group in groups if artifact.id is not None and artifact.id in group.ids), None)
        if same is not None:
            same.artifacts.append(artifact)
        else:
            groups.append(Acquisition([artifact]))
    while True:
        pairs = []
        for index, one in enumerate(groups):
            for other in groups[index + 1:]:
                distance = date_distance(one, other)
                if distance is not None and distance <= TOLERANCE and can_be_one(one, other):
                    pairs.append((distance, one, other))
        if not pairs:
            return groups
        # Of several matches, the nearest.
        _, one, other = min(pairs, key=lambda pair: pair[0])
        one.artifacts += other.artifacts
        groups.remove(other)


# ---------------------------------------------------------------- A and B: the proofs on one platform


def version_eras(timeline, app_version):
    """A. The eras in which the version can have been acquired, and whether it allowed a comparison."""
    everything = set(timeline.eras), False
    if app_version is None:
        return everything  # A4
    if timeline.list is not None:  # A5
        rows = [release for release in timeline.releases if release.version == app_version]
        if not rows or not timeline.list.starts:
            return everything
        return set().union(*(timeline.list.eras(row) for row in rows)), True
    if not timeline.has_increasing_versions:
        return everything  # A6
    versions = [boundary.version for boundary in timeline.boundaries if boundary.version is not None]
    if not versions:
        return everything  # A6

    def is_at_or_after(boundary):
        return boundary.version is None or app_version >= boundary.version

    def is_possible(era):
        begun = [boundary.version for boundary in timeline.boundaries if boundary.after <= era]

        def is_before(boundary):
            # Two boundaries with the same version can't separate their eras.
            return boundary.version is None or boundary.version in begun or app_version < boundary.version

        return timeline.separates(era, is_at_or_after, is_before)

    return {era for era in timeline.eras if is_possible(era)}, True


def date_eras(timeline, date):
    """B. The eras that contain the purchase date, and whether it allowed a comparison."""
    if date is None or all(boundary.at is None for boundary in timeline.boundaries):
        return set(timeline.eras), False

    def is_at_or_after(boundary):
        return boundary.at is None or date >= boundary.at - TOLERANCE

    def is_before(boundary):
        return boundary.at is None or date <= boundary.at + TOLERANCE

    return {era for era in timeline.eras if timeline.separates(era, is_at_or_after, is_before)}, True


def window_eras(timeline, date):
    """C3. The two eras of each change with a window that contains the date."""
    if date is None:
        return set()
    return {
        era
        for boundary in timeline.boundaries
        if boundary.window is not None
        and boundary.window[0] - TOLERANCE <= date <= boundary.window[1] + TOLERANCE
        for era in (boundary.before, boundary.after)
    }


def is_authoritative(timelines, app_version):
    """C2."""
    def holds(timeline):
        if timeline.inherits:
            return False
        rows = [release for release in timeline.releases if release.version == app_version]
        listed_once = bool(rows) and len(version_eras(timeline, app_version)[0]) == 1
        return listed_once or timeline.has_increasing_versions

    return all(holds(timeline) for timeline in timelines)


# ---------------------------------------------------------------- D: eras as a source

YES, NO, UNCLEAR = "honored", "not honored", "unclear"


def honor_end(honor, timeline, era):
    """D3. Whether the end is known, and the end."""
    if honor.length is None:
        return True, honor.until
    has_next, begin = timeline.next_beginning(era)
    if not has_next:
        return True, honor.until
    if begin is None:
        return False, honor.until
    return True, earliest(after_period(begin, honor.length), honor.until)


def honor_status(honor, timeline, era, date, now):
    """D2 to D5. What one honor gives to a purchase on the date: a status and an end."""
    is_known, end = honor_end(honor, timeline, era)
    if is_over(end, now):
        return NO, None  # D4. What has ended honors nothing.
    if honor.since is not None or honor.before is not None:
        if date is None:
            return UNCLEAR, None
        if honor.since is not None and date < honor.since - TOLERANCE:
            return NO, None
        if honor.before is not None and date > honor.before + TOLERANCE:
            return NO, None
    return (YES, end) if is_known else (UNCLEAR, None)


@dataclass
class EraQuestion:
    """Whether the eras of one acquisition give one entitlement."""

    policy: Policy
    entitlement: object
    acquisition: Acquisition
    now: int

    def __post_init__(self):
        self.timelines = self.acquisition.timelines(self.policy)
        self.version = self.acquisition.version
        self.date = self.acquisition.date

    def status(self, timeline, era, date):
        """D4. Of several honors of one era the best counts, a certain one before an unclear one."""
        results = [
            honor_status(honor, timeline, era, date, self.now)
            for honor in self.entitlement.honors if self.policy.era(honor.era) == era
        ]
        ends = [end for status, end in results if status == YES]
        if ends:
            return YES, latest(*ends)
        return (UNCLEAR if any(status == UNCLEAR for status, _ in results) else NO), None

    # C

    def possible_eras(self, timelines, statuses_of):
        """C. The possible eras on some platforms together, and the rule. `statuses_of` gives the statuses of eras (D)."""
        by_version = set().union(*(version_eras(timeline, self.version)[0] for timeline in timelines))
        by_date = set().union(*(date_eras(timeline, self.date)[0] for timeline in timelines))
        eras, rule = by_version & by_date, "C1: both proofs"
        if not eras:
            if max(by_date) < min(by_version):
                eras, rule = by_date, "C1: date before version"
            elif max(by_version) < min(by_date):
                if not is_authoritative(timelines, self.version):
                    eras, rule = by_version | by_date, "C1: version not authoritative"
                elif (
                    self.policy.favors_customer
                    and all(status == NO for status in statuses_of(by_version))
                    and any(status != NO for status in statuses_of(by_date))
                ):
                    eras, rule = by_version | by_date, "C1: authority yields"
                else:
                    eras, rule = by_version, "C1: version authoritative"
            else:
                eras, rule = by_date, "C1: contradiction"
        added = set().union(*(window_eras(timeline, self.date) for timeline in timelines))
        if added:
            eras, rule = eras | added | by_date, rule + ", C3: changeover"
        return eras, rule

    def statuses(self):
        """D1, D3. Each possible era on each platform on which rule C alone leaves it possible: status and end."""
        alone = {}
        for timeline in self.timelines:
            def statuses_here(eras, timeline=timeline):
                return [self.status(timeline, era, self.date)[0] for era in eras]
            alone[timeline.platform], _ = self.possible_eras([timeline], statuses_here)

        def judged_on(era):
            return [t for t in self.timelines if era in alone[t.platform]] or self.timelines

        def statuses_of(eras):
            return [self.status(timeline, era, self.date)[0] for era in eras for timeline in judged_on(era)]

        eras, rule = self.possible_eras(self.timelines, statuses_of)
        names = ", ".join(self.policy.eras[era].name for era in sorted(eras))
        return [
            self.status(timeline, era, self.date) for era in sorted(eras) for timeline in judged_on(era)
        ], f"{rule}: {names}"

    @property
    def allowed_comparison(self):
        """D1. A usable version with a boundary, or a date with an instant, on a possible platform."""
        return any(
            version_eras(timeline, self.version)[1] or date_eras(timeline, self.date)[1]
            for timeline in self.timelines)

    @property
    def next_steps(self):
        """G2, for an era that isn't known."""
        if self.version is None or self.date is None:
            return {"appTransaction", "refreshedReceipt"}
        if len(self.timelines) > 1:
            return {"appTransaction", "support"}
        return {"support"}

    def common_end(self, ends):
        """D4. If eras or platforms give different ends."""
        if self.policy.favors_customer:
            return latest(*ends)
        return earliest(*ends)

    def before_refunds(self):
        """D1."""
        statuses, rule = self.statuses()
        ends = [end for status, end in statuses if status == YES]
        is_unclear = any(status == UNCLEAR for status, _ in statuses)
        if len(ends) == len(statuses):
            return granted(self.common_end(ends), rule, "D1: all honor it")
        if not ends and not is_unclear:
            return nothing(rule, "D1: none honors it")
        if not ends:
            return undetermined(self.next_steps, rule, "D1: unclear")
        if not self.allowed_comparison:
            return undetermined(self.next_steps, rule, "D1: nothing to compare")
        if self.policy.favors_customer:
            return granted(self.common_end(ends), rule, "D1: in doubt", in_doubt=True)
        return undetermined(self.next_steps, rule, "D1: in doubt")

    def answer(self):
        return self.after_refunds(self.before_refunds())

    # E

    def after_refunds(self, answer):
        """E. A right that an era gives (or promised), after refunds and the end of a license."""
        if answer.outcome == NOTHING:
            return answer
        artifacts = self.acquisition.artifacts
        receipts = [artifact for artifact in artifacts if artifact.kind == "receipt"]
        if receipts:  # E4
            # Of two signed at one instant, the one that ends later counts.
            end = max(receipts, key=lambda receipt: (receipt.signed, receipt.expiration or math.inf)).expiration
            if end is not None:
                answer = self.until(answer, end, "E4: license ended")
        revoked = [
            artifact for artifact in artifacts if artifact.is_app_transaction and artifact.revocation is not None]
        if answer.outcome == NOTHING or not revoked:
            return answer
        last = max(revoked, key=lambda artifact: (artifact.signed, artifact.revocation))
        ended = self.until(answer, last.revocation, "E1: refunded")
        # E2. Of two signed at one instant, the revoked one is later (E1).
        later = [
            artifact.signed for artifact in artifacts
            if artifact.is_app_transaction and artifact.revocation is None
            and artifact.signed > last.signed and artifact.signed >= last.revocation
        ]
        certain = [restored for restored in (self.restored(answer, signed) for signed in later) if restored is not None]
        if certain:
            return best(certain + [ended])
        if any(self.is_perhaps_restored(last.signed, signed) for signed in later):
            return best([ended, undetermined({"support"}, *answer.why, "E2: perhaps bought again")])
        return ended

    def until(self, answer, end, why):
        if is_over(end, self.now):
            return nothing(*answer.why, why)
        if answer.outcome == UNDETERMINED:
            return answer
        return granted(earliest(answer.until, end), *answer.why, why, in_doubt=answer.in_doubt)

    def restored(self, answer, signed):
        """E2, E3. What an app transaction signed at this instant restores for certain; nothing if it isn't certain."""
        statuses = [
            self.status(timeline, era, signed)
            for timeline in self.timelines
            for era in date_eras(timeline, signed)[0] | window_eras(timeline, signed)
        ]
        if any(status != YES for status, _ in statuses):
            return None
        end = self.common_end([end for _, end in statuses])
        result = answer if end is None else self.until(answer, end, "E2: its end")
        return replace(result, why=result.why + ["E2: bought again"])

    def is_perhaps_restored(self, revoked, signed):
        """E2, E3. Whether an honored era was on sale between two signatures."""
        return any(
            self.was_on_sale(timeline, era, honor, revoked, signed)
            for timeline in self.timelines for era in timeline.eras
            for honor in self.entitlement.honors if self.policy.era(honor.era) == era)

    def was_on_sale(self, timeline, era, honor, after, up_to):
        """E2, E3. Whether a purchase in the era, to which the honor's dates apply, was possible in a time."""
        if is_over(honor_end(honor, timeline, era)[1], self.now):
            return False
        begins = [b.at for b in timeline.boundaries if b.after <= era and b.at is not None]
        ends = [b.at for b in timeline.boundaries if b.after > era and b.at is not None]
        since = max(begins + [honor.since] if honor.since is not None else begins, default=None)
        before = earliest(*ends, honor.before)
        # An instant t with: after < t <= up_to, since <= t < before.
        return (since is None or since <= up_to) and (before is None or after < before) \
            and (since is None or before is None or since < before)


# ---------------------------------------------------------------- I: test environments


def test_environment_answer(policy, entitlement):
    """I2. What eras give in a test environment."""
    if policy.test_environments == "newCustomer":
        return nothing("I2: new customer")
    if policy.test_environments == "undetermined":
        return undetermined({"support"}, "I2: undetermined")
    if not entitlement.honors:
        return nothing("I2: owner, no era honored")
    oldest = min(policy.era(honor.era) for honor in entitlement.honors)
    if any(not honor.has_limits for honor in entitlement.honors if policy.era(honor.era) == oldest):
        return granted(None, "I2: owner")
    return undetermined({"support"}, "I2: owner, the honor has limits")


# ---------------------------------------------------------------- F: products as a source


def product_answer(product_length, transaction, grace, now):
    """F1 to F3. What one transaction gives."""
    kind = transaction["type"]
    expires = transaction.get("expiresDate")
    if kind == "consumable":
        return nothing("F1: consumable")
    if transaction.get("revocationDate") is not None:
        return nothing("F1: refunded")
    if transaction.get("isUpgraded"):
        return nothing("F1: upgraded")
    if kind == "nonConsumable":
        return granted(None, "F1: non-consumable")
    if kind == "autoRenewable":
        if expires is None:
            return undetermined({"support"}, "F3: subscription without expiration date")
        end = latest(expires, grace) if grace is not None else expires
        return nothing("F1: expired") if is_over(end, now) else granted(end, "F1: subscription")
    # An old receipt doesn't name the type.
    if kind == "nonRenewing" or kind is None and product_length is not None:
        purchased = transaction.get("purchaseDate")
        if product_length is None or purchased is None:
            return undetermined({"support"}, "F3: end unknown")
        end = after_period(purchased, product_length)
        return nothing("F2: over") if is_over(end, now) else granted(end, "F2: non-renewing")
    return undetermined({"support"}, "F3: unknown type")


def product_answers(entitlement, transactions, renewals, now):
    """F1. The latest-signed form of a transaction counts, and the latest-signed renewal info of a subscription."""
    by_id = {}
    for transaction in sorted(transactions, key=repr):
        known = by_id.get(transaction["transactionID"])
        if known is None or transaction["signedDate"] > known["signedDate"]:
            by_id[transaction["transactionID"]] = transaction
    by_subscription = {}
    for renewal in sorted(renewals, key=repr):
        known = by_subscription.get(renewal["originalTransactionID"])
        if known is None or renewal["signedDate"] > known["signedDate"]:
            by_subscription[renewal["originalTransactionID"]] = renewal
    grace = {}
    for subscription, renewal in by_subscription.items():
        periods = [
            transaction for transaction in by_id.values()
            if transaction["originalTransactionID"] == subscription
            and renewal.get("productID") in (None, transaction["productID"])
        ]
        if periods and renewal.get("gracePeriodExpiresDate") is not None:
            def order(transaction):
                return transaction["purchaseDate"], transaction["transactionID"]

            # An upgraded period has no grace period. If it was the next period, the renewal succeeded.
            last = max((period for period in periods if not period.get("isUpgraded")), key=order, default=None)
            newest = max(periods, key=order)
            if last is None or (newest is not last and last.get("expiresDate") is not None
                                and newest["purchaseDate"] >= last["expiresDate"]):
                continue
            # A period of another product that began after the signing makes the renewal info outdated.
            if any(other["originalTransactionID"] == subscription and order(other) > order(last)
                   and other["purchaseDate"] > renewal["signedDate"] for other in by_id.values()):
                continue
            grace[last["transactionID"]] = renewal["gracePeriodExpiresDate"]
    return [
        product_answer(entitlement.products[transaction["productID"]], transaction,
                       grace.get(transaction["transactionID"]), now)
        for transaction in by_id.values() if transaction["productID"] in entitlement.products
    ]


# ---------------------------------------------------------------- H: promises


@dataclass
class Promise:
    entitlement: str
    acquisition: Acquisition
    policy: Policy
    until: int | None


def promises_made(name, policy, artifacts, now):
    """H1. What eras give to each acquisition in production."""
    entitlement = policy.entitlements[name]
    made = []
    for acquisition in acquisitions(artifacts):
        if entitlement.honors is not None:
            answer = EraQuestion(policy, entitlement, acquisition, now).answer()
            if answer.outcome == GRANTED:
                made.append(Promise(name, acquisition, policy, answer.until))
    return made


def is_same_acquisition(one, other):
    """Acquisitions 1, for what is known now and what was known when the promise was made."""
    if one.ids & other.ids:
        return True
    distance = date_distance(one, other)
    return distance is not None and distance <= TOLERANCE and can_be_one(one, other)


def promise_answer(promise, present, now):
    """H3. A promise ends at its own end, or by rule E for that acquisition under that policy version."""
    if is_over(promise.until, now):
        return nothing("H3: ended")
    right = granted(promise.until, "H1: promise")
    same = [acquisition for acquisition in present if is_same_acquisition(acquisition, promise.acquisition)]
    if not same:
        return right
    entitlement = promise.policy.entitlements[promise.entitlement]
    return best([
        EraQuestion(promise.policy, entitlement, acquisition, now).after_refunds(right) for acquisition in same])


# ---------------------------------------------------------------- G: the answer


@dataclass
class Customer:
    environment: str
    artifacts: list
    transactions: list
    renewals: list
    purchases_complete: bool
    support: list
    persona: Artifact | None
    promises: list
    now: int


def decide(policy, customer):
    """The answers of a policy for a customer, by entitlement."""
    names = list(policy.entitlements)
    if customer.environment == "Production":
        # H2. A promise also binds where its entitlement was deleted.
        names += [promise.entitlement for promise in customer.promises if promise.entitlement not in names]
    return {name: decide_one(policy, customer, name) for name in names}


def era_answers(policy, customer, entitlement, present):
    if not entitlement.honors:
        return []  # D6
    if customer.environment != "Production":
        if customer.persona is not None and (customer.artifacts or customer.transactions):  # I4
            return [EraQuestion(policy, entitlement, Acquisition([customer.persona]), customer.now).answer()]
        return [test_environment_answer(policy, entitlement)]
    if not present:
        return [undetermined({"appTransaction", "refreshedReceipt"}, "D6: no acquisition")]
    # Acquisitions 3. They are judged apart, and the best one counts.
    return [EraQuestion(policy, entitlement, acquisition, customer.now).answer() for acquisition in present]


def decide_one(policy, customer, name):
    now = customer.now
    actions = [action for action in customer.support if action["entitlement"] == name]
    action = max(actions, key=lambda action: action["date"], default=None)
    if action is not None and action["kind"] == "revocation":
        return Answer(DENIED, why=["G3: support revocation"])
    sources = []
    if action is not None and not is_over(action["until"], now):
        sources.append(granted(action["until"], "G3: support grant"))
    entitlement = policy.entitlements.get(name)
    present = acquisitions(customer.artifacts) if customer.environment == "Production" else []
    if entitlement is not None:
        sources += era_answers(policy, customer, entitlement, present)
        sources += product_answers(entitlement, customer.transactions, customer.renewals, now)
    if customer.environment == "Production":  # H5
        sources += [
            promise_answer(promise, present, now) for promise in customer.promises if promise.entitlement == name]
    answer = best(sources)
    if answer.outcome == GRANTED:
        return answer
    has_products = entitlement is not None and bool(entitlement.products)
    is_complete = customer.purchases_complete or not has_products  # F4
    if answer.outcome == NOTHING and is_complete:
        return Answer(DENIED, why=answer.why)
    steps = answer.next_steps | (set() if is_complete else {"purchases"})
    return Answer(UNDETERMINED, next_steps=steps, why=answer.why + ([] if is_complete else ["G2: purchases"]))
