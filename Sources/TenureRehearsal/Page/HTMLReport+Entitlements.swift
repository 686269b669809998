import TenureCore

extension HTMLReport {
    /// The number of charts that the page shows when it opens. The charts of further entitlements are collapsed.
    private static let maximumPanels = 12

    /// Writes a section for each entitlement: the counts, the charts, the reasons and the changes.
    mutating func writeEntitlements() {
        let panels = report.tally.entitlements.indices.map { PlatformPanel.all(report, entitlement: $0) }
        // Show the charts of entitlements with changes first.
        let order = panels.indices.sorted { left, right in
            let changes = (
                report.tally.byEntitlement[left].counts.changed, report.tally.byEntitlement[right].counts.changed
            )
            return changes.0 != changes.1 ? changes.0 > changes.1 : left < right
        }
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
        page.element("h2", name)
        page.markup(tally.counts.bar(isCompared: isCompared))
        page.markup("<div class=\"legend\">")
        for part in BarPart.allCases where isCompared || part != .gains && part != .loses {
            let count = tally.counts.count(part)
            page.markup(
                "<span><i class=\"\(part.rawValue)\"></i>\(part.label(isCompared: isCompared)) <b>\(count.grouped)</b> (\(count.share(of: customers).htmlEscaped))</span>"
            )
        }
        if panels.contains(where: \.hasChangeover) {
            page.markup("<span><i class=\"changeover\"></i>changeover window</span>")
        }
        page.markup("</div>")
        if !panels.isEmpty {
            if !isOpen { page.markup("<details><summary>By platform</summary>") }
            page.markup("<div class=\"panels\">")
            for panel in panels { page.markup(panel.markup) }
            page.markup("</div>")
            if !isOpen { page.markup("</details>") }
        }
        writeReasons(tally)
        if isCompared { writeTransitions(tally) }
    }

    /// Writes a table of the outcomes under the new policy, with their reasons.
    private mutating func writeReasons(_ tally: EntitlementTally) {
        page.markup(
            "<table><thead><tr><th class=\"number\">Customers</th><th class=\"number\">Share</th><th>Outcome now, and why</th></tr></thead><tbody>"
        )
        for (key, count) in tally.sortedReasons {
            page.markup(
                "<tr><td class=\"number\">\(count.grouped)</td><td class=\"number\">\(count.share(of: customers).htmlEscaped)</td><td>\(key.outcome.words.htmlEscaped): \(key.reason.phrase.htmlWithCode)\(changes(of: key, in: tally))</td></tr>"
            )
        }
        page.markup("</tbody></table>")
    }

    /// Returns how many customers in a row of the table of reasons gain or lose the entitlement, as text after the
    /// reason. The row counts them by their outcome under the new policy, but the legend counts them as gaining or
    /// losing.
    private func changes(of key: EntitlementTally.OutcomeReason, in tally: EntitlementTally) -> String {
        let parts = [Change.loses, .gains].compactMap { change -> String? in
            let count = tally.transitions.reduce(0) {
                $1.key.now == key && $1.key.change == change ? $0 + $1.value : $0
            }
            guard count > 0 else { return nil }
            let end = change == .loses && key.outcome == .granted ? ", by an earlier end" : ""
            return "\(count.grouped) of them \(change.phrase(of: count))\(end)"
        }
        return parts.isEmpty ? "" : " <span class=\"soft\">(\(parts.joined(separator: "; ").htmlEscaped))</span>"
    }

    /// Writes a collapsed list of all changes, with the outcome and the reason before and now.
    private mutating func writeTransitions(_ tally: EntitlementTally) {
        guard !tally.transitions.isEmpty else { return }
        page.markup("<details><summary>Every change, with its reasons</summary><ul class=\"changes\">")
        for (key, count) in tally.sortedTransitions {
            let before = "\(key.before.outcome.words), \(key.before.reason.phrase)"
            let now = "\(key.now.outcome.words), \(key.now.reason.phrase)"
            page.markup(
                "<li><b>\(count.grouped)</b> \(key.change.phrase(of: count).htmlEscaped). Before: \(before.htmlWithCode). Now: \(now.htmlWithCode).</li>"
            )
        }
        page.markup("</ul></details>")
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
