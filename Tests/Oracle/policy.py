"""A policy, as its file says it, and what it says about one platform (rules A5 to A8)."""
from dataclasses import dataclass, field

from values import DAY, HOUR, duration, instant, is_day, version

PLATFORMS = ("iOS", "macOS", "tvOS", "watchOS", "visionOS")
# A8: when the stores opened of the platforms that inherit from iOS.
OPENINGS = {
    "tvOS": instant("2015-10-30"),
    "watchOS": instant("2019-09-19"),
    "visionOS": instant("2024-02-02"),
}


@dataclass
class Beginning:
    """Where an era begins on a platform."""

    is_new: bool = False
    version: tuple | None = None
    at: int | None = None


@dataclass
class Era:
    index: int
    name: str
    begins: dict
    window: tuple | None


@dataclass
class Honor:
    era: str
    # The instants from which and before which a purchase counts, and at which the honor ends.
    since: int | None = None
    before: int | None = None
    length: str | None = None
    until: int | None = None

    @property
    def has_limits(self):
        return any(limit is not None for limit in (self.since, self.before, self.length, self.until))


@dataclass
class Entitlement:
    name: str
    products: dict
    # Nothing: eras are no source of it (D6).
    honors: list | None


@dataclass(eq=False)
class Release:
    """A row of the release list."""

    place: int
    version: tuple
    at: int | None = None
    day: int | None = None
    # A5: the instant of the boundary that names this version.
    boundary: int | None = None

    @property
    def is_dated(self):
        return not (self.at is None and self.day is None and self.boundary is None)

    @property
    def range(self):
        """The first instant at which it can have begun, and the end of the last."""
        exact = self.boundary if self.boundary is not None else self.at
        if exact is not None:
            return exact, exact
        return self.day - 14 * HOUR, self.day + DAY + 12 * HOUR


@dataclass(eq=False)
class Boundary:
    """Where one era ends and the next one begins on a platform."""

    before: int
    after: int
    version: tuple | None
    at: int | None
    window: tuple | None


def _limit(text, hours):
    """D5. A limit given as a day is midnight of this day in the time zone that is `hours` behind UTC."""
    return None if text is None else instant(text) + (hours * HOUR if is_day(text) else 0)


def _honor(written):
    if isinstance(written, str):
        return Honor(written)
    until = written.get("until")
    return Honor(
        written["era"],
        since=_limit(written.get("boughtSince"), -14),
        before=_limit(written.get("boughtBefore"), 12),
        length=written.get("for"),
        until=_limit(until, 36),
    )


def _beginning(written):
    if written == "new":
        return Beginning(is_new=True)
    return Beginning(version=version(written.get("build", written.get("version"))), at=instant(written.get("at")))


class Policy:
    def __init__(self, written):
        self.written = written
        self.eras = []
        for index, era in enumerate(written["eras"]):
            begins = {platform: _beginning(begin) for platform, begin in era.get("begins", {}).items()}
            window = era.get("changeover", "none")
            if window != "none":
                window = (duration(window.get("from", "0s")), duration(window.get("until", "0s")))
            self.eras.append(Era(index, era["name"], begins, None if window == "none" else window))
        self.increasing = written.get("buildNumbers") == "increasing"
        self.favors_customer = written.get("inDoubt", "favorCustomer") == "favorCustomer"
        self.test_environments = written.get("testEnvironments", "newCustomer")
        self.entitlements = {}
        for name, entitlement in written["entitlements"].items():
            products = {}
            for product in entitlement.get("products") or []:
                if isinstance(product, str):
                    product = {"id": product}
                products[product["id"]] = product.get("for")
            honors = entitlement.get("honors")
            self.entitlements[name] = Entitlement(
                name, products, None if honors is None else [_honor(honor) for honor in honors])
        self.releases = written.get("releases") or []
        self._timelines = {}

    @property
    def platforms(self):
        """A3. Every platform in the policy."""
        named = {platform for era in self.eras for platform in era.begins}
        named |= {release["platform"] for release in self.releases}
        return [platform for platform in PLATFORMS if platform in named]

    def timeline(self, platform):
        if platform not in self._timelines:
            self._timelines[platform] = Timeline(self, platform)
        return self._timelines[platform]

    @property
    def mistakes(self):
        """What the policy must say and doesn't: the two facts that are too important to guess."""
        missing = set()
        honored = {self.era(honor.era) for e in self.entitlements.values() for honor in e.honors or []}
        for platform in PLATFORMS:
            timeline = self.timeline(platform)
            has_version = any(boundary.version is not None for boundary in timeline.boundaries)
            if platform != "macOS" and has_version and timeline.list is None and "buildNumbers" not in self.written:
                missing.add("buildNumbers")
            for boundary in timeline.boundaries:
                is_said = "changeover" in self.written["eras"][boundary.after]
                if boundary.at is not None and boundary.before in honored and not is_said:
                    missing.add("changeover")
        return missing

    def era(self, name):
        return next(era.index for era in self.eras if era.name == name)


