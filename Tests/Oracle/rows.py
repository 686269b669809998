"""The rows of "The rules by example" as data: `(row, case, answers)`.

An answer is `G`, `D` or `U`. `G?` is granted in doubt, `G!` granted without doubt. After it: the end of the right, or the
next steps.
"""

BASE = {
    "app": {"bundleID": "com.example.calculator"},
    "eras": [
        {"name": "paid", "model": "paid"},
        {
            "name": "freemium",
            "model": "free",
            "begins": {
                "iOS": {"build": "120", "at": "2015-06-10T18:00:00Z"},
                "macOS": {"version": "2.0", "at": "2015-06-12T18:00:00Z"},
            },
            "changeover": {"from": "-24h", "until": "48h"},
        },
    ],
    "buildNumbers": "increasing",
    "entitlements": {
        "everything": {"products": ["all", "yearly"], "honors": ["paid"]},
        "cloud": {"products": ["yearly"], "honors": [{"era": "paid", "boughtSince": "2014-06-10", "for": "P1Y"}]},
    },
    "inDoubt": "favorCustomer",
    "testEnvironments": "newCustomer",
}
NOW = "2015-07-01"
LATER = "2017-01-01"

PAID = {"name": "paid", "model": "paid"}
_IOS = {"build": "120", "at": "2015-06-10T18:00:00Z"}
_MACOS = {"version": "2.0", "at": "2015-06-12T18:00:00Z"}
_WINDOW = {"from": "-24h", "until": "48h"}


def freemium(changeover=_WINDOW, **begins):
    return {"name": "freemium", "model": "free", "begins": begins or {"iOS": _IOS, "macOS": _MACOS},
            "changeover": changeover}


def app(version=None, date=None, **fields):
    result = dict(fields)
    if version is not None:
        result["originalAppVersion"] = version
    if date is not None:
        result["originalPurchaseDate"] = date
    return result


def receipt(version=None, date=None, **fields):
    return app(version, date, kind="receipt", **fields)


def listed(*rows, platform="iOS"):
    key = "version" if platform == "macOS" else "build"
    result = []
    for number, date in rows:
        row = {"platform": platform, key: number}
        if date is not None:
            row["releasedAt"] = date
        result.append(row)
    return result


def honors(*values, **others):
    return {"entitlements": {"everything": {"honors": list(values)}}, **others}


STRICT = {"inDoubt": "undetermined"}
IOS_ONLY = {"eras": [PAID, freemium(iOS=_IOS)]}
SHARP = {"eras": [PAID, freemium(changeover="none")]}
RESTARTED = {"buildNumbers": "restarted"}
HONORS_NOTHING = honors()
PROMISE = [{"entitlement": "everything", "given": {"app": app("37", "2014-05-01")}}]
PLATFORM = "originalPlatform"

ROWS = []


def row(number, answers, evidence=None, now=None, **case):
    if evidence is not None:
        case["app"] = evidence
    case["now"] = now or NOW
    if isinstance(answers, str):
        answers = {"everything": answers}
    ROWS.append((str(number), case, answers))


R1 = app("37", "2014-05-01")
R2 = app("37", "2014-11-01")
R16 = app("120", "2015-06-10T20:00Z")
R22 = app("37", "2016-02-01")
NEW = app("130", "2015-07-01")
R38 = app("37", "2014-05-01", revocationDate="2014-06-01", signedDate="2014-06-02")


def again(date, **fields):
    return app("37", "2014-05-01", signedDate=date, **fields)


