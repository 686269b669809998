"""Random policies and customers, biased to the edges: exactly at, and one, two and three seconds beside each boundary,
window, limit and end."""
import random

from casefile import policy_and_customer
from policy import OPENINGS, PLATFORMS, Policy
from values import DAY, HOUR, SECOND, after_period, day_text, instant, text

# Written as the plain word `none`: the artifact doesn't have the field.
NONE = None


def chance(rng, probability):
    return rng.random() < probability


# ---------------------------------------------------------------- Policies


class PolicyMaker:
    def __init__(self, rng):
        self.rng = rng

    def policy(self):
        """A policy without mistakes but for a fact that it seldom doesn't state."""
        while True:
            written = self.attempt()
            if self.is_sound(written) and (not Policy(written).mistakes or chance(self.rng, 0.1)):
                return written

    def attempt(self):
        rng = self.rng
        # Some policies are about one group of rules.
        self.theme = rng.choice(["", "", "", "list", "list", "inherit", "same version", "windows"])
        self.start = instant(rng.choice(["2013-12-20", "2014-06-10", "2015-06-10", "2015-10-28", "2016-03-01",
                                         "2019-09-17", "2023-12-20", "2024-01-31"])) + rng.randrange(0, 24) * HOUR
        platforms = rng.choice([["iOS"], ["iOS"], ["iOS", "macOS"], ["iOS", "macOS"], ["macOS"], ["iOS", "tvOS"],
                                ["iOS", "macOS", "tvOS"], ["tvOS"], ["iOS", "visionOS"], ["iOS", "watchOS", "macOS"]])
        if self.theme == "inherit":
            platforms = ["iOS"]
        eras = self.eras(platforms)
        policy = {
            "app": {"bundleID": "com.example.calculator"},
            "eras": eras,
        }
        has_list = self.theme == "list" or self.theme != "same version" and chance(rng, 0.35)
        releases = self.releases(eras, platforms) if has_list else []
        if releases:
            policy["releases"] = releases
        if chance(rng, 0.9):
            rises = self.theme == "same version" or chance(rng, 0.65)
            policy["buildNumbers"] = "increasing" if rises else "restarted"
        policy["entitlements"] = self.entitlements(eras)
        if chance(rng, 0.8):
            policy["inDoubt"] = "undetermined" if chance(rng, 0.5) else "favorCustomer"
        if chance(rng, 0.7):
            policy["testEnvironments"] = rng.choice(["newCustomer", "owner", "undetermined"])
        return policy

    def eras(self, platforms):
        rng = self.rng
        count = rng.choice([1, 2, 2, 2, 2, 3, 3, 3, 4, 5])
        eras = [{"name": "era0", "model": rng.choice(["paid", "free"])}]
        date = self.start
        builds = {platform: rng.choice([1, 90, 100]) for platform in platforms}
        for index in range(1, count):
            begins = {}
            for platform in platforms:
                if not chance(rng, 0.82) and not (platform == platforms[-1] and not begins):
                    continue
                if platform not in self.named(eras) and chance(rng, 0.08):
                    begins[platform] = "new"
                    continue
                begin = {}
                if chance(rng, 0.82):
                    repeats = chance(rng, 0.5 if self.theme == "same version" else 0.06)
                    builds[platform] += 0 if repeats else rng.choice([1, 1, 2, 10, 20])
                    if platform == "macOS":
                        begin["version"] = f"{builds[platform]}.0" if chance(rng, 0.5) else f"1.{builds[platform]}"
                    else:
                        begin["build"] = str(builds[platform]) + rng.choice(["", "", "", ".0", ".1"])
                if not begin or chance(rng, 0.6 if self.theme == "same version" else 0.85):
                    begin["at"] = text(date + rng.choice([0, 0, 0, 2 * HOUR, DAY, 2 * DAY]))
                begins[platform] = begin
            era = {"name": f"era{index}", "model": rng.choice(["paid", "free"]), "begins": begins}
            if chance(rng, 0.1):
                eras.append(era)
                date += rng.choice([2 * DAY, 365 * DAY])
                continue
            era["changeover"] = rng.choice([
                "none", "none", {"from": "-24h", "until": "48h"}, {"from": "-1h", "until": "1h"},
                {"from": "-14d", "until": "2d"}, {"from": "-3d"}, {"until": "36h"}])
            eras.append(era)
            gaps = [2 * HOUR, 12 * HOUR, 2 * DAY]
            if self.theme != "windows":
                gaps += [7 * DAY, 60 * DAY, 365 * DAY, 800 * DAY]
            date += rng.choice(gaps)
        return eras

    @staticmethod
    def named(eras):
        return {platform for era in eras for platform in era.get("begins", {})}

    def releases(self, eras, platforms):
        """Rows around the versions that boundaries name, on some of the platforms."""
        rng = self.rng
        rows = []
        # Seldom also a platform that no boundary names.
        for platform in platforms + ([rng.choice(PLATFORMS)] if chance(rng, 0.08) else []):
            if not chance(rng, 0.75) or any(row["platform"] == platform for row in rows):
                continue
            key = "version" if platform == "macOS" else "build"
            named = []
            for era in eras[1:]:
                begin = era["begins"].get(platform)
                if begin is None and platform in OPENINGS:
                    begin = era["begins"].get("iOS")
                if isinstance(begin, dict) and key in begin:
                    named.append((begin[key], begin.get("at")))
            count = rng.choice([1, 2, 3, 4, 5])
            listed = [(number, instant(at)) for number, at in named if chance(rng, 0.75)]
            for _ in range(count):
                base = rng.choice(named)[0].split(".") if named else ["100"]
                base[-1] = str(max(0, int(base[-1]) + rng.choice([-20, -2, -1, 1, 2, 3, 30])))
                listed.append((".".join(base), None))
            dated = []
            for number, at in listed:
                days = [-300, -30, -2, -1, 1, 2, 30, 200, 500]
                base = self.start
                if self.theme == "list":
                    days = [-30, -1, -1, 0, 0, 0, 1, 1, 2]
                    base = rng.choice([instant(other) for _, other in named if other is not None] or [base])
                date = at if at is not None else base + rng.choice(days) * DAY
                if chance(rng, 0.25):
                    date += rng.choice([-2 * DAY, -DAY, -HOUR, SECOND, HOUR, DAY, 3 * DAY])
                dated.append((date, number))
            dated.sort(key=lambda entry: entry[0])
            with_undated = chance(rng, 0.35)
            seen = set()
            for date, number in dated:
                while date in seen:
                    date += SECOND  # Two releases of one instant have no order that the text defines.
                seen.add(date)
                row = {"platform": platform, key: number}
                if with_undated and chance(rng, 0.4):
                    pass
                elif chance(rng, 0.75 if self.theme == "list" else 0.55):
                    row["releasedAt"] = day_text(date)
                else:
                    row["releasedAt"] = text(date)
                rows.append(row)
            if chance(rng, 0.15) and platform == "macOS":
                rows[-1]["build"] = "7"
        if all("releasedAt" in row for row in rows) and chance(rng, 0.25):
            rng.shuffle(rows)
        return rows

    def entitlements(self, eras):
        rng = self.rng
        products = [["all", "yearly"], ["all"], ["yearly", {"id": "season", "for": "P3M"}],
                    ["season", "yearly", "coins"],
                    ["all", "monthly", "yearly"], ["monthly"],
                    ["all", "yearly", {"id": "season", "for": rng.choice(["P1M", "P10D", "P1Y", "P2W"])}], None, []]
        result = {}
        for name in ["everything", "cloud", "extra"][:rng.choice([1, 2, 2, 3])]:
            entitlement = {}
            own = rng.choice(products)
            if own is not None:
                entitlement["products"] = own
            if chance(rng, 0.93):
                entitlement["honors"] = self.honors(eras)
            if not entitlement:
                entitlement["products"] = ["all"]
            result[name] = entitlement
        return result

    def honors(self, eras):
        rng = self.rng
        names = [era["name"] for era in eras]
        honored = [name for name in names if chance(rng, 0.5)] or [rng.choice(names)]
        if chance(rng, 0.15):
            honored.append(rng.choice(honored))
        result = []
        for name in honored:
            if chance(rng, 0.45):
                result.append(name if chance(rng, 0.7) else {"era": name})
                continue
            honor = {"era": name}
            if chance(rng, 0.4):
                honor["boughtSince"] = self.limit()
            if chance(rng, 0.35):
                honor["boughtBefore"] = self.limit()
                if "boughtSince" in honor and instant(honor["boughtSince"]) + 2 * DAY >= instant(honor["boughtBefore"]):
                    del honor["boughtSince"]
            if chance(rng, 0.45):
                honor["for"] = rng.choice(["P1Y", "P1M", "P3M", "P2W", "P10D", "P1Y6M"])
            if chance(rng, 0.35):
                honor["until"] = self.limit(later=True)
            result.append(honor)
        return result

    def limit(self, later=False):
        """A day or an instant around the changes."""
        rng = self.rng
        offsets = [30, 100, 365, 366, 700] if later else [-365, -30, -1, 0, 0, 1, 2, 30, 100, 400]
        date = self.start + rng.choice(offsets) * DAY + rng.choice([0, 0, HOUR, SECOND, 12 * HOUR])
        return day_text(date) if chance(rng, 0.55) else text(date)

    @staticmethod
    def is_sound(written):
        """Whether eras and release lists tell one story."""
        policy = Policy(written)
        for platform in PLATFORMS:
            timeline = policy.timeline(platform)
            dates = [boundary.at for boundary in timeline.boundaries if boundary.at is not None]
            versions = [boundary.version for boundary in timeline.boundaries if boundary.version is not None]
            if dates != sorted(dates) or versions != sorted(versions):
                return False
            if timeline.list is not None and not PolicyMaker.is_clear_list(timeline):
                return False
        for platform, opening in OPENINGS.items():
            # Its own boundary, and then one inherited from before the store opened: the linter reports that.
            own = False
            for era in policy.eras:
                inherited = era.begins.get("iOS")
                if platform in era.begins:
                    own = True
                elif own and inherited is not None and inherited.at is not None and inherited.at <= opening:
                    return False
        if "iOS" in policy.platforms:
            # `new` on iOS after an earlier boundary of a platform that inherits would say two things.
            first = {}
            for era in policy.eras:
                for platform in era.begins:
                    first.setdefault(platform, era.index)
            for era in policy.eras:
                if era.begins.get("iOS") is not None and era.begins["iOS"].is_new:
                    if any(first.get(platform, 99) < era.index for platform in OPENINGS):
                        return False
        return True


    @staticmethod
    def is_clear_list(timeline):
        """Whether a list and the boundaries agree, in the order that the rules define."""
        rows, order = timeline.releases, timeline.list
        # The text doesn't say which of several rows of one version its boundary means.
        for boundary in timeline.boundaries:
            fitting = [
                row for row in rows
                if row.version == boundary.version and boundary.at is not None and row.at is None and (
                    row.day is None or row.day - 14 * HOUR <= boundary.at < row.day + 36 * HOUR)]
            if len(fitting) > 1:
                return False
        instants = [row.range[0] for row in rows if row.is_dated and row.range[0] == row.range[1]]
        if len(instants) != len(set(instants)):
            return False
        if any(row.at is None and row.day is None for row in rows):
            # Oldest first.
            dated = [row for row in rows if row.is_dated]
            if any((one, other) not in order.not_after for one, other in zip(dated, dated[1:])):
                return False
        starts = [order.starts[boundary] for boundary in timeline.boundaries if boundary in order.starts]
        for one, other in zip(starts, starts[1:]):
            if one is not other and (other, one) in order.not_after:
                return False
        return all(order.eras(row) for row in rows)


