import TenureJSON

/// Why one artifact of a sync did not count.
public struct ArtifactProblem: Sendable, Hashable, Decodable {
    /// Its place in the request: `appTransaction`, `receipt`, `transactions[3]`, `renewalInfos[0]`, `persona`.
    public let artifact: String
    /// Stable: the code of a rejection, or of `Relation`.
    public let code: String
    /// For people; never a part of the artifact.
    public let detail: String

    public init(artifact: String, code: String, detail: String) {
        self.artifact = artifact
        self.code = code
        self.detail = detail
    }

    enum CodingKeys: String, CodingKey {
        case artifact, code, detail
    }

    /// Why a verified artifact does not count beside the others. The other codes are the verifier's.
    public enum Relation: String, Sendable, Hashable, CaseIterable {
        /// Signed in another environment than the artifact that leads this sync, or under another authority.
        case wrongEnvironment
        /// Nothing signed says that it belongs to the same customer.
        case unrelated
        /// Renewal info without a verified transaction of its subscription.
        case noTransaction
        /// A persona beside production's artifacts, where the customer who came counts alone.
        case personaRefused
        /// Not one that this service made for this app.
        case personaUnknown
        case personaExpired
        case personaRevoked
    }
}

extension JSONWriter {
    package mutating func value(_ problem: ArtifactProblem) {
        beginObject()
        key(ArtifactProblem.CodingKeys.artifact)
        value(problem.artifact)
        key(ArtifactProblem.CodingKeys.code)
        value(problem.code)
        key(ArtifactProblem.CodingKeys.detail)
        value(problem.detail)
        endObject()
    }
}
