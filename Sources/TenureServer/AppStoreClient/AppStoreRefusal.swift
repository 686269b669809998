import Foundation
import TenureCore

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
