import Foundation
import TenureAppStore
import TenureCore

/// Why a request to the App Store failed.
enum AppStoreFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The App Store responded with a status other than 2xx.
    case refused(AppStoreRefusal)
    /// The App Store rejected the key twice, the second time with a new token.
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

/// A response of the App Store with a status other than 2xx.
struct AppStoreRefusal: Sendable, Hashable {
    let endpoint: AppStoreEndpoint
    let environment: AppStoreEnvironment
    let status: Int
    /// Apple's error code; nil if the body has none, such as the response of a gateway.
    let code: AppStoreErrorCode?
    /// Apple's message, reduced to ASCII and 200 characters.
    var message: String?
    /// The earliest time to repeat the request; nil if the response contains no such time.
    var retryAt: Date?
}

extension AppStoreRefusal {
    /// Reads a response with a status other than 2xx.
    init(
        _ answer: AppStoreTransport.Answer, to endpoint: AppStoreEndpoint, in environment: AppStoreEnvironment,
        now: Date
    ) {
        let reply = try? AppStoreReply(answer.body)
        self.init(
            endpoint: endpoint, environment: environment, status: answer.status,
            code: (try? reply?.optionalInteger("errorCode")).map(AppStoreErrorCode.init),
            message: (try? reply?.optionalText("errorMessage")).map(Self.shortASCII),
            retryAt: answer.retryAfter.flatMap { Self.instant(ofRetryAfter: $0, now: now) })
    }

    /// Whether the App Store received too many requests.
    var isRateLimit: Bool { status == 429 || code == .rateLimitExceeded }

    /// Whether repeating the request may help: for Apple's retryable error codes, rate limits, and every 5xx status.
    var isRetryable: Bool { code?.isRetryable == true || isRateLimit || (500...599).contains(status) }

    /// The longest wait that a server can ask for, in seconds.
    private static let maximumRetryAfter: TimeInterval = 86_400

    /// Returns the date of a `Retry-After`; nil if it isn't a whole number. The App Store sends milliseconds since
    /// 1970. A gateway may send seconds to wait (RFC 9110, section 10.2.3), or seconds since 1970. The size of the
    /// number tells them apart.
    static func instant(ofRetryAfter text: String, now: Date) -> Date? {
        guard text.utf8.count <= 18, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Double(text)
        else { return nil }
        let wait: TimeInterval
        switch number {
        case 1e11...: wait = number / 1000 - now.timeIntervalSince1970
        case 1e9...: wait = number - now.timeIntervalSince1970
        default: wait = number
        }
        return now.addingTimeInterval(min(max(wait, 0), maximumRetryAfter))
    }

    /// Reduces a message of the App Store to 200 characters of ASCII, because it is logged.
    private static func shortASCII(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20..<0x7F).contains($0) }.prefix(200), as: UTF8.self)
    }
}

/// The `errorCode` in a response of the App Store Server API, which may be a code that Tenure doesn't know.
struct AppStoreErrorCode: RawRepresentable, Sendable, Hashable {
    let rawValue: Int64

    static let rateLimitExceeded = Self(rawValue: 4_290_000)
    /// The codes that Apple documents as retryable.
    private static let retryableCodes: Set<Int64> = [
        4_040_002,  // account not found
        4_040_004,  // app not found
        4_040_006,  // original transaction not found
        5_000_001,  // general internal error
        rateLimitExceeded.rawValue,
    ]
    /// The codes for an ID that the environment doesn't know.
    private static let codesOfUnknownIDs: Set<Int64> = [
        4_040_005,  // original transaction not found
        4_040_010,  // transaction not found
        4_040_019,  // app transaction not found
    ]

    /// Whether Apple documents the code as retryable. Every 5xx status is retried, too.
    var isRetryable: Bool { Self.retryableCodes.contains(rawValue) }

    /// Whether the request is invalid: the code's first three digits, which are the status, are 400.
    var isBadRequest: Bool { (4_000_000..<4_010_000).contains(rawValue) }

    /// Whether the environment doesn't know the ID. Another environment may know it, or the same environment a minute
    /// later.
    var isUnknownID: Bool { Self.codesOfUnknownIDs.contains(rawValue) }
}
