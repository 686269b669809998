import TenureCore

/// What happens to customers, as every chart of a page shows it: one color for each, and no color for anything else.
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
    /// Each customer is in one part: a customer who loses it is in no other, whatever the outcome is now.
    func count(_ part: Part) -> Int {
        switch part {
        case .granted: granted - gains - shortened
        case .gains: gains
        case .undetermined: undetermined - doubted
        case .denied: denied - (loses - shortened - doubted)
        case .loses: loses
        }
    }

    /// `keeps it 12, loses it 3`: the parts that exist.
    func words(isCompared: Bool) -> String {
        Part.allCases.filter { count($0) > 0 }
            .map { "\($0.label(isCompared: isCompared)) \(count($0).grouped)" }.joined(separator: ", ")
    }
}

extension Counts {
    /// The parts side by side, `share` percent wide together.
    func bar(isCompared: Bool, share: Double = 100) -> String {
        var markup = ""
        for part in Part.allCases where count(part) > 0 {
            let width = total == 0 ? 0 : Double(count(part)) / Double(total) * share
            markup += "<i class=\"\(part.rawValue)\" style=\"width:\(width.svg)%\"></i>"
        }
        return "<span class=\"parts\" title=\"\(words(isCompared: isCompared).htmlEscaped)\">\(markup)</span>"
    }
}
