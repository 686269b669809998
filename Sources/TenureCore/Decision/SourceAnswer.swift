import Foundation

/// Whether one source (an acquisition, a product, support, a promise) gives one entitlement, and until when.
enum SourceAnswer {
    /// The source gives the entitlement until this time. Nil if the source gives it permanently.
    case gives(until: Date?, Finding)
    /// The evidence isn't sufficient to tell whether the source gives the entitlement.
    case undetermined(Finding)
    /// The source doesn't give the entitlement.
    case nothing(Finding)

    /// The reason for the answer.
    var finding: Finding {
        switch self {
        case .gives(_, let finding), .undetermined(let finding), .nothing(let finding): finding
        }
    }

    /// Returns the answer that is better for the customer. If both are equally good, returns the first answer.
    static func best(_ first: SourceAnswer?, _ second: SourceAnswer?) -> SourceAnswer? {
        guard let second else { return first }
        guard let first else { return second }
        return second.isBetter(than: first) ? second : first
    }

    /// Returns this answer with an end no later than this time.
    func ending(at end: Date?) -> SourceAnswer {
        guard let end, case .gives(let until, let finding) = self, until.outlasts(end) else { return self }
        return .gives(until: end, finding)
    }

    /// Whether both answers give nothing, and only the other's reason is that no possible era is honored. Any other
    /// reason, such as an honor that has ended, tells the customer more.
    func isMoreInformative(than other: SourceAnswer) -> Bool {
        guard case .nothing(let mine) = self, case .nothing(.eraNotHonored) = other else { return false }
        if case .eraNotHonored = mine { return false }
        return true
    }

    /// Whether this is better for the customer: it gives the right for longer, or is undetermined instead of nothing.
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
    /// Whether this end of a right is later than the other end; nil means permanent.
    func outlasts(_ other: Date?) -> Bool {
        guard let other else { return false }
        guard let self else { return true }
        return self > other
    }

    /// Whether a right with this end is still valid. At the time of its end, the right isn't valid anymore.
    func holds(at now: Date) -> Bool {
        self.map { now < $0 } ?? true
    }
}
