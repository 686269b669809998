import TenureCore

extension HTMLReport {
    /// Writes the section about customers who lose an entitlement, by cause, the most frequent cause first. Only the
    /// lists of customers are collapsed, because a printed page doesn't show what is collapsed.
    mutating func writeLosses() {
        page.element("h2", "Who loses, and why")
        guard report.tally.losing > 0 else {
            page.element("p", "No customer loses anything.")
            return
        }
        let causes = report.entitlements
            .flatMap { entitlement in entitlement.tally.sortedLosses.map { (entitlement.name, $0.cause, $0.group) } }
            .enumerated().sorted { ($1.element.2.count, $0.offset) < ($0.element.2.count, $1.offset) }.map(\.element)
        for (name, cause, group) in causes { write(name, cause, group) }
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
        page.markup("<div class=\"cause\"><div class=\"amount\">\(group.count.grouped)</div><div>")
        page.markup("<p><b>\(who.htmlEscaped)</b></p>")
        page.markup(
            "<p>lose\(group.count == 1 ? "s" : "") <code>\(entitlement.htmlEscaped)</code>. Before: \(words(cause.before)). Now: \(words(cause.now, without: group.removedProducts)).</p>"
        )
        writeExamples(of: group)
        page.markup("</div></div>")
    }

    /// Returns the HTML that describes an answer, such as "denied, got the app in an era that isn't honored".
    ///
    /// - Parameter products: the products that granted the entitlement under the old policy, and that the new policy
    ///   doesn't list.
    private func words(_ answer: EntitlementTally.OutcomeReason, without products: Set<String> = []) -> String {
        let cause = products.isEmpty ? "" : "\(products.removal), and "
        return "\(answer.outcome.words), \(cause)\(answer.reason.phrase)".htmlWithCode
    }

    /// Writes a collapsed list of some customers who lose the entitlement for this cause.
    private mutating func writeExamples(of group: LossGroup) {
        let examples = group.examples.all
        guard !examples.isEmpty else { return }
        page.markup("<details><summary>\(examples.count.grouped("example"))</summary><ul>")
        for example in examples {
            var facts = [names[example]]
            if let version = example.originalAppVersion {
                let noun = example.platform?.versionKey.rawValue ?? "version"
                facts.append("\(noun) \(version)")
            }
            if let date = example.originalPurchaseDate { facts.append("got the app on \(CivilDay(of: date).inWords)") }
            if let until = example.now.until { facts.append("now ends on \(CivilDay(of: until).inWords)") }
            page.element("li", facts.joined(separator: ", "))
        }
        page.markup("</ul></details>")
    }
}

extension Decision.Outcome {
    /// The outcome as text on the page.
    var words: String {
        switch self {
        case .granted: "granted"
        case .denied: "denied"
        case .undetermined: "can’t be determined"
        }
    }
}
