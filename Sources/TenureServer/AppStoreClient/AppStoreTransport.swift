import TenureCore

/// Sends one request to a host of the App Store Server API. The service uses `HTTPTransport`; tests replace it.
struct AppStoreTransport: Sendable {
    /// A request to send.
    struct Request: Sendable {
        let method: String
        let url: String
        /// The token for `Authorization: Bearer`. Never logged.
        let token: Secret<String>
        /// The JSON of the body; nil if the request has no body.
        let body: [UInt8]?
    }

    /// A response, with any status.
    struct Answer: Sendable {
        let status: Int
        /// The header `Retry-After`, unchanged.
        var retryAfter: String?
        let body: [UInt8]
    }

    /// Sends the request. Returns an answer for every status. Throws `unreachable`, `timedOut`, `tooLarge` or
    /// `canceled`.
    var send: @Sendable (Request) async throws(AppStoreFailure) -> Answer
}
