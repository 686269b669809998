/// A group of customers with its own color in the bars of a rehearsal's HTML report. The groups differ in what happens
/// to the right to one entitlement.
///
/// The raw value is the CSS class. The cases are in their order in a bar, from the bottom up or from the left.
enum BarPart: String, CaseIterable {
    case granted
    case gains
    case undetermined
    case denied
    case loses

    /// Returns the text in the legend.
    ///
    /// - Parameter isCompared: whether there is an old policy. Otherwise no customer gains, loses or keeps an
    ///   entitlement.
    func label(isCompared: Bool) -> String {
        switch self {
        case .granted: isCompared ? "keeps it" : "has it"
        case .gains: "gains it"
        case .undetermined: "can’t be determined"
        case .denied: "doesn’t have it"
        case .loses: "loses it"
        }
    }
}

extension Counts {
    /// Returns the number of customers in a part. Each customer is in one part. Customers who lose the entitlement are
    /// in `loses`, and not in the part of their new outcome. This includes customers who are still granted the
    /// entitlement, but for a shorter time (`shortened`).
    func count(_ part: BarPart) -> Int {
        switch part {
        case .granted: granted - gains - shortened
        case .gains: gains
        case .undetermined: undetermined - losesToUndetermined
        case .denied: denied - (loses - shortened - losesToUndetermined)
        case .loses: loses
        }
    }

    /// Returns the parts that have customers as text, such as `keeps it 12, loses it 3`.
    func words(isCompared: Bool) -> String {
        BarPart.allCases.filter { count($0) > 0 }
            .map { "\($0.label(isCompared: isCompared)) \(count($0).grouped)" }.joined(separator: ", ")
    }

    /// Returns the markup of a bar with all parts side by side. Its width is `share` percent.
    func bar(isCompared: Bool, share: Double = 100) -> String {
        var markup = ""
        for part in BarPart.allCases where count(part) > 0 {
            let width = total == 0 ? 0 : Double(count(part)) / Double(total) * share
            markup += "<i class=\"\(part.rawValue)\" style=\"width:\(width.svg)%\"></i>"
        }
        return "<span class=\"parts\" title=\"\(words(isCompared: isCompared).htmlEscaped)\">\(markup)</span>"
    }
}
