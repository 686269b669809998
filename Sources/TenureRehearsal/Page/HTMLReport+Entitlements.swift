import TenureCore

/// The sections of the page about entitlements: who loses one and why, then the counts and charts of each.
extension HTMLReport {
    /// Writes the section about customers who lose an entitlement, by cause, the most frequent cause first. Only the
    /// lists of customers are collapsed: collapsed text is missing in print.
    mutating func writeLosses() {
        element("h2", "Who loses, and why")
        guard report.tally.losing > 0 else {
            element("p", "No customer loses anything.")
            return
        }
        let losses = report.entitlements.flatMap { name, tally in
            tally.sortedLosses.map { (entitlement: name, cause: $0.cause, group: $0.group) }
        }
        for loss in losses.sorted(by: { $0.group.count > $1.group.count }) {
            write(loss.entitlement, loss.cause, loss.group)
        }
    }

    /// Writes one cause: how many customers lose the entitlement, who they are, and why.
    private mutating func write(_ entitlement: String, _ cause: LossCause, _ group: LossGroup) {
        // Describe the platform, the versions and the months of the customers who lose.
        var who = group.count == 1 ? "customer" : "customers"
        who += cause.platform.map { " on \($0.rawValue)" } ?? " on an unknown platform"
        if let versions = group.versions { who += ", \(versions.phrase(on: cause.platform))" }
        if let months = group.months {
            who +=
                months.lowerBound == months.upperBound
                ? ", who got the app in \(months.lowerBound.title)"
                : ", who got the app from \(months.lowerBound.title) to \(months.upperBound.title)"
        }
        markup("<div class=\"cause\"><div class=\"amount\">\(group.count.grouped)</div><div>")
        markup("<p><b>\(who.htmlEscaped)</b></p>")
        markup(
            "<p>lose\(group.count == 1 ? "s" : "") <code>\(entitlement.htmlEscaped)</code>. Before: \(words(cause.before)). Now: \(words(cause.now, without: group.removedProducts)).</p>"
        )
        writeExamples(of: group)
        markup("</div></div>")
    }

    /// Returns the HTML that describes an answer, such as "denied, got the app in an era that isn't honored".
    ///
    /// - Parameter products: the products that granted the entitlement under the old policy, and that the new policy
    ///   doesn't list.
    private func words(_ answer: Answer, without products: Set<String> = []) -> String {
        let cause = products.isEmpty ? "" : "\(products.removal), and "
        return "\(answer.outcome.words), \(cause)\(answer.reason.phrase)".htmlWithCode
    }

    /// Writes a collapsed list of some customers who lose the entitlement for this cause.
    private mutating func writeExamples(of group: LossGroup) {
        let examples = group.examples.all
        guard !examples.isEmpty else { return }
        markup("<details><summary>\(examples.count.grouped("example"))</summary><ul>")
        for example in examples {
            var facts = [names[example]]
            if let version = example.originalAppVersion {
                let noun = example.platform?.versionKey.rawValue ?? "version"
                facts.append("\(noun) \(version)")
            }
            if let date = example.originalPurchaseDate { facts.append("got the app on \(CivilDay(of: date).inWords)") }
            if let until = example.now.until { facts.append("now ends on \(CivilDay(of: until).inWords)") }
            element("li", facts.joined(separator: ", "))
        }
        markup("</ul></details>")
    }

    /// The number of charts that the page shows when it opens. The charts of further entitlements are collapsed.
    private static let maximumPanels = 12

    /// Writes a section for each entitlement: the counts, the charts, the reasons and the changes.
    mutating func writeEntitlements() {
        let panels = report.tally.entitlements.indices.map { PlatformPanel.all(report, entitlement: $0) }
        // Show the charts of the entitlements with the most changes, as far as they fit. The first always fits.
        let changed = report.tally.byEntitlement.map(\.counts.changed)
        let order = panels.indices.sorted { changed[$0] > changed[$1] }
        var panelsLeft = Self.maximumPanels
        var open: Set<Int> = []
        for index in order where open.isEmpty || panels[index].count <= panelsLeft {
            open.insert(index)
            panelsLeft -= panels[index].count
        }
        for (index, name) in report.tally.entitlements.enumerated() {
            write(name, report.tally.byEntitlement[index], panels[index], isOpen: open.contains(index))
        }
        for (name, tally) in report.tally.promisedOnly.sorted(by: { $0.key < $1.key }) {
            write(name, tally, [], isOpen: true)
        }
    }

