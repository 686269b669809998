import Foundation
import TenureAppStore
import TenureCore

/// An answer of the App Store that is no success.
struct AppStoreRefusal: Sendable, Hashable {
    let endpoint: AppStoreEndpoint
    let environment: AppStoreEnvironment
    let status: Int
    /// Nil where the body says none, as that of a gateway.
    let code: AppStoreErrorCode?
    /// Apple's words, as far as they are plain text; never more than 200 characters.
    let message: String?
    /// Not to be asked again before; nil where it does not say.
    let retryAt: Date?

    init(
        endpoint: AppStoreEndpoint, environment: AppStoreEnvironment, status: Int, code: AppStoreErrorCode?,
        message: String? = nil, retryAt: Date? = nil
    ) {
        self.endpoint = endpoint
        self.environment = environment
        self.status = status
        self.code = code
        self.message = message
        self.retryAt = retryAt
    }

    init(
        _ answer: AppStoreTransport.Answer, to endpoint: AppStoreEndpoint, in environment: AppStoreEnvironment,
        now: Date
    ) {
        let reply = try? AppStoreReply(answer.body)
        self.init(
            endpoint: endpoint, environment: environment, status: answer.status,
            code: (try? reply?.optionalInteger("errorCode")).flatMap { $0 }.map(AppStoreErrorCode.init),
            message: (try? reply?.optionalText("errorMessage")).flatMap { $0 }.map(Self.plain),
            retryAt: answer.retryAfter.flatMap { Self.instant(ofRetryAfter: $0, now: now) })
    }

    var isRateLimit: Bool { status == 429 || code == .rateLimitExceeded }

    /// Section 5.4 of Apple's errors: their own retryable codes, rate limits, and every failure of a server.
    var isRetryable: Bool { code?.isRetryable == true || isRateLimit || (500...599).contains(status) }

    /// Seconds beyond which no word of a server makes us wait at once.
    private static let longestRetryAfter: TimeInterval = 86_400

    /// The App Store writes the instant in milliseconds since 1970; the HTTP standard means seconds to wait (RFC 9110,
    /// section 10.2.3), which a gateway may send. A number is read as what it can only be.
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
        return now.addingTimeInterval(min(max(wait, 0), longestRetryAfter))
    }

    private static func plain(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20..<0x7F).contains($0) }.prefix(200), as: UTF8.self)
    }
}