row(1, {"everything": "G!", "cloud": "D"}, R1)
row(2, {"everything": "G", "cloud": "G 2016-06-10T18:00Z"}, R2)
row(3, {"everything": "G", "cloud": "D"}, R2, now=LATER)
row(4, "D", app("120", "2015-07-01"))
row(5, "G", app("9", "2014-02-01"))
row(6, "D", app("0120", "2015-07-01"))
row(6, "D", app("120.0", "2015-07-01"))
row(7, "G", app("119.9.9.9", "2015-06-01"))
row(8, "D", app("99999999999999999999", "2015-07-01"))
row(9, "G", app("1.10", "2014-02-01", originalPlatform="macOS"))
row(10, "D", app("10.1", "2016-01-01", originalPlatform="macOS"), now=LATER)
row(11, "G", app("1.9", "2014-02-01", originalPlatform="macOS"))
row(12, "D", receipt("2.1", "2016-03-01"), now=LATER)
row(13, "G", receipt("2.1", "2014-03-01"))
row(15, "G", receipt("37", "2014-03-01"), policy=IOS_ONLY)
row(16, "G?", R16)
row(17, "U", R16, policy=STRICT)
row(18, "G?", app("119", "2015-06-09T20:00Z"))
row(19, "G!", app("119", "2015-06-09T12:00Z"))
row(20, "D", app("120", "2015-06-13T00:00Z"))
row(21, "G", app("130", "2014-02-01"))
row(22, "G", R22, now=LATER)
row(23, "D", R22, now=LATER, policy=RESTARTED)
row(24, "G", R22, now=LATER, policy={"releases": listed(("37", "2014-03-01"), ("50", "2014-09-01"), ("120", "2015-06-10T18:00:00Z"))})
row(25, "D", R22, now=LATER, policy={**RESTARTED, "releases": listed(("37", "2014-03-01"), ("50", "2014-09-01"), ("120", "2015-06-10T18:00:00Z"), ("37", "2016-01-15"))})
row(26, "D", R22, now=LATER, policy={"releases": listed(("50", "2014-09-01"), ("120", "2015-06-10T18:00:00Z"))})
_27 = {"releases": listed(("110", "2015-05-01"), ("120", "2015-07-20"))}
row(27, "G", app("110", "2015-05-05"), policy=_27)
row(27, "D", app("110", "2015-07-15"), policy=_27, now=LATER)
row(28, "G", app("1.x", "2014-02-01"))
row(28, "U appTransaction refreshedReceipt", app("1.x"))
row(29, "G", receipt(None, "2012-10-01"))
row(30, "U appTransaction refreshedReceipt", app())
row(31, {"everything": "G", "cloud": "U"}, transactions=[{"productID": "all", "purchaseDate": "2015-06-20"}])
row(32, {"everything": "U appTransaction refreshedReceipt", "cloud": "U appTransaction refreshedReceipt"})
SANDBOX = {"environment": "Sandbox"}
TEST = app("1.0", "2013-08-01")
row(33, "D", TEST, **SANDBOX)
row(34, {"everything": "G"}, TEST, policy={"testEnvironments": "owner"}, **SANDBOX)
row(34, "U support", TEST, policy={"testEnvironments": "undetermined"}, **SANDBOX)
row(35, "G", TEST, transactions=[{"productID": "all"}], **SANDBOX)
PERSONA = {"name": "buyer", **R1}
row(36, "G", TEST, persona=PERSONA, **SANDBOX)
row(37, "D", NEW, persona=PERSONA)
row(38, "D", R38)
row(39, "G!", [R38, again("2015-05-01")])
row(39, "G!", [R38, again("2015-05-01")], policy=STRICT)
row(40, "D", [app("37", "2014-05-01", revocationDate="2015-09-01", signedDate="2015-09-02"), again("2017-01-01")], now="2017-01-02")
row(41, "D", [R38, again("2014-05-02")])
YEARLY = {"productID": "yearly", "expiresDate": "2016-07-01"}
row(42, {"everything": "G 2016-07-01", "cloud": "G 2016-07-01"}, NEW, transactions=[YEARLY])
EXPIRED = {"productID": "yearly", "purchaseDate": "2014-06-30", "expiresDate": "2015-06-30"}
row(43, "G 2015-07-05", NEW, transactions=[EXPIRED], renewals=[{"gracePeriodExpiresDate": "2015-07-05", "isInBillingRetryPeriod": True}])
row(44, "D", NEW, transactions=[EXPIRED], renewals=[{"isInBillingRetryPeriod": True}])
row(45, "D", NEW, transactions=[{**YEARLY, "revocationDate": "2015-06-25"}])
row(45, "G 2015-08-15", NEW, transactions=[
    {**YEARLY, "purchaseDate": "2015-06-01", "isUpgraded": True, "originalTransactionID": "1"},
    {"productID": "yearly", "purchaseDate": "2015-06-15", "expiresDate": "2015-08-15", "originalTransactionID": "1"}])
