import TenureJSON

/// The reason why one artifact of a sync was rejected.
package struct ArtifactProblem: Sendable, Hashable, Decodable {
    /// The position in the request: `appTransaction`, `receipt`, `transactions[3]`, `renewalInfos[0]` or `persona`.
    package let artifact: String
    /// A stable code: the verifier's code for a rejection, or a code of `Relation`.
    package let code: String
    /// A message for people, which contains no part of the artifact.
    package let detail: String

    /// Creates the problem of one artifact of a request.
    package init(artifact: String, code: String, detail: String) {
        self.artifact = artifact
        self.code = code
        self.detail = detail
    }

    enum CodingKeys: String, CodingKey {
        case artifact, code, detail
    }

    /// The codes for an artifact that can't be used together with the other artifacts, and for personas. The verifier
    /// has the codes for an artifact that can't be verified by itself.
    package enum Relation: String, Sendable, Hashable, CaseIterable {
        /// The artifact is from another environment than the app transaction of the sync, or another authority signed
        /// it. Without an app transaction, the receipt is compared, or else the first transaction.
        case wrongEnvironment
        /// No signed field proves that the artifact belongs to the same customer.
        case unrelated
        /// The artifact is renewal info, and neither a linked transaction of the request nor a stored purchase of the
        /// customer belongs to the same subscription.
        case noTransaction
        /// The request has a persona and artifacts from Production, where personas aren't allowed.
        case personaRefused
        /// The request has the token of a persona that this service didn't create for this app.
        case personaUnknown
        case personaExpired
        case personaRevoked
    }
}

extension JSONWriter {
    /// Writes the problem of an artifact, as a response contains it.
    package mutating func value(_ problem: ArtifactProblem) {
        beginObject()
        field(ArtifactProblem.CodingKeys.artifact, problem.artifact)
        field(ArtifactProblem.CodingKeys.code, problem.code)
        field(ArtifactProblem.CodingKeys.detail, problem.detail)
        endObject()
    }
}