class Timeline:
    """The eras of one platform."""

    def __init__(self, policy, platform):
        self.policy = policy
        self.platform = platform
        # The eras that are possible on it, and what separates them.
        self.eras = [0]
        self.boundaries = []
        self.inherits = False
        self.is_known = False
        beginnings = []
        for era in policy.eras[1:]:
            own = era.begins.get(platform)
            # A8. Each boundary is inherited by itself.
            inherited = era.begins.get("iOS") if own is None and platform in OPENINGS else None
            begin = own or inherited
            if begin is None:
                continue  # A7: it didn't happen there, the era before it went on.
            self.is_known = True
            self.inherits = self.inherits or inherited is not None
            beginnings.append(begin)
            early = inherited is not None and begin.at is not None and begin.at <= OPENINGS[platform]
            if begin.is_new or early:
                # A7, A8. Earlier eras are impossible, and this beginning separates nothing.
                self.eras, self.boundaries = [era.index], []
            else:
                window = None
                if era.window is not None and begin.at is not None:
                    window = (begin.at + era.window[0], begin.at + era.window[1])
                self.boundaries.append(Boundary(self.eras[-1], era.index, begin.version, begin.at, window))
                self.eras.append(era.index)
        if not self.is_known:
            # A3. Without boundaries it proves nothing.
            self.eras = [era.index for era in policy.eras]
        self._read_list(beginnings)

    def _read_list(self, beginnings):
        rows = [row for row in self.policy.releases if row["platform"] == self.platform]
        if not rows and self.platform in OPENINGS:
            # A8. The list is inherited.
            rows = [row for row in self.policy.releases if row["platform"] == "iOS"]
            self.inherits = self.inherits or bool(rows)
        key = "version" if self.platform == "macOS" else "build"
        self.releases = []
        for place, row in enumerate(rows):
            date = row.get("releasedAt")
            release = Release(place, version(row[key]))
            if date is not None and is_day(date):
                release.day = instant(date)
            elif date is not None:
                release.at = instant(date)
            self.releases.append(release)
        if not self.releases:
            self.list = None
            return
        # A5. The version that a boundary names began at the boundary's instant.
        for release in self.releases:
            instants = [begin.at for begin in beginnings if begin.at is not None and begin.version == release.version]
            before = [other for other in self.releases[:release.place] if other.is_dated]
            if release.day is not None:
                instants = [at for at in instants if release.range[0] <= at < release.range[1]]
            elif release.at is not None or any(other.version == release.version for other in before):
                continue
            elif before:
                # Of several boundaries, the first one that agrees with the order of the list.
                instants = [at for at in instants if at >= before[-1].range[0]] or instants
            release.boundary = next(iter(instants), None)
        self.list = ReleaseOrder(self)

    @property
    def has_increasing_versions(self):
        return self.platform == "macOS" or self.policy.increasing

    def next_beginning(self, era):
        """D3. Whether a next era is known on the platform, and when it began."""
        following = [index for index in self.eras if index > era]
        if not following:
            return False, None
        boundary = next((b for b in self.boundaries if b.after == following[0]), None)
        return True, None if boundary is None else boundary.at

    def separates(self, era, is_at_or_after, is_before):
        """Whether an era remains, where `is_at_or_after` can be true of each boundary up to it, and `is_before` of each
        one after it."""
        return all(
            is_at_or_after(boundary) if boundary.after <= era else is_before(boundary) for boundary in self.boundaries)


class ReleaseOrder:
    """A5. What the release list says for certain about the order of releases and boundaries."""

    def __init__(self, timeline):
        self.timeline = timeline
        self.releases = timeline.releases
        # A boundary without an instant begins with its version's first listed date.
        self.starts = {}
        for boundary in timeline.boundaries:
            if boundary.at is not None:
                self.starts[boundary] = boundary.at
            elif boundary.version is not None:
                listed = [r for r in self.releases if r.version == boundary.version and r.is_dated]
                if listed:
                    self.starts[boundary] = min(listed, key=lambda r: (r.range[0], r.place))
        dated = [release for release in self.releases if release.is_dated]
        # A list with undated releases is sorted, unless the instant that a release took contradicts that.
        self.is_sorted = any(row.day is None and row.at is None for row in self.releases) and all(
            one.range[0] < other.range[1] or one.range[0] == other.range[0] == other.range[1]
            for place, one in enumerate(dated) for other in dated[place + 1:])
        nodes = dated + [start for start in self.starts.values() if isinstance(start, int)]
        # not_after[x, y]: x certainly began no later than y.
        self.not_after = {(x, y) for x in nodes for y in nodes if self._is_certain(x, y)}
        for middle in nodes:
            for x in nodes:
                if (x, middle) in self.not_after:
                    self.not_after |= {(x, y) for y in nodes if (middle, y) in self.not_after}

    def _is_certain(self, x, y):
        """Whether two entries alone show that x began no later than y."""
        if x is y:
            return True
        if self.is_sorted and not isinstance(x, int) and not isinstance(y, int):
            return x.place < y.place
        first = (x, x) if isinstance(x, int) else x.range
        second = (y, y) if isinstance(y, int) else y.range
        if first[1] <= second[0]:
            return True
        if isinstance(x, int) or isinstance(y, int) or x.day is None or y.day is None:
            return False
        # Two days are compared by date, not by instant. Releases of one day have the order of the list.
        return (x.day, x.place) < (y.day, y.place)

    def _next(self, release):
        """The releases that certainly followed a dated one."""
        return [
            other for other in self.releases
            if other is not release and (release, other) in self.not_after
            and ((other, release) not in self.not_after or other.place > release.place)
        ]

    def eras(self, release):
        """The eras in which a release was on sale."""
        if release.is_dated:
            start, ends = release, self._next(release)
        else:
            # Only between its nearest dated neighbors.
            dated = [other for other in self.releases if other.is_dated]
            start = next((other for other in reversed(dated) if other.place < release.place), None)
            ends = [other for other in dated if other.place > release.place][:1]

        def can_be_after(boundary):
            begin = self.starts.get(boundary)
            return begin is None or not any((end, begin) in self.not_after for end in ends)

        def can_be_before(boundary):
            begin = self.starts.get(boundary)
            return begin is None or start is None or (begin, start) not in self.not_after

        return {
            era for era in self.timeline.eras if self.timeline.separates(era, can_be_after, can_be_before)}
