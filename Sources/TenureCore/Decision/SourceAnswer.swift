import Foundation

/// What one source (an acquisition, a product, support, a promise) gives of one entitlement.
enum SourceAnswer {
    /// `until` nil: for good.
    case gives(until: Date?, Finding)
    case undetermined(Finding)
    case nothing(Finding)

    var finding: Finding {
        switch self {
        case .gives(_, let finding), .undetermined(let finding), .nothing(let finding): finding
        }
    }

    /// The one that serves the customer better; the first where neither does.
    static func best(_ first: SourceAnswer?, _ second: SourceAnswer?) -> SourceAnswer? {
        guard let second else { return first }
        guard let first else { return second }
        return second.isBetter(than: first) ? second : first
    }

    /// The same, but no longer than until that instant.
    func ending(at end: Date?) -> SourceAnswer {
        guard let end, case .gives(let until, let finding) = self, until.outlasts(end) else { return self }
        return .gives(until: end, finding)
    }

    /// Whether both give nothing, and this one had something to lose: that is what a customer asks about.
    func isMoreTelling(than other: SourceAnswer) -> Bool {
        guard case .nothing(let mine) = self, case .nothing(.eraNotHonored) = other else { return false }
        if case .eraNotHonored = mine { return false }
        return true
    }

    /// Whether this serves the customer better than the other: gives longer, or at least leaves hope.
    func isBetter(than other: SourceAnswer) -> Bool {
        switch (self, other) {
        case (.gives(let mine, _), .gives(let others, _)): mine.outlasts(others)
        case (.gives, _): true
        case (.undetermined, .nothing): true
        default: false
        }
    }
}

extension Date? {
    /// As the end of a right: nil is for good.
    func outlasts(_ other: Date?) -> Bool {
        guard let other else { return false }
        guard let self else { return true }
        return self > other
    }

    /// Whether a right with this end still holds: at the instant of its end it no longer does.
    func holds(at now: Date) -> Bool {
        self.map { now < $0 } ?? true
    }
}
