import TenureJSON

/// What went wrong with a request, as `application/problem+json` (RFC 9457).
public struct Problem: Error, Sendable, Hashable, Decodable {
    public static let mediaType = "application/problem+json"

    public let code: Code
    /// One sentence with the facts; lower case, without a final period.
    public let detail: String
    /// What was wrong with each artifact, where that is why.
    public let problems: [ArtifactProblem]
    /// A stable name of the conflict with stored data, if the code alone isn't specific.
    public let reason: String?
    /// What a refused publication would have done, by the rehearsal that found it.
    public let rehearsal: String?
    /// Seconds after which the same request may succeed.
    public let retryAfter: Int?
    /// What is left of a trial, where that is why.
    public let trial: TrialResponse?

    public init(
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

    enum CodingKeys: String, CodingKey {
        case title, status, code, detail, reason, problems, trial, rehearsal
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let code = try fields.decode(String.self, forKey: .code)
        self.code = Code(rawValue: code) ?? .internalError
        detail = try fields.decode(String.self, forKey: .detail)
        reason = try fields.decodeIfPresent(String.self, forKey: .reason)
        problems = try fields.decodeIfPresent([ArtifactProblem].self, forKey: .problems) ?? []
        retryAfter = nil
        trial = try fields.decodeIfPresent(TrialResponse.self, forKey: .trial)
        rehearsal = try fields.decodeIfPresent(String.self, forKey: .rehearsal)
    }
}

extension JSONWriter {
    package mutating func value(_ problem: Problem) {
        typealias Key = Problem.CodingKeys
        beginObject()
        key(Key.title)
        value(problem.code.title)
        key(Key.status)
        value(problem.code.status)
        key(Key.code)
        value(problem.code.rawValue)
        key(Key.detail)
        value(problem.detail)
        if let reason = problem.reason {
            key(Key.reason)
            value(reason)
        }
        if !problem.problems.isEmpty {
            key(Key.problems)
            array(problem.problems) { $0.value($1) }
        }
        if let trial = problem.trial {
            key(Key.trial)
            value(trial)
        }
        if let rehearsal = problem.rehearsal {
            key(Key.rehearsal)
            value(rehearsal)
        }
        endObject()
    }
}
