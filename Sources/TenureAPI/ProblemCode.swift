extension Problem {
    /// The stable code of a problem, which programs may compare, with its HTTP status and title.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case malformedRequest
        case notAuthenticated
        case notBound
        case trialOver
        case forbidden
        case invalidLink
        case notEntitled
        case notFound
        case methodNotAllowed
        case conflict
        case preconditionFailed
        case tooLarge
        case unsupportedMediaType
        case rangeNotSatisfiable
        case nothingVerified
        case tooManyRequests
        case tooManyUnknownSigners
        case busy
        case misconfigured
        case internalError

        /// The HTTP status of the response.
        package var status: Int { row.status }
        /// The kind of problem in a few words, the same for each response with the code.
        package var title: String { row.title }

        /// The table of statuses and titles.
        private var row: (status: Int, title: String) {
            switch self {
            case .malformedRequest: (400, "The request is invalid")
            case .notAuthenticated: (401, "A valid access token or key is missing")
            case .notBound: (403, "The proof isn't bound to a device")
            case .trialOver: (403, "The trial is over")
            case .forbidden: (403, "The admin key doesn't permit this request")
            case .invalidLink: (403, "The link is invalid or expired")
            case .notEntitled: (403, "The customer isn't entitled to this content")
            case .notFound: (404, "The requested resource doesn't exist")
            case .methodNotAllowed: (405, "This path doesn't support this method")
            case .conflict: (409, "Stored data doesn't allow this request")
            case .preconditionFailed: (412, "The file's entity tag doesn't match If-Match")
            case .tooLarge: (413, "The request is too large")
            case .unsupportedMediaType: (415, "The request must be JSON")
            case .rangeNotSatisfiable: (416, "The file doesn't have this range")
            case .nothingVerified: (422, "Nothing in the request could be verified")
            case .tooManyRequests: (429, "Too many requests")
            case .tooManyUnknownSigners: (503, "Too many unknown signers")
            case .busy: (503, "The service is busy")
            case .misconfigured: (503, "The service isn't configured for this request")
            case .internalError: (500, "The service failed")
            }
        }
    }
}
