import TenureCore

/// A part of the customers in every chart of the page. Each part has one color, which means nothing else.
enum Part: String, CaseIterable {
    // From the baseline of a chart upward.
    case granted
    case gains
    case undetermined
    case denied
    case loses

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
    /// Returns the number of customers in a part. Each customer is in one part. Customers who lose it are only in `loses`,
    /// whatever their outcome is now.
    func count(_ part: Part) -> Int {
        switch part {
        case .granted: granted - gains - shortened
        case .gains: gains
        case .undetermined: undetermined - doubted
        case .denied: denied - (loses - shortened - doubted)
        case .loses: loses
        }
    }

    /// The parts with customers, such as `keeps it 12, loses it 3`.
    func words(isCompared: Bool) -> String {
        Part.allCases.filter { count($0) > 0 }
            .map { "\($0.label(isCompared: isCompared)) \(count($0).grouped)" }.joined(separator: ", ")
    }
}

extension Counts {
    /// Markup of a bar with the parts side by side, together `share` percent wide.
    func bar(isCompared: Bool, share: Double = 100) -> String {
        var markup = ""
        for part in Part.allCases where count(part) > 0 {
            let width = total == 0 ? 0 : Double(count(part)) / Double(total) * share
            markup += "<i class=\"\(part.rawValue)\" style=\"width:\(width.svg)%\"></i>"
        }
        return "<span class=\"parts\" title=\"\(words(isCompared: isCompared).htmlEscaped)\">\(markup)</span>"
    }
}