# ---------------------------------------------------------------- Customers


class CustomerMaker:
    def __init__(self, rng, written, theme):
        self.rng = rng
        self.theme = theme
        self.written = written
        self.policy = Policy(written)
        self.dates = self.interesting_dates()
        self.versions = self.interesting_versions()
        self.season_lengths = {
            e.products["season"] is not None for e in self.policy.entitlements.values() if "season" in e.products}
        sold = {product for e in self.policy.entitlements.values() for product in e.products}
        self.products = sorted(sold | {"all", "other"})

    def interesting_dates(self):
        policy, found = self.policy, set()
        for platform in PLATFORMS:
            timeline = policy.timeline(platform)
            for boundary in timeline.boundaries:
                if boundary.at is not None:
                    found.add(boundary.at)
                    found |= set(boundary.window or ())
            for release in timeline.releases:
                if release.at is not None:
                    found.add(release.at)
        for entitlement in policy.entitlements.values():
            for honor in entitlement.honors or []:
                found |= {limit for limit in (honor.since, honor.before) if limit is not None}
        found |= {opening for platform, opening in OPENINGS.items() if platform in policy.platforms}
        return sorted(found) or [instant("2015-06-10")]

    def interesting_versions(self):
        policy, found = self.policy, []
        for platform in PLATFORMS:
            timeline = policy.timeline(platform)
            found += [b.version for b in timeline.boundaries if b.version is not None]
            found += [release.version for release in timeline.releases]
        result = set()
        for components in found or [(100,)]:
            for offset in (0,) if self.theme == "list" and chance(self.rng, 0.7) else (-1, 0, 0, 1):
                moved = list(components) or [0]
                moved[-1] = max(0, moved[-1] + offset)
                result.add(".".join(str(component) for component in moved))
        return sorted(result)

    def ends(self):
        """The instants at which rights end."""
        found = set()
        for entitlement in self.policy.entitlements.values():
            for honor in entitlement.honors or []:
                if honor.until is not None:
                    found.add(honor.until)
                if honor.length is not None:
                    for platform in PLATFORMS:
                        has_next, begin = self.policy.timeline(platform).next_beginning(self.policy.era(honor.era))
                        if has_next and begin is not None:
                            found.add(after_period(begin, honor.length))
        return sorted(found)

    def date(self):
        """An instant, mostly near one that matters."""
        rng = self.rng
        base = rng.choice(self.dates)
        offset = rng.choice([0, 1000, 2000, 2001, 3000, -1000, -2000, -2001, -3000, HOUR, -HOUR, 11 * HOUR, -11 * HOUR])
        if chance(rng, 0.4):
            offset = rng.choice([-400, -60, -20, -3, -1, 1, 3, 20, 60, 400]) * DAY
            offset += rng.randrange(DAY // SECOND) * SECOND
        return base + offset

    def version(self):
        rng = self.rng
        if chance(rng, 0.08):
            return rng.choice(["1.x", "v2", "1..2", "-3", "1.", "99999999999999999999999", "0", "1,5", "٣"])
        number = rng.choice(self.versions)
        if chance(rng, 0.1):
            number = rng.choice(["0" + number, number + ".0", " " + number + " ", number + ".0.1", "\t" + number])
        return number

    def platform(self):
        rng = self.rng
        named = self.policy.platforms or ["iOS"]
        if self.theme == "inherit" and chance(rng, 0.6):
            return rng.choice(sorted(OPENINGS))
        return rng.choices([rng.choice(named), NONE, rng.choice(PLATFORMS), "iPadOS", "unknown"], [60, 18, 14, 5, 3])[0]

    # An acquisition and its artifacts

    def acquisition(self, number, now):
        """The artifacts of one acquisition, in any order."""
        rng = self.rng
        fields = {}
        if chance(rng, 0.88):
            fields["originalAppVersion"] = self.version()
        if chance(rng, 0.6 if self.theme in ("list", "same version") else 0.85):
            fields["originalPurchaseDate"] = self.date()
        platform = self.platform()
        has_id = chance(rng, 0.6)
        count = rng.choice([1, 1, 1, 2, 3])
        if not has_id and "originalPurchaseDate" not in fields:
            count = 1  # Nothing would make several artifacts one acquisition.
        result = []
        refunded = chance(rng, 0.3)
        if refunded:
            count = max(count, rng.choice([1, 2, 2, 3, 4]))
        signings = self.signings(count, fields.get("originalPurchaseDate"), now)
        revoked_places = set()
        if refunded:
            revoked_places.add(rng.choice([0, 0, len(signings) // 2]))
            if chance(rng, 0.15):
                revoked_places.add(rng.randrange(len(signings)))
        for place, signed in enumerate(signings):
            is_revoked = place in revoked_places
            is_receipt = not is_revoked and chance(rng, 0.2)
            artifact = {"signedDate": text(signed)}
            if is_receipt:
                artifact["kind"] = "receipt"
            if has_id and not (is_receipt and chance(rng, 0.5) and "originalPurchaseDate" in fields):
                artifact["downloadID" if is_receipt else "appTransactionID"] = str(number)
            own = dict(fields)
            is_named = "appTransactionID" in artifact or "downloadID" in artifact
            if place > 0 and is_named and chance(rng, 0.25):
                # The same acquisition says something else.
                if chance(rng, 0.5):
                    own["originalAppVersion"] = self.version()
                elif "originalPurchaseDate" in own and not any(
                        each.get("kind") == "receipt" for each in result + [artifact]):
                    own["originalPurchaseDate"] = self.date()
            if chance(rng, 0.12):
                own.pop("originalAppVersion", None)
            if "appTransactionID" in artifact and chance(rng, 0.08):
                own.pop("originalPurchaseDate", None)
            if "originalPurchaseDate" in own:
                date = own["originalPurchaseDate"]
                if is_receipt and chance(rng, 0.4):
                    date += rng.choice([-1, 1, 2]) * SECOND
                own["originalPurchaseDate"] = text(date)
            artifact.update(own)
            if is_receipt:
                if chance(rng, 0.25):
                    artifact["expirationDate"] = text(rng.choice([now, now + SECOND, now - DAY, now + 30 * DAY]))
            else:
                if not refunded and chance(rng, 0.08):
                    artifact["kind"] = "serverAppTransaction"
                artifact["originalPlatform"] = platform if chance(rng, 0.9) else self.platform()
                if is_revoked:
                    # Seldom a revocation that was known before its time.
                    artifact["revocationDate"] = text(
                        signed - rng.choice([0, HOUR, 3 * DAY, 30 * DAY, -HOUR, -40 * DAY]))
                if chance(rng, 0.05):
                    artifact["preorderDate"] = text(self.date())
            result.append(artifact)
            if is_revoked and chance(rng, 0.1):
                # The same at the same instant, without the revocation.
                result.append({key: value for key, value in artifact.items() if key != "revocationDate"})
        rng.shuffle(result)
        return result

    def signings(self, count, date, now):
        """Different instants, oldest first, mostly at edges; seldom two at one instant."""
        rng = self.rng
        found = set()
        while len(found) < count:
            signed = min(now, self.date() if chance(rng, 0.75) else now - rng.randrange(1, 400) * DAY)
            if date is not None and signed < date and chance(rng, 0.8):
                signed = min(now, date + rng.choice([HOUR, DAY, 30 * DAY, 200 * DAY]))
            while signed in found:
                signed -= SECOND
            found.add(signed)
        return sorted(found)

    def add_nearest(self, app):
        """Two acquisitions that began almost at once, and a receipt without ID that belongs to the nearest."""
        rng = self.rng
        date = self.date()
        fields = {"originalPlatform": self.platform()}
        for number, offset in (("91", 0), ("92", rng.choice([500, 1000, 1500, 3000]))):
            app.append({"signedDate": text(date + DAY), "appTransactionID": number, **fields,
                        "originalPurchaseDate": text(date + offset)})
            if chance(rng, 0.3):
                app[-1]["revocationDate"] = text(date + HOUR)
        app.append({"signedDate": text(date + HOUR), "kind": "receipt", "originalAppVersion": self.version(),
                    "originalPurchaseDate": text(date + rng.choice([-400, 100, 400, 1100, 1900]))})

    # Purchases

    def purchases(self, now):
        rng = self.rng
        transactions, renewals = [], []
        for number in range(1, rng.choice([1, 1, 2, 3]) + 1):
            product = rng.choice(self.products)
            purchased = now - rng.choice([0, SECOND, HOUR, DAY, 30 * DAY, 91 * DAY, 92 * DAY, 365 * DAY, 366 * DAY])
            entry = {"productID": product, "transactionID": str(number), "purchaseDate": text(purchased)}
            if product in ("monthly", "yearly"):
                entry["type"] = "autoRenewable"
                if chance(rng, 0.93):
                    expires = rng.choice([now, now + SECOND, now - SECOND, now - 5 * DAY, now + 200 * DAY])
                    entry["expiresDate"] = text(max(expires, purchased + SECOND))
                if chance(rng, 0.4):
                    renewal = {"originalTransactionID": str(number), "productID": product}
                    # A grace period begins when the subscription has expired.
                    if "expiresDate" in entry and instant(entry["expiresDate"]) <= now and chance(rng, 0.8):
                        renewal["gracePeriodExpiresDate"] = text(
                            rng.choice([now, now + SECOND, now + 6 * DAY, now - DAY]))
                    renewal["isInBillingRetryPeriod"] = chance(rng, 0.5)
                    renewals.append(renewal)
                    if chance(rng, 0.25):
                        renewals.append({
                            **renewal, "gracePeriodExpiresDate": text(now + 9 * DAY), "signedDate": text(now - HOUR)})
                if chance(rng, 0.12):
                    entry["isUpgraded"] = True
            elif product == "season":
                entry["type"] = NONE if self.season_lengths == {True} and chance(rng, 0.2) else "nonRenewing"
            elif product == "coins":
                entry["type"] = "consumable"
            else:
                entry["type"] = "nonConsumable"
            if chance(rng, 0.05):
                entry["type"] = "unknown"
                entry.pop("isUpgraded", None)
                entry.pop("expiresDate", None)
            if chance(rng, 0.15):
                entry["familyShared"] = True
            entry["signedDate"] = text(max(purchased, now - DAY))
            if chance(rng, 0.2):
                entry["revocationDate"] = text(now - rng.choice([SECOND, HOUR, DAY]))
            transactions.append(entry)
            if chance(rng, 0.15):
                # An earlier or later form of the same transaction.
                form = {key: value for key, value in entry.items() if key != "revocationDate"}
                offset = rng.choice([-HOUR, HOUR])
                if offset < 0:
                    form.pop("isUpgraded", None)  # An upgrade isn't undone.
                form["signedDate"] = text(max(purchased, now - DAY) + offset)
                transactions.append(form)
        if chance(rng, 0.12):
            self.switch(transactions, renewals, now)
        rng.shuffle(transactions)
        return transactions, renewals

    def switch(self, transactions, renewals, now):
        """A subscription that went from one product to another; the renewal of the second failed."""
        rng = self.rng
        first, second = rng.sample(["monthly", "yearly"], 2)
        changed = now - rng.choice([10, 31, 40]) * DAY
        ended = rng.choice([now - SECOND, now, now - 3 * DAY])
        transactions.append({
            "productID": first, "transactionID": "81", "originalTransactionID": "81", "type": "autoRenewable",
            "purchaseDate": text(changed - 30 * DAY), "expiresDate": text(rng.choice([changed, now + 20 * DAY])),
            "signedDate": text(changed - DAY), "isUpgraded": True})
        if chance(rng, 0.5):
            transactions[-1]["expiresDate"] = text(changed)
            del transactions[-1]["isUpgraded"]
        transactions.append({
            "productID": second, "transactionID": "82", "originalTransactionID": "81", "type": "autoRenewable",
            "purchaseDate": text(changed), "expiresDate": text(ended), "signedDate": text(changed)})
        renewals.append({
            "originalTransactionID": "81", "productID": second, "isInBillingRetryPeriod": True,
            "gracePeriodExpiresDate": text(rng.choice([now + 5 * DAY, now + SECOND, now]))})

    def support(self, now):
        rng = self.rng
        actions = []
        for ago in rng.sample([SECOND, HOUR, DAY, 30 * DAY], rng.choice([1, 1, 2])):
            name = rng.choice(sorted(self.policy.entitlements))
            if chance(rng, 0.35):
                actions.append({"revocation": name, "date": text(now - ago)})
            else:
                action = {"grant": name, "date": text(now - ago)}
                if chance(rng, 0.6):
                    action["until"] = text(rng.choice([now, now + SECOND, now + 30 * DAY, now - SECOND]))
                actions.append(action)
        return actions

    # Promises

    def promise(self, app, now):
        """A right given earlier, and an edit of the policy; nothing where eras gave none."""
        rng = self.rng
        name = rng.choice(sorted(self.policy.entitlements))
        if not self.written["entitlements"][name].get("honors"):
            return {}
        given_app = rng.choice(app)
        if given_app.get("revocationDate") and chance(rng, 0.9):
            given_app = {key: value for key, value in given_app.items() if key != "revocationDate"}
        if "originalPurchaseDate" not in given_app and "appTransactionID" not in given_app:
            return {}
        given_app = {key: value for key, value in given_app.items() if key != "environment"}
        given = {"app": given_app, "now": text(max(instant(given_app["signedDate"]), min(now, self.dates[-1])))}
        case = {"promises": [{"entitlement": name, "given": given}]}
        edit = rng.choice(["nothing", "nothing", "removed", "strict", "none"])
        if edit == "nothing":
            case["policy"] = {"entitlements": {name: {"honors": []}}}
        elif edit == "removed" and len(self.policy.entitlements) > 1:
            case["policy"] = {"entitlements": {name: None}}
        elif edit == "strict":
            case["policy"] = {"inDoubt": "undetermined"}
        if chance(rng, 0.2):
            case["promises"][0]["until"] = text(rng.choice([now, now + SECOND, now + 100 * DAY]))
        return case

    def makes_promise(self, case):
        return bool(policy_and_customer(self.written, case)[1].promises)

    # All of it

    def now(self):
        rng = self.rng
        ends = self.ends()
        if ends and chance(rng, 0.4):
            return rng.choice(ends) + rng.choice([-1, 0, 0, 1, -DAY // SECOND, -40000, 40000]) * SECOND
        return max(self.dates) + rng.choice([DAY, 20 * DAY, 200 * DAY, 700 * DAY])

    def customer(self):
        rng = self.rng
        now = self.now()
        case = {"now": text(now)}
        app = []
        for number in range(1, rng.choice([0, 1, 1, 1, 1, 1, 1, 1, 2]) + 1):
            app += self.acquisition(number, now)
        if len(app) > 1 and chance(rng, 0.06):
            self.add_nearest(app)
        environment = "Production"
        if chance(rng, 0.1):
            environment = rng.choice(["Sandbox", "Xcode"])
            case["environment"] = environment
        if app:
            case["app"] = app
        if chance(rng, 0.3):
            case["transactions"], renewals = self.purchases(now)
            if renewals:
                case["renewals"] = renewals
        if app and chance(rng, 0.05):
            case["environment"] = environment = rng.choice(["Production", "Sandbox"])
            other = "Sandbox" if environment == "Production" else "Production"
            for each in rng.sample(app, rng.randrange(len(app))) + case.get("transactions", []):
                if chance(rng, 0.6):
                    each["environment"] = other
        if chance(rng, 0.25):
            case["purchasesComplete"] = False
        if chance(rng, 0.1):
            case["support"] = self.support(now)
        if chance(rng, 0.5 if environment != "Production" else 0.03):
            persona = {"name": "buyer", "originalAppVersion": self.version(), "originalPurchaseDate": text(self.date()),
                       "originalPlatform": self.platform()}
            for key in ("originalAppVersion", "originalPurchaseDate"):
                if chance(rng, 0.1):
                    del persona[key]
            case["persona"] = persona
        if app and chance(rng, 0.15):
            promise = self.promise(app, now)
            if promise:
                with_promise = {**case, **promise}
                if self.makes_promise(with_promise):
                    case = with_promise
        return case if self.is_clear(case) else self.customer()

    def is_clear(self, case):
        """Whether the text says what the case means."""
        # No two artifacts of different content at one instant.
        signed = {}
        for each in case.get("app", []):
            key = (each.get("appTransactionID", each.get("downloadID")), each["signedDate"])
            each = {name: value for name, value in each.items() if name != "revocationDate"}
            if signed.setdefault(key, each) != each:
                return False
        return True


def generate(seed, policies, customers):
    """Pairs of a policy and its customers."""
    for number in range(policies):
        # Each policy has its own random numbers, so that one can be repeated alone.
        rng = random.Random(f"{seed}/{number}")
        policies_maker = PolicyMaker(rng)
        written = policies_maker.policy()
        maker = CustomerMaker(rng, written, policies_maker.theme)
        yield number, written, [maker.customer() for _ in range(customers)]
