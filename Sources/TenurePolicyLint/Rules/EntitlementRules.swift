import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// The rules about entitlements: their products, trials, and honors (the eras for which they are given).
extension LintRule {
    /// Finds an entitlement that customers get neither by a product nor by the `Era` in which they got the app. Only
    /// support can grant it.
    static let entitlementWithoutSource = LintRule(
        "entitlement-without-source", .error, "an entitlement without products and without honored eras",
        rationale:
            "Customers who pay for such an entitlement get nothing. In one app, a library silently ignored the second registration of an entitlement, which then had no products.",
        fix: "Add `products`, `honors`, or both, or remove the entitlement."
    ) { subject, report in
        for entitlement in subject.entitlements where entitlement.products.isEmpty {
            let applies = (entitlement.honors ?? []).contains { honor in
                subject.eras.firstIndex { $0.name == honor.era }.map { index in
                    subject.platforms.isEmpty || subject.platforms.contains { $0.timeline.eras.contains(index) }
                } ?? false
            }
            guard !applies else { continue }
            let trial = entitlement.trial == nil ? "" : " after its trial"
            report.add(
                at: ["entitlements", .key(entitlement.name)],
                "customers can have `\(entitlement.name.shortened)`\(trial) only by a grant of support: it has no products and honors no era",
                fixes: "add `products`, `honors`, or both, or remove the entitlement")
        }
    }

    /// Finds an honor (an entry under `honors`, which gives an entitlement to the customers of an `Era`) for an era in
    /// which the app was free. The author of the policy may have swapped two eras.
    static let honoredEraFree = LintRule(
        "honored-era-free", .warning, "an honor for an era in which the app was free",
        rationale:
            "One developer swapped a comparison, and all new customers got everything. Customers who came while the app was free haven't paid for anything.",
        fix:
            "List the paid eras under `honors`. Keep a free era only if you promised the entitlement to everyone who got the app in that era."
    ) { subject, report in
        for (entitlement, honor, index, path) in subject.currentHonors where subject.eras[index].model == .free {
            guard !subject.draft.isBroken(["eras", .index(index), "model"]) else { continue }
            // Whether customers still get the entitlement through this honor, today or at a later time.
            let isOpen =
                subject.eras.indices.allSatisfy { $0 <= index || subject.plannedBeginning(of: $0) != nil }
                && (subject.now == .distantFuture || honor.boughtBefore.map { $0 > subject.now } ?? true)
            // When customers begin to get the entitlement, if that is in the future.
            let start = [subject.plannedBeginning(of: index), honor.boughtSince].compactMap { $0 }
                .filter { $0 > subject.now }.max()
            let ends = [
                honor.length.map { "until \($0.inWords) after the end of `\(honor.era)`" },
                honor.until.map { "until \($0.rfc3339)" },
            ].compactMap { $0 }
            let end = ends.isEmpty ? "permanently" : ends.joined(separator: ", at the latest ")
            let customers =
                start.map { "from \($0.rfc3339) on, anyone who installs the app" }
                ?? "anyone who installs the app today"
            let window = honor.boughtSince != nil || honor.boughtBefore != nil ? " within the dates" : ""
            report.add(
                at: path,
                isOpen
                    ? "\(customers)\(window) gets `\(entitlement.name.shortened)` \(end) for nothing: `\(honor.era)` is free\(start == nil ? " and is the current era" : "")"
                    : "everyone who got the app in `\(honor.era)`\(window) has `\(entitlement.name.shortened)` \(end), but the app was free then",
                fixes: .suggestion(
                    "remove `\(honor.era)` from `honors`, or correct the era's `model` if the app was sold then",
                    .remove(path)),
                "honor only eras in which the app was sold, or correct the era's model")
        }
    }