row(46, "G 2016-06-20", NEW, transactions=[
    {"productID": "yearly", "purchaseDate": "2014-06-20", "expiresDate": "2015-06-20", "revocationDate": "2014-08-01", "originalTransactionID": "1"},
    {"productID": "yearly", "purchaseDate": "2015-06-20", "expiresDate": "2016-06-20", "originalTransactionID": "1"}])
row(47, "G 2016-07-01", NEW, transactions=[{**YEARLY, "familyShared": True}])
row(48, {"everything": "G", "cloud": "G 2016-07-01"}, R1, transactions=[YEARLY])
row(49, "U purchases", NEW, purchasesComplete=False)
row(50, "D", R1, support=[{"revocation": "everything"}])
row(51, "G 2015-12-31", NEW, support=[{"grant": "everything", "until": "2015-12-31"}])
row(52, "G", R1, policy=HONORS_NOTHING, promises=PROMISE)
row(53, "D", app("37", "2014-05-01", revocationDate="2015-06-20"), policy=HONORS_NOTHING, promises=PROMISE)
row(54, "G", [app("130", "2015-07-01", appTransactionID="1"), app("37", "2014-05-01", appTransactionID="2")])
row(55, {"everything": "G", "cloud": "U"}, [app("37", appTransactionID="1"), app(None, "2014-11-01", revocationDate="2014-12-01", appTransactionID="2")])
row(56, "G", app("90", "2014-09-01", originalPlatform="tvOS"))
row(57, "D", app("2.1", "2016-03-01", originalPlatform="unknown"), now=LATER)
row(57, "G", app("2.1", "2014-03-01", originalPlatform="unknown"))
_HOUR = {"from": "-1h", "until": "1h"}
_58 = {
    "eras": [
        PAID,
        {"name": "promo", "model": "free", "begins": {"iOS": {"at": "2013-12-24T00:00Z"}}, "changeover": _HOUR},
        {"name": "again", "model": "paid", "begins": {"iOS": {"at": "2013-12-26T18:00Z"}}, "changeover": _HOUR},
        freemium(_HOUR, iOS=_IOS),
    ],
    "entitlements": {"everything": {"honors": ["paid", "again"]}},
}
row(58, "D", app("20", "2013-12-25"), policy=_58)
row(59, "G", app("20", "2013-12-27"), policy=_58)
EVERY = honors("paid", "freemium")
row(60, "G!", app(), policy=EVERY)
row(61, "D", R1, policy={"entitlements": {"everything": {"honors": None}}})
row(62, {"everything": "G", "cloud": "U appTransaction refreshedReceipt"}, app("37"))
row(63, "D", app("120", "2015-06-20", preorderDate="2015-06-01"))
row(64, "G?", app("120", "2015-06-12T18:00:01Z"))
row(65, "U appTransaction refreshedReceipt", app("37"), policy=RESTARTED)
for _strict in ({}, STRICT):
    row(66, "U support", [R38, again("2017-01-01")], now="2017-01-02", policy=_strict)
_67 = app("37", "2014-05-01T10:00:00Z", appTransactionID="1", revocationDate="2014-06-01", signedDate="2014-06-02")
row(67, "D", [_67, receipt("37", "2014-05-01T10:00:01Z", signedDate="2014-05-03")])
row(68, "D", [_67, receipt("37", "2014-05-01T10:00:00Z", signedDate="2015-05-01")])
R69 = receipt("37", "2014-05-01", expirationDate="2015-01-01", signedDate="2014-06-01")
row(69, "D", R69)
row(70, "D", NEW, policy={"entitlements": {"everything": {"products": ["all", "yearly", "coins"]}}}, transactions=[{"productID": "coins", "type": "consumable"}])
SEASON = [{"productID": "season", "type": "nonRenewing", "purchaseDate": "2015-05-15"}]
row(71, "G 2015-08-15", NEW, policy={"entitlements": {"everything": {"products": [{"id": "season", "for": "P3M"}]}}}, transactions=SEASON)
row("71b", "U support", NEW, policy={"entitlements": {"everything": {"products": ["season"]}}}, transactions=SEASON)
row(72, "G", NEW, support=[{"revocation": "everything", "date": "2015-06-20"}, {"grant": "everything", "date": "2015-06-21"}])
NARROW = {"eras": [PAID, freemium(_HOUR)]}
_WIDE = {"eras": [PAID, freemium(_WINDOW)]}
row(73, "G", R16, policy=NARROW, promises=[{"entitlement": "everything", "given": {"policy": _WIDE}}])
row(74, "G", [{**R16, "appTransactionID": "1", "signedDate": "2015-06-11"}, app("120", "2015-06-20", appTransactionID="1", signedDate="2015-06-30")],
    policy=NARROW, promises=[{"entitlement": "everything", "given": {"policy": _WIDE, "now": "2015-06-11", "app": {**R16, "appTransactionID": "1"}}}])
