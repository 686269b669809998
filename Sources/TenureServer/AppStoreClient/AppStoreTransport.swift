import TenureCore

/// Sends one request to a host of the App Store Server API.
struct AppStoreTransport: Sendable {
    struct Request: Sendable {
        let method: String
        let url: String
        /// The token for `Authorization: Bearer`. Never logged.
        let token: Secret<String>
        /// JSON.
        let body: [UInt8]?
    }

    struct Answer: Sendable {
        let status: Int
        /// The header `Retry-After`, unchanged.
        var retryAfter: String?
        let body: [UInt8]
    }

    /// Throws `unreachable`, `timedOut`, `tooLarge` or `canceled`. Returns an answer for every status.
    var send: @Sendable (Request) async throws(AppStoreFailure) -> Answer
}