    /// Finds an honor of limited length in an era without a dated end. An honor is an entry under `honors`, which gives
    /// an entitlement to the customers of an `Era`. Its length (`for`) is counted from the end of the era.
    static let honorWithoutEnd = LintRule(
        "honor-without-end", .error, "an honor of limited length in an era without a dated end",
        rationale:
            "The length of an honor (`for`, such as a year) counts from the end of the era. Without the date of that end, it's unknown whether the honor is over.",
        fix: "Add `at` to the next era on every platform, or write `until` instead of `for`."
    ) { subject, report in
        for (entitlement, honor, index, path) in subject.currentHonors {
            guard let length = honor.length else { continue }
            let name = "`\(entitlement.name.shortened)`"
            // The end of what other honors give to all customers of the era: `distantFuture` if it has no end, nil if
            // there are no such honors.
            let othersEnd = subject.lastingHonors(of: entitlement, in: index)
                .filter { $0.length == nil && $0.boughtSince == nil && $0.boughtBefore == nil }
                .map { $0.until ?? Date.distantFuture }.max()
            let addsNothing = othersEnd.map { $0 >= (honor.until ?? Date.distantFuture) } ?? false
            guard index + 1 < subject.eras.count else {
                let end = honor.until.map { "ends only by `until` (\($0.rfc3339))" } ?? "never ends"
                let outcome =
                    addsNothing ? "this honor adds nothing to \(name)" : "until there is a next one, \(name) \(end)"
                let advice =
                    addsNothing
                    ? "leave out this honor" : honor.until == nil ? "also write `until`" : "leave out `for`"
                report.add(
                    at: path, severity: .warning,
                    "`for` (\(length.inWords)) counts from the end of `\(honor.era)`, which is the last era: \(outcome)",
                    fixes: "\(advice), or acknowledge this finding if it is intended")
                continue
            }
            let undated = subject.platforms.filter {
                $0.timeline.eras.contains(index) && $0.timeline.era(after: index) != nil
                    && $0.timeline.end(of: index) == nil
            }
            guard subject.platforms.isEmpty || !undated.isEmpty else { continue }
            let outcome =
                addsNothing
                ? "this honor adds nothing to \(name)"
                : "\(name) is undetermined\(othersEnd.map { " from \($0.rfc3339) on" } ?? "")"
            let places = undated.map(\.platform.rawValue).joined(separator: " and ")
            report.add(
                at: path,
                "`for` (\(length.inWords)) counts from the beginning of \(subject.name(index + 1)), which has no `at`\(places.isEmpty ? ":" : " on \(places): there") \(outcome) for everybody who got the app in `\(honor.era)`",
                fixes:
                    "add `at` to \(subject.name(index + 1))\(places.isEmpty ? "" : " on \(places)"), or end the honor with `until` instead of `for`"
            )
        }
    }

    /// Finds an honor with dates outside its era, so that some or all customers get nothing. An honor is an entry under
    /// `honors`, which gives an entitlement to the customers of an `Era`, possibly only if they bought the app between
    /// two dates.
    static let honorWindowOutsideEra = LintRule(
        "honor-window-outside-era", .error,
        "an honor with dates that no customer of its era can meet, or that ends before its era does",
        rationale: "In one app, a window for recent buyers had the wrong year, so no customer got what was announced.",
        fix: "Correct `boughtSince`, `boughtBefore` or `until`, or honor the era that contains these dates."
    ) { subject, report in
        for (entitlement, honor, index, path) in subject.currentHonors {
            let sales = subject.platforms.filter { $0.timeline.eras.contains(index) }.map { $0.sale(ofEra: index) }
            guard let begin = sales.map(\.begin).min(), let end = sales.map(\.end).max() else { continue }
            let era = "`\(honor.era)`"
            let name = "`\(entitlement.name.shortened)`"
            if let since = honor.boughtSince, since >= end {
                report.add(
                    at: path + ["boughtSince"],
                    "no customer can get \(name) through this honor: \(era) ended everywhere by \(end.rfc3339), before `boughtSince` (\(since.rfc3339))",
                    fixes: "correct `boughtSince`: it must be within \(era)")
            } else if let before = honor.boughtBefore, before <= begin {
                report.add(
                    at: path + ["boughtBefore"],
                    "no customer can get \(name) through this honor: \(era) begins at \(begin.rfc3339), which isn't before `boughtBefore` (\(before.rfc3339))",
                    fixes: "correct `boughtBefore`: it must be within \(era)")
            } else if let until = honor.until, until <= begin {
                report.add(
                    at: path + ["until"],
                    "no customer ever has \(name) through this honor: it ends (`until`) at \(until.rfc3339), and \(era) begins at \(begin.rfc3339)",
                    fixes: "correct `until`: it must be after the beginning of \(era)")
            } else if let until = honor.until, end != .distantFuture, until < end {
                report.add(
                    at: path + ["until"], severity: .warning,
                    "\(name) ends (`until`) at \(until.rfc3339), but \(era) lasts until \(end.rfc3339): customers who buy in between don't get it",
                    fixes: "correct `until`: it must be after the era's end")
            }
        }
    }