row(75, "G", app("37", "2014-06-01", appTransactionID="B", revocationDate="2015-06-20"), policy=HONORS_NOTHING,
    promises=[{"entitlement": "everything", "given": {"app": {**R1, "appTransactionID": "A"}}}])
row(76, "D", transactions=[{"productID": "other"}], **SANDBOX)
_77 = {"eras": [PAID, freemium(iOS=_IOS, macOS="new")]}
row(77, "D", app("1.0", "2020-01-01", originalPlatform="macOS"), policy=_77, now="2020-06-01")
row(77, "D", receipt("1.0", "2020-01-01"), policy=_77, now="2020-06-01")

# Refunds
for _strict in ({}, STRICT):
    _79 = {"eras": [PAID, freemium(iOS={"build": "120", "at": "2026-10-01T18:00:00Z"})], **_strict}

    def refunded(number, answer, revoked, seen, signed, policy=_79):
        row(number, answer, [
            app("37", "2026-09-20", revocationDate=revoked, signedDate=seen), app("37", "2026-09-20", signedDate=signed),
        ], policy=policy, now="2026-11-22")

    refunded(79, "D", "2026-09-25", "2026-10-10", "2026-11-15")
    refunded(80, "D", "2026-10-02T20:00Z", "2026-10-03", "2026-11-15")
    refunded(81, "U support", "2026-09-25", "2026-09-26", "2026-10-02T12:00Z")
    refunded("81b", "U support", "2026-09-25", "2026-09-26", "2026-10-01T06:00Z")
    refunded(82, "D", "2026-10-02T06:00Z", "2026-10-02T07:00Z", "2026-10-02T12:00Z")
_83 = honors({"era": "paid", "boughtBefore": "2014-06-15"})
row(83, "G", [R38, again("2014-06-10")], policy=_83)
row(83, "U support", [R38, again("2015-05-01")], policy=_83)
row(83, "D", [{**R38, "signedDate": "2014-06-20"}, again("2015-05-01")], policy=_83)
row(84, "G 2016-01-01T12:00Z", [{**R38, "revocationDate": "2015-09-01", "signedDate": "2015-09-02"}, again("2015-10-01")],
    policy=honors("paid", {"era": "freemium", "until": "2015-12-31"}), now="2015-11-01")
row(85, "G!", [R38, again("2015-06-11")], policy=EVERY)

# Proofs
_86 = {"eras": [
    PAID,
    {"name": "farewell", "model": "free", "begins": {"iOS": {"at": "2026-12-17T08:00:00Z"}}, "changeover": {"from": "-24h", "until": "24h"}},
    freemium({"from": "-14d", "until": "2d"}, iOS={"build": "120", "at": "2026-12-24T16:00:00Z"}),
]}
row(86, "G?", app("37", "2026-12-12T22:00Z"), policy=_86, now="2027-01-01")
row(86, "U support", app("37", "2026-12-12T22:00Z"), policy={**_86, **STRICT}, now="2027-01-01")
row(87, "G!", app("37", "2026-11-27T22:00Z"), policy=_86, now="2027-01-01")


def launch(*honored, **others):
    return honors(*honored, eras=[
        {"name": "launch", "model": "free"},
        {"name": "paid", "model": "paid", "begins": {"iOS": {"build": "100", "at": "2018-01-01T10:00:00Z"}}, "changeover": _WINDOW},
        {"name": "freemium", "model": "free", "begins": {"iOS": {"build": "200", "at": "2024-01-01T10:00:00Z"}}, "changeover": _WINDOW},
    ], **others)


