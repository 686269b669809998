import Foundation

/// What one source (an acquisition, a product, support, a promise) gives of one entitlement.
enum SourceAnswer {
    /// `until` nil: for good.
    case gives(until: Date?, Reason)
    case undetermined(Reason)
    case nothing(Reason)

    var reason: Reason {
        switch self {
        case .gives(_, let reason), .undetermined(let reason), .nothing(let reason): reason
        }
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