    /// Finds a product that grants only entitlements that all customers already have.
    static let productGivesNothing = LintRule(
        "product-gives-nothing", .warning, "a product with only entitlements that all customers have anyway",
        rationale:
            "A customer of one app was charged for something that they had always owned, and asked for a refund in public.",
        fix: "In `honors`, remove the eras of the customers who should buy the product, or stop selling the product."
    ) { subject, report in
        let owned = Set(subject.entitlements.filter(subject.isPermanentForAll).map(\.name))
        guard !owned.isEmpty else { return }
        var givingNames: [String: [String]] = [:]
        for entitlement in subject.entitlements {
            for product in Set(entitlement.products.map(\.id)) {
                givingNames[product, default: []].append(entitlement.name)
            }
        }
        var reported: Set<String> = []
        for entitlement in subject.entitlements where owned.contains(entitlement.name) {
            for (number, product) in entitlement.products.enumerated() {
                let giving = givingNames[product.id] ?? []
                guard giving.allSatisfy(owned.contains), reported.insert(product.id).inserted else { continue }
                report.add(
                    at: ["entitlements", .key(entitlement.name), "products", .index(number)],
                    "customers who buy `\(product.id.shortened)` get nothing new: customers of every era already have \(inWords(giving))",
                    fixes:
                        "in `honors`, remove the eras of the customers who should buy the product, or stop selling the product"
                )
            }
        }
    }

    /// Finds a trial of an entitlement that all customers already have, because it honors every era without limits.
    static let trialForEverybody = LintRule(
        "trial-for-everybody", .warning, "a trial of an entitlement that everyone has",
        rationale: "One app showed an owner the rest of a trial, and the owner asked what they had bought.",
        fix: "Remove the `trial`, or remove the last era from `honors`."
    ) { subject, report in
        for entitlement in subject.entitlements where subject.isPermanentForAll(entitlement) {
            guard let trial = entitlement.trial else { continue }
            report.add(
                at: ["entitlements", .key(entitlement.name), "trial"],
                "no customer needs \(trial.inWords) of trial: `\(entitlement.name.shortened)` is honored for every era (\(subject.eras.map { "`\($0.name.shortened)`" }.joined(separator: ", "))), so everyone who has the app has it",
                fixes: .suggestion(
                    "remove `trial`, or the last era from `honors`",
                    .remove(["entitlements", .key(entitlement.name), "trial"])),
                "remove the trial, or the last era from `honors`")
        }
    }
}

extension CalendarPeriod {
    /// The length for a message, such as `14 days` or `1 year and 6 months`.
    var inWords: String {
        let (years, rest) = months.quotientAndRemainder(dividingBy: 12)
        return [(years, "year"), (rest, "month"), (days, "day")].filter { number, _ in number > 0 }
            .map { number, unit in "\(number) \(unit)\(number == 1 ? "" : "s")" }.joined(separator: " and ")
    }
}