row(88, "G?", app("37", "2024-01-02"), policy=launch("launch"), now="2026-11-22")
row(88, "U", app("37", "2024-01-02"), policy=launch("launch", **STRICT), now="2026-11-22")
row(89, "D", app("3", "2025-05-01", originalPlatform="visionOS"), now="2026-11-22")
row(89, "D", app("3", originalPlatform="watchOS"), now="2026-11-22")
_90 = {"eras": [PAID, freemium(iOS={"build": "120", "at": "2016-06-10T18:00:00Z"})]}
row(90, "G", app("90", "2016-02-01", originalPlatform="tvOS"), policy=_90, now=LATER)
row(90, "D", app("130", "2016-08-01", originalPlatform="tvOS"), policy=_90, now=LATER)
row(91, "G?", app("90", "2016-08-01", originalPlatform="tvOS"), policy=_90, now=LATER)
row(91, "U support", app("90", "2016-08-01", originalPlatform="tvOS"), policy={**_90, **STRICT}, now=LATER)
_91 = {"eras": [PAID, freemium(iOS={"build": "120", "at": "2016-06-10T18:00:00Z"}, tvOS={"build": "120", "at": "2016-06-10T18:00:00Z"})]}
row(91, "G!", app("90", "2016-08-01", originalPlatform="tvOS"), policy=_91, now=LATER)
row(92, "G!", {**R22, PLATFORM: "iPadOS"}, now=LATER)
_93 = app("2.1", "2016-03-01", originalPlatform="unknown", appTransactionID="1", signedDate="2016-04-01")
row(93, "D", _93, now=LATER)
row(93, "G!", [_93, app("2.1", "2016-03-01", appTransactionID="1", signedDate="2016-05-01")], now=LATER)
row(102, "G?", app("37", "2020-05-01"), policy=launch("paid"), now="2026-11-22")
row(102, "D", app("37", "2020-05-01"), policy=launch("paid", **STRICT), now="2026-11-22")
row(103, "G!", app("37", "2020-05-01"), policy=launch("launch"), now="2026-11-22")

# Promises
_94 = receipt(None, "2015-06-11T20:00Z", signedDate="2015-06-20")
_94_LATER = app("130", "2015-06-11T20:00Z", signedDate="2015-06-25", appTransactionID="1")
_94_PROMISE = [{"entitlement": "everything", "given": {"app": _94, "now": "2015-06-20"}}]
row(94, "G?", _94, policy=SHARP)
row(94, "D", [_94, _94_LATER], policy=SHARP)
row(94, "G", [_94, _94_LATER], policy=SHARP, promises=[{"entitlement": "everything", "given": {"app": _94, "now": "2015-06-20", "policy": SHARP}}])
row(95, "D", [_94, {**_94_LATER, "revocationDate": "2015-06-24"}], policy=SHARP, promises=[{"entitlement": "everything", "given": {"app": _94, "now": "2015-06-20", "policy": SHARP}}])
row(96, "U support", [R38, again("2017-01-01")], now="2017-01-02", policy=HONORS_NOTHING, promises=PROMISE)
row(97, "D", R69, policy=HONORS_NOTHING, promises=PROMISE)

# Days, purchases, changeover
_98 = honors({"era": "paid", "until": "2016-12-31"})
row(98, "G 2017-01-01T12:00Z", R1, policy=_98, now="2016-12-31T08:00Z")
row(98, "G 2017-01-01T12:00Z", R1, policy=_98, now="2017-01-01T11:59:59Z")
row(98, "D", R1, policy=_98, now="2017-01-01T12:00Z")
row("98b", "D", R1, policy=honors({"era": "paid", "until": "2016-12-31T00:00:00Z"}), now="2016-12-31T08:00Z")
_99 = honors({"era": "paid", "boughtSince": "2014-06-10"})
row(99, "G", app("37", "2014-06-09T10:00Z"), policy=_99)
row(99, "D", app("37", "2014-06-09T09:59:57Z"), policy=_99)
_99B = honors({"era": "paid", "boughtBefore": "2014-06-10"})
row("99b", "G", app("37", "2014-06-10T11:59:59Z"), policy=_99B)
row("99b", "D", app("37", "2014-06-10T12:00:03Z"), policy=_99B)
_RENTAL = {"productID": "all", "type": "unknown"}
row(100, "U support", NEW, transactions=[_RENTAL])
row(100, "D", NEW, transactions=[{**_RENTAL, "revocationDate": "2015-06-30"}])
row("100b", "U purchases support", NEW, transactions=[_RENTAL], purchasesComplete=False)
row("100b", "G", R1, transactions=[_RENTAL])
row(105, "D", R16, policy=SHARP)
row(105, "D", R16, policy={**SHARP, **STRICT})
row(106, "G?", app("120", "2015-06-12T17:00Z"))
row(107, "D", app("37"), policy=honors({"era": "paid", "boughtSince": "2014-06-10", "until": "2016-01-01"}), now=LATER)

