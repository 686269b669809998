import TenureJSON

/// A failed request, as `application/problem+json` (RFC 9457).
package struct Problem: Error, Sendable, Hashable, Decodable {
    /// The `Content-Type` of the response.
    package static let mediaType = "application/problem+json"

    /// The kind of failure. Codes that this version doesn't know are read as `internalError`.
    package let code: Code
    /// A message of one sentence, in lowercase and without a final period.
    package let detail: String
    /// The rejected artifacts of a sync, if they are the reason for the failure; otherwise empty.
    package let problems: [ArtifactProblem]
    /// A stable name of the exact reason, such as `outdatedSigningKey`; nil if `code` says enough.
    package let reason: String?
    /// If the publication of a policy was refused: the ID of the rehearsal (dry run) that shows what the policy would
    /// have changed. Otherwise nil.
    package let rehearsal: String?
    /// The seconds after which the same request may succeed, for the header `Retry-After`; nil if the service doesn't
    /// know.
    package let retryAfter: Int?
    /// What is left of a trial, if the trial is the reason for the failure; otherwise nil.
    package let trial: TrialResponse?

    /// Creates the problem of a failed request. `code` determines the HTTP status and the title.
    package init(
        _ code: Code, _ detail: String, problems: [ArtifactProblem] = [], reason: String? = nil, retryAfter: Int? = nil,
        trial: TrialResponse? = nil, rehearsal: String? = nil
    ) {
        self.code = code
        self.detail = detail
        self.reason = reason
        self.problems = problems
        self.retryAfter = retryAfter
        self.trial = trial
        self.rehearsal = rehearsal
    }

    enum CodingKeys: String, CodingKey { case title, status, code, detail, reason, problems, trial, rehearsal }

    /// Reads the body of a response. `retryAfter` is nil, because only the header `Retry-After` has its value.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        code = Code(rawValue: try fields.decode(String.self, forKey: .code)) ?? .internalError
        detail = try fields.decode(String.self, forKey: .detail)
        reason = try fields.decodeIfPresent(String.self, forKey: .reason)
        problems = try fields.decodeIfPresent([ArtifactProblem].self, forKey: .problems) ?? []
        retryAfter = nil
        trial = try fields.decodeIfPresent(TrialResponse.self, forKey: .trial)
        rehearsal = try fields.decodeIfPresent(String.self, forKey: .rehearsal)
    }
}

extension JSONWriter {
    /// Writes the body of a response with a problem.
    package mutating func value(_ problem: Problem) {
        typealias Key = Problem.CodingKeys
        beginObject()
        field(Key.title, problem.code.title)
        field(Key.status, problem.code.status)
        field(Key.code, problem.code.rawValue)
        field(Key.detail, problem.detail)
        field(Key.reason, ifPresent: problem.reason)
        if !problem.problems.isEmpty { field(Key.problems, problem.problems) { $0.value($1) } }
        if let trial = problem.trial {
            key(Key.trial)
            value(trial)
        }
        field(Key.rehearsal, ifPresent: problem.rehearsal)
        endObject()
    }
}

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