    /// Writes the section of one entitlement.
    ///
    /// - Parameter isOpen: whether the page shows the charts when it opens. Otherwise they are collapsed.
    private mutating func write(_ name: String, _ tally: EntitlementTally, _ panels: [PlatformPanel], isOpen: Bool) {
        element("h2", name)
        markup(tally.counts.bar(isCompared: isCompared))
        markup("<div class=\"legend\">")
        for part in BarPart.allCases where isCompared || (part != .gains && part != .loses) {
            let count = tally.counts.count(part)
            markup(
                "<span><i class=\"\(part.rawValue)\"></i>\(part.label(isCompared: isCompared)) <b>\(count.grouped)</b> (\(count.share(of: customers).htmlEscaped))</span>"
            )
        }
        if panels.contains(where: \.hasChangeover) {
            markup("<span><i class=\"changeover\"></i>changeover window</span>")
        }
        markup("</div>")
        if !panels.isEmpty {
            if !isOpen { markup("<details><summary>By platform</summary>") }
            markup("<div class=\"panels\">")
            for panel in panels { markup(panel.markup) }
            markup("</div>")
            if !isOpen { markup("</details>") }
        }
        writeReasons(tally)
        if isCompared { writeTransitions(tally) }
    }

    /// Writes a table of the outcomes under the new policy, with their reasons.
    private mutating func writeReasons(_ tally: EntitlementTally) {
        markup(
            "<table><thead><tr><th class=\"number\">Customers</th><th class=\"number\">Share</th><th>Outcome now, and why</th></tr></thead><tbody>"
        )
        for (key, count) in tally.sortedReasons {
            markup(
                "<tr><td class=\"number\">\(count.grouped)</td><td class=\"number\">\(count.share(of: customers).htmlEscaped)</td><td>\(key.outcome.words.htmlEscaped): \(key.reason.phrase.htmlWithCode)\(changes(of: key, in: tally))</td></tr>"
            )
        }
        markup("</tbody></table>")
    }

    /// Returns how many customers in a row of the table of reasons gain or lose the entitlement, as text after the
    /// reason. The row counts them by their outcome under the new policy, but the legend counts them as gaining or
    /// losing.
    private func changes(of key: Answer, in tally: EntitlementTally) -> String {
        let parts = [Change.loses, .gains].compactMap { change -> String? in
            let transitions = tally.transitions.filter { $0.key.now == key && $0.key.change == change }
            let count = transitions.values.reduce(0, +)
            guard count > 0 else { return nil }
            let end = change == .loses && key.outcome == .granted ? ", because it ends earlier" : ""
            return "\(count.grouped) of them \(change.phrase(of: count))\(end)"
        }
        return parts.isEmpty ? "" : " <span class=\"soft\">(\(parts.joined(separator: "; ").htmlEscaped))</span>"
    }

    /// Writes a collapsed list of all changes, with the outcome and the reason before and now.
    private mutating func writeTransitions(_ tally: EntitlementTally) {
        guard !tally.transitions.isEmpty else { return }
        markup("<details><summary>Every change, with its reasons</summary><ul class=\"changes\">")
        for (key, count) in tally.sortedTransitions {
            let before = "\(key.before.outcome.words), \(key.before.reason.phrase)"
            let now = "\(key.now.outcome.words), \(key.now.reason.phrase)"
            markup(
                "<li><b>\(count.grouped)</b> \(key.change.phrase(of: count).htmlEscaped). Before: \(before.htmlWithCode). Now: \(now.htmlWithCode).</li>"
            )
        }
        markup("</ul></details>")
    }
}

extension Change {
    /// Returns the change as words that follow a number of customers, such as `lose it` or `have another reason`.
    fileprivate func phrase(of count: Int) -> String {
        let isOne = count == 1
        return switch self {
        case .gains: isOne ? "gains it" : "gain it"
        case .loses: isOne ? "loses it" : "lose it"
        case .changesOutcome: isOne ? "has another outcome" : "have another outcome"
        case .changesReason: isOne ? "has another reason" : "have another reason"
        case .same: isOne ? "stays the same" : "stay the same"
        }
    }
}

extension Decision.Outcome {
    /// The outcome as text on the page.
    var words: String { self == .undetermined ? "can’t be determined" : rawValue }
}