# More edges
row(112, "G", [app("37", "2014-05-01", signedDate="2014-06-01", appTransactionID="1"), app("130", "2015-06-20", signedDate="2015-06-30", appTransactionID="1")])
_113 = {"eras": [PAID, freemium(iOS={"build": "120.0", "at": "2015-06-10T18:00:00Z"}, macOS=_MACOS)]}
row(113, "D", app("120"), policy=_113)
row(113, "G", app("1.10", originalPlatform="macOS"), policy=_113)
row(113, "D", app("10.1", originalPlatform="macOS"), policy=_113)
row(114, "G?", app(None, "2015-06-10T17:59:59Z"), policy=SHARP)
row(114, "G!", app(None, "2015-06-10T17:59:57Z"), policy=SHARP)
_115 = {"releases": listed(("110", "2015-06-01"), ("111", "2015-06-10"))}
row(115, "G?", app("110"), policy=_115)
row(115, "G!", app("110"), policy={"releases": listed(("110", "2015-06-01"), ("111", "2015-06-08"))})
_116 = receipt(None, "2014-11-01")
row(116, {"cloud": "G 2016-06-12T18:00Z"}, _116)
row(116, {"cloud": "G 2016-06-10T18:00Z"}, _116, policy=STRICT)
row(117, "G 2016-01-01T00:00Z", R1, policy=honors({"era": "paid", "for": "P1Y", "until": "2016-01-01T00:00:00Z"}))
row(118, {"cloud": "U support"}, TEST, policy={"testEnvironments": "owner"}, **SANDBOX)
_119 = [PAID, {"name": "promo", "model": "free", "begins": {"iOS": {"build": "120", "at": "2015-05-10T18:00:00Z"}}, "changeover": _WINDOW}, freemium()]
row(119, "D", app("120"), policy={"eras": _119})
row(119, "G?", app("120"), policy=honors("promo", eras=_119))
_120 = {**SHARP, **STRICT, "entitlements": {"cloud": {"honors": [{"era": "paid", "for": "P1Y"}, "freemium"]}}}
row(120, {"cloud": "G 2016-06-12T18:00Z"}, receipt(None, "2015-06-11T20:00Z"), policy=_120)

