import Foundation
import Logging
import TenureJSON

/// Decides what `SigningKeyWatch` logs: each change once, and each warning once a day.
struct SigningKeyLog {
    /// A line to log.
    struct Line: Hashable {
        let level: Logger.Level
        let message: String
    }

    /// The warnings begin this many seconds before the end of the signing period.
    static let notice: TimeInterval = 30 * 86_400
    private static let day: TimeInterval = 86_400

    /// The ID of the key in use, and the failure to read the key file, that were logged last.
    private var id: String
    private var failure: ServiceError?
    /// The time of the last warning about the key in use; nil if there was no warning.
    private var warnedAt: Date?

    init(_ id: String) { self.id = id }

    /// Returns the lines to log about the keys now.
    mutating func lines(about keys: SigningKeySet, _ failure: ServiceError?, at now: Date) -> [Line] {
        var lines: [Line] = []
        if keys.id != id {
            id = keys.id
            warnedAt = nil
            lines.append(Line(level: .notice, message: "now signing with the key `\(id)`"))
        }
        if failure != self.failure {
            self.failure = failure
            if let failure { lines.append(Line(level: .error, message: "\(failure); the previous keys stay in use")) }
        }
        // If the clock was set back, the last warning is in the future.
        let sinceWarning = abs(now.timeIntervalSince(warnedAt ?? .distantPast))
        if let warning = Self.warning(about: keys, at: now), sinceWarning >= Self.day {
            warnedAt = now
            lines.append(warning)
        }
        return lines
    }

    /// The warning if no tokens can be signed now, or soon.
    private static func warning(about keys: SigningKeySet, at now: Date) -> Line? {
        let fix = """
            sign the key in use with `tenure signing-key root sign`, and install the result with \
            `tenure signing-key install`
            """
        let reason: String
        switch keys.period {
        case .unlimited: return nil
        case .notSigned: reason = "the offline root hasn't signed the key in use; \(fix)"
        case .outdated:
            reason = """
                another process has a newer signing key; copy its `signing-key.json` to this process's folder of keys
                """
        case .until(let end) where end <= now: reason = "the signing period ended on \(end.rfc3339); \(fix)"
        case .until(let end):
            guard end <= now.addingTimeInterval(notice) else { return nil }
            return Line(
                level: .warning,
                message: "the signing period ends on \(end.rfc3339), and then no entitlement tokens are issued; \(fix)")
        }
        return Line(level: .error, message: "no entitlement tokens are issued: \(reason)")
    }
}
