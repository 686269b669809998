import Foundation
import TenureAppStore
import TenureCore

/// Why the App Store did not answer what was asked.
enum AppStoreFailure: Error, Sendable, Hashable {
    /// It answered, and not with a success.
    case refused(AppStoreRefusal)
    /// It refused our key twice, the second time with a new token.
    case notAuthorized(AppStoreEnvironment)
    case unreachable(String)
    /// Seconds.
    case timedOut(TimeInterval)
    /// Bytes that were accepted.
    case tooLarge(limit: Int)
    /// A success that is not what is documented.
    case unreadable(String)
    /// A signed answer that cannot be verified.
    case untrusted(Rejection)
    /// Our own limit for this endpoint: nothing was asked.
    case held(until: Date)
    /// An id that cannot be one of the App Store.
    case invalidID
    /// What is signed there no server knows, or the service does not accept it.
    case notServed(AppStoreEnvironment)
    case cannotSign
    case cancelled

    /// What may help.
    enum Remedy: Sendable, Hashable {
        /// The same call, a moment later.
        case retry
        /// Time, or a person: what is bought becomes known after minutes, and a key or a host can be corrected.
        case later
        /// Nothing.
        case none
    }

    var remedy: Remedy {
        switch self {
        case .refused(let refusal):
            if refusal.isRetryable { return .retry }
            guard let code = refusal.code else { return .later }
            // A wrong request stays wrong; what is not found, or not allowed, may be set right.
            return code.saysBadRequest ? .none : .later
        case .unreachable, .timedOut, .held: return .retry
        case .untrusted(let rejection): return rejection.isRetryable ? .retry : .later
        // Whatever stopped it has a reason of its own: the work itself did not fail.
        case .cancelled: return .later
        case .notAuthorized, .tooLarge, .unreadable, .cannotSign: return .later
        case .invalidID, .notServed: return .none
        }
    }

    var isRetryable: Bool { remedy == .retry }

    /// Whether it is the key that is wrong, and not what was asked with it.
    var isOfTheKey: Bool {
        switch self {
        case .notAuthorized, .cannotSign: true
        default: false
        }
    }

    /// Not to be tried again before; nil where nobody said.
    var retryAt: Date? {
        switch self {
        case .refused(let refusal): refusal.retryAt
        case .held(let until): until
        default: nil
        }
    }

    /// Whether the id that was asked for is not known in that environment.
    var saysUnknownHere: Bool {
        if case .refused(let refusal) = self { refusal.code?.saysUnknownHere == true } else { false }
    }
}

extension AppStoreFailure: CustomStringConvertible {
    var description: String {
        switch self {
        case .refused(let refusal):
            "the App Store (\(refusal.environment.rawValue)) refused \(refusal.endpoint.rawValue) with status "
                + "\(refusal.status)" + (refusal.code.map { ", error \($0.rawValue)" } ?? "")
                + (refusal.message.map { " (\($0))" } ?? "")
        case .notAuthorized(let environment):
            """
            the App Store (\(environment.rawValue)) does not accept the key; check issuer, key id, bundle id, and \
            this machine's clock
            """
        case .unreachable(let detail): "the App Store cannot be reached: \(detail)"
        case .timedOut(let seconds): "the App Store did not answer within \(seconds.formatted()) seconds"
        case .tooLarge(let limit): "the App Store's answer has more than \(limit) bytes"
        case .unreadable(let detail): "the App Store's answer is not what is documented: \(detail)"
        case .untrusted(let rejection): "what the App Store answered cannot be verified (\(rejection))"
        case .held: "calls to the App Store are held back to stay below its rate limit"
        case .invalidID: "the id cannot be one of the App Store"
        case .notServed(let environment): "no App Store is asked about \(environment.rawValue) here"
        case .cannotSign: "the token for the App Store cannot be signed"
        case .cancelled: "the call to the App Store was cancelled"
        }
    }
}
