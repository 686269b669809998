import Foundation

/// Whether one source (an acquisition of the app, a product, support, a promise) gives one entitlement, and until when.
enum SourceAnswer {
    /// The source gives the entitlement until this time. Nil if the source gives it permanently.
    case granted(until: Date?, Finding)
    /// The evidence isn't sufficient to tell whether the source gives the entitlement.
    case undetermined(Finding)
    /// The source doesn't give the entitlement.
    case notGranted(Finding)

    /// The reason for the answer.
    var finding: Finding {
        switch self {
        case .granted(_, let finding), .undetermined(let finding), .notGranted(let finding): finding
        }
    }

    /// Returns the answer that is better for the customer. If both answers are equally good, returns the first answer.
    static func best(_ first: SourceAnswer?, _ second: SourceAnswer?) -> SourceAnswer? {
        guard let second else { return first }
        guard let first else { return second }
        return second.isBetter(than: first) ? second : first
    }

    /// Returns this answer with an end no later than `end`. Without an end (nil), the answer doesn't change.
    func ending(at end: Date?) -> SourceAnswer {
        guard let end, case .granted(let until, let finding) = self, until.outlasts(end) else { return self }
        return .granted(until: end, finding)
    }

    /// Whether both answers give nothing, and only the other answer has the reason `eraNotHonored`. Any other reason,
    /// such as an honor that has ended, tells the customer more.
    func isMoreInformative(than other: SourceAnswer) -> Bool {
        guard case .notGranted(let mine) = self, case .notGranted(.eraNotHonored) = other else { return false }
        if case .eraNotHonored = mine { return false }
        return true
    }

    /// Whether this answer is better for the customer than the other answer. A grant is better than an undetermined
    /// answer, which is better than an answer that gives nothing. Of two grants, the grant with the later end is
    /// better.
    func isBetter(than other: SourceAnswer) -> Bool {
        switch (self, other) {
        case (.granted(let mine, _), .granted(let others, _)): mine.outlasts(others)
        case (.granted, _): true
        case (.undetermined, .notGranted): true
        default: false
        }
    }

    /// Returns a grant with another reason. Other answers don't change.
    func explained(by finding: Finding) -> SourceAnswer {
        guard case .granted(let until, _) = self else { return self }
        return .granted(until: until, finding)
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
    func isStillValid(at now: Date) -> Bool { self.map { now < $0 } ?? true }
}
