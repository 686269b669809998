/// What a connection is used for.
enum ConnectionPhase: String, Sendable, CaseIterable {
    /// No request has begun to arrive, or its head isn't complete.
    case idle
    case request
    /// The request is complete, and nothing of the response is written.
    case working
    case response
}

/// What a slow client was sending or reading when its connection was closed.
enum SlowClientPhase: String, Sendable, CaseIterable {
    case head, body, response
}

/// Why a download was rejected.
enum DownloadRejection: String, Error, CaseIterable {
    /// The customer has the maximum number of downloads.
    case customer
    /// All customers together have the maximum number of downloads.
    case total
}

/// The result of an attempt to deliver a webhook.
enum WebhookResult: String, Sendable, CaseIterable {
    case delivered
    /// The delivery is tried again later.
    case failed
    case givenUp
}