# Read from the text by a second implementation
_121 = {"releases": listed(("119", "2015-05-01"), ("120", "2015-06-10"))}
row(121, "D", app("120"), policy=_121)
row(121, "G!", app("119"), policy=_121)
_122 = {"releases": listed(("36", None), ("37", "2014-05-01"), ("38", None), ("130", "2015-06-20"), ("131", None))}
row(122, "G!", app("36"), policy=_122)
row(122, "G?", app("38"), policy=_122)
row(122, "U", app("38"), policy={**_122, **STRICT})
row(122, "D", app("131"), policy=_122)
row(123, "G", app("1.10", originalPlatform="macOS"), policy=_121)
row(124, "G?", receipt("1.5"), policy=RESTARTED)
_125 = [PAID, {"name": "promo", "model": "free", "begins": {"iOS": {"build": "100", "at": "2015-01-10T18:00:00Z"}}, "changeover": _WINDOW}, freemium()]
_125_APP = app("1.0", "2015-02-01", originalPlatform="macOS")
row(125, "D", _125_APP, policy=honors("promo", eras=_125))
row(125, "G!", _125_APP, policy=honors("paid", eras=_125, **STRICT))
row(126, "U support", app("1.0", "2014-05-01", originalPlatform="macOS"), policy=IOS_ONLY)
row(127, "G!", [R38, again("2015-05-01"), again("2016-05-01")], now=LATER)
row(128, "U appTransaction refreshedReceipt", app("110"), policy={**_115, **STRICT})
row(129, "G!", R1, policy=honors({"era": "paid", "until": "2016-01-01"}, {"era": "paid", "boughtBefore": "2014-06-01"}, **STRICT))
row(130, {"cloud": "G 2016-06-12T18:00Z"}, _116, now="2016-06-11T12:00Z")
row(130, {"cloud": "U"}, _116, now="2016-06-11T12:00Z", policy=STRICT)
row(131, "G", [app("1.x", signedDate="2015-01-01", appTransactionID="1"), app("37", signedDate="2015-02-01", appTransactionID="1")])
row(132, "D", NEW, transactions=[{"productID": "all", "environment": "Sandbox"}])
row(133, "D", app("120", "2015-07-01"), policy={"entitlements": {"everything": {"products": None}}}, purchasesComplete=False)
_REVOKED = {"revocation": "everything", "date": "2015-01-10"}
row(134, "D", R1, policy=HONORS_NOTHING, promises=PROMISE, support=[_REVOKED])
row(134, "G", R1, policy=HONORS_NOTHING, promises=PROMISE, support=[_REVOKED, {"grant": "everything", "date": "2015-02-01", "until": "2015-03-01"}])
row(135, "U support", TEST, policy=honors("freemium", {"era": "paid", "for": "P1Y"}, testEnvironments="owner"), **SANDBOX)
row(136, "G", [{**R69, "downloadID": "1"}, receipt("37", "2014-05-01", signedDate="2015-02-01", downloadID="1")])
row(136, "D", [{**R69, "downloadID": "1"}, app("37", "2014-05-01", signedDate="2015-02-01")])
row(137, "U support", [R38, again("2015-06-10T17:59:59Z")], policy=SHARP)
row(137, "G!", [R38, again("2015-06-10T17:59:57Z")], policy=SHARP)
_138 = honors({"era": "paid", "for": "P1M"}, **SHARP)
_138_APP = [app(None, "2014-05-01", revocationDate="2014-06-01", signedDate="2014-06-02", originalPlatform=None),
            app(None, "2014-05-01", signedDate="2015-05-01", originalPlatform=None)]
row(138, "U support", _138_APP, policy=_138, now="2015-07-11")
row(139, "G?", app("37"), policy=_122)
row(139, "U", app("37"), policy={**_122, **STRICT})
row(140, "D", app("121"), policy={"releases": listed(("119", "2015-05-01"), ("120", "2015-06-10"), ("121", "2015-06-10"))})
_141 = {"releases": listed(("119", "2015-05-01"), ("120", None), ("121", "2015-07-01"))}
row(141, "D", app("120"), policy=_141)
row(141, "G!", app("119"), policy=_141)
row(142, "G 2016-06-10T18:00Z", receipt("1.5", "2015-06-11T20:00Z"), policy=honors({"era": "paid", "for": "P1Y"}, **SHARP, **STRICT))
row(143, "G!", [app(None, "2014-05-01", originalPlatform="tvOS", appTransactionID="1", signedDate="2014-06-01"),
                app("1.9", "2014-05-01", originalPlatform="macOS", appTransactionID="1", signedDate="2014-07-01")])

# The text doesn't number these. A5: several eras begin with one version, which the list has without a date.
_TWICE = {**STRICT, "eras": [
    {"name": "free", "model": "free"},
    {"name": "paid", "model": "paid", "begins": {"iOS": _IOS}, "changeover": "none"},
    freemium("none", iOS={"build": "120", "at": "2016-06-10T18:00:00Z"}),
]}
_LATE = {**_TWICE, "releases": listed(("130", "2016-03-01"), ("120", None))}
_EARLY = {**_TWICE, "releases": listed(("120", None), ("130", "2016-03-01"))}
_BOTH = {**_TWICE, "releases": listed(("119", "2015-05-01"), ("120", None), ("130", "2016-07-01"))}
row("A5", "D", app("120"), policy=_LATE, now=LATER)
row("A5", "G!", app("130"), policy=_LATE, now=LATER)
row("A5", "G!", app("120"), policy=_EARLY, now=LATER)
row("A5", "U", app("120"), policy=_BOTH, now=LATER)
row("A5", "G!", app("120", "2015-08-01"), policy=_BOTH, now=LATER)
