import TenureCore

/// One exchange of bytes with a host of the App Store Server API.
struct AppStoreTransport: Sendable {
    struct Request: Sendable {
        let method: String
        let url: String
        /// For `Authorization: Bearer`; never logged.
        let token: Secret<String>
        /// JSON.
        let body: [UInt8]?
    }

    struct Answer: Sendable {
        let status: Int
        /// The header `Retry-After`, as it came.
        var retryAfter: String?
        let body: [UInt8]
    }

    /// Throws `unreachable`, `timedOut`, `tooLarge` or `cancelled`; every status is an answer.
    var send: @Sendable (Request) async throws(AppStoreFailure) -> Answer
}
