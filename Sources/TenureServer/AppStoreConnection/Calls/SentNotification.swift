import Foundation

/// A notification that the App Store once sent, and how that went. Nothing of it is verified yet.
struct SentNotification: Sendable {
    /// A JWS as it was posted; for whoever takes notifications, and verifies them.
    let signedPayload: [UInt8]
    let attempts: [Attempt]

    struct Attempt: Sendable, Hashable {
        let date: Date?
        /// `SUCCESS`, or why not, in Apple's words.
        let result: String?
    }

    init(_ reply: AppStoreReply) throws(AppStoreFailure) {
        signedPayload = Array(try reply.text("signedPayload").utf8)
        attempts = try Attempt.list(in: reply)
    }
}

extension SentNotification.Attempt {
    fileprivate static func list(in reply: AppStoreReply) throws(AppStoreFailure) -> [Self] {
        var attempts: [Self] = []
        for attempt in try reply.objects("sendAttempts") {
            let milliseconds = try attempt.optionalInteger("attemptDate")
            attempts.append(
                Self(
                    date: milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) },
                    result: try attempt.optionalText("sendAttemptResult")))
        }
        return attempts
    }
}
