/// What a connection is used for.
enum ConnectionPhase: String, Sendable, CaseIterable {
    /// No request has begun to arrive, or its head isn't complete.
    case idle
    case request
    /// The request is complete, and nothing of the response is written.
    case working
    case response
}

/// What a slow client was in the middle of when its connection was closed.
enum SlowClientPhase: String, Sendable, CaseIterable {
    case head, body, response
}

/// Why a download was rejected.
enum DownloadRejection: String, Error, CaseIterable {
    /// The customer has as many downloads as one may have.
    case customer
    /// All customers together have.
    case total
}

/// What came of an attempt to deliver a webhook.
enum WebhookResult: String, Sendable, CaseIterable {
    case delivered
    /// It will be tried again.
    case failed
    case givenUp
}
