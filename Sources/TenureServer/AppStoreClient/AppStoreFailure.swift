import Foundation
import TenureAppStore
import TenureCore

/// Why a request to the App Store failed.
enum AppStoreFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The App Store responded with a status other than 2xx.
    case refused(AppStoreRefusal)
    /// The App Store rejected the token that the In-App Purchase key signed, and then also a new token.
    case notAuthorized(AppStoreEnvironment)
    /// The connection can't be opened, or failed before the response was complete, for this reason.
    case unreachable(String)
    /// The App Store didn't answer within this many seconds.
    case timedOut(TimeInterval)
    /// The response has more bytes than the limit.
    case tooLarge(limit: Int)
    /// The response has a 2xx status, but not the documented form.
    case unreadable(String)
    /// Signed data in the response can't be verified.
    case untrusted(Rejection)
    /// No request was sent, because the rate limit of the endpoint would have delayed it too long. `until` is the
    /// date at which the limit allows a request again.
    case throttled(until: Date)
    /// The ID is empty, too long, or `.` or `..`, so it can't be part of the path of a request.
    case invalidID
    /// Apple has no server for the environment, or the service doesn't accept it.
    case notServed(AppStoreEnvironment)
    /// The token for the request can't be signed with the key.
    case cannotSign
    /// The task of the request was canceled, for example because the service ends.
    case canceled

    /// What may help after a failure.
    enum Remedy: Sendable, Hashable {
        /// Repeating the request a moment later.
        case retry
        /// Repeating the request for hours or days: a missing purchase may appear, or the operator may correct the key
        /// or the host.
        case later
        /// Nothing helps.
        case none
    }

    /// What may help after this failure.
    var remedy: Remedy {
        switch self {
        case .refused(let refusal):
            if refusal.isRetryable { return .retry }
            guard let code = refusal.code else { return .later }
            // An invalid request stays invalid. But a missing purchase may appear, and access may be granted.
            return code.isBadRequest ? .none : .later
        case .unreachable, .timedOut, .throttled: return .retry
        case .untrusted(let rejection): return rejection.isRetryable ? .retry : .later
        // The service ended during the request. The request may succeed when the service runs again.
        case .canceled: return .later
        case .notAuthorized, .tooLarge, .unreadable, .cannotSign: return .later
        case .invalidID, .notServed: return .none
        }
    }

    /// Whether repeating the request a moment later may help.
    var isRetryable: Bool { remedy == .retry }

    /// Whether the App Store rejects the key or the key can't sign, so that every request fails.
    var isKeyProblem: Bool {
        switch self {
        case .notAuthorized, .cannotSign: true
        default: false
        }
    }

    /// The earliest time to repeat the request; nil if neither the App Store nor the rate limit sets one.
    var retryAt: Date? {
        switch self {
        case .refused(let refusal): refusal.retryAt
        case .throttled(let until): until
        default: nil
        }
    }

    /// Whether the environment doesn't know the ID in the request.
    var isUnknownID: Bool {
        if case .refused(let refusal) = self { refusal.code?.isUnknownID == true } else { false }
    }

    var description: String {
        switch self {
        case .refused(let refusal):
            "the App Store (\(refusal.environment.rawValue)) refused \(refusal.endpoint.rawValue) with status "
                + "\(refusal.status)" + (refusal.code.map { ", error \($0.rawValue)" } ?? "")
                + (refusal.message.map { " (\($0))" } ?? "")
        case .notAuthorized(let environment):
            """
            the App Store (\(environment.rawValue)) doesn't accept the key; check the issuer ID, key ID, bundle ID \
            and this machine's clock
            """
        case .unreachable(let detail): "the App Store can't be reached: \(detail)"
        case .timedOut(let seconds): "the App Store didn't answer within \(seconds.formatted()) seconds"
        case .tooLarge(let limit): "the App Store's response has more than \(limit) bytes"
        case .unreadable(let detail): "the App Store's response doesn't have the documented form: \(detail)"
        case .untrusted(let rejection): "the App Store's response can't be verified (\(rejection))"
        case .throttled: "no request was sent, to stay below the App Store's rate limit; try again later"
        case .invalidID: "the ID can't be one of the App Store's; check the ID"
        case .notServed(let environment):
            """
            the service accepts no artifacts from \(environment.rawValue), or Apple has no server for it; check the \
            setting `environments`
            """
        case .cannotSign: "the token for the App Store can't be signed with the key; download a new key"
        case .canceled: "the request to the App Store was canceled"
        }
    }
}
