/// What a connection is doing. The metric of connections that were closed to make room has a label with the phase.
enum ConnectionPhase: String, Sendable, CaseIterable {
    /// No request has begun to arrive, or the head of the request isn't complete.
    case idle
    /// The body of a request is arriving.
    case request
    /// The request is complete, and nothing of the response is written.
    case working
    /// A response is being written, and the operating system hasn't taken all of it yet.
    case response
}

/// What a slow client was doing when its connection was closed: sending the head or the body of a request, or reading
/// the response.
enum SlowClientPhase: String, Sendable, CaseIterable { case head, body, response }

/// Why a download was rejected.
enum DownloadRejection: String, Sendable, CaseIterable {
    /// The customer has the maximum number of downloads.
    case customer
    /// All customers together have the maximum number of downloads.
    case total
}

/// The result of an attempt to deliver a webhook.
enum WebhookResult: String, Sendable, CaseIterable {
    case delivered
    /// The attempt failed, and the delivery is tried again later.
    case failed
    /// The attempt failed, and the message is abandoned.
    case givenUp
}
