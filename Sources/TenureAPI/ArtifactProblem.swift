import TenureJSON

/// The reason why one artifact of a sync was rejected. An artifact is an app transaction, a receipt, a transaction or
/// renewal info that the App Store signed. A persona token is reported in the same way.
package struct ArtifactProblem: Sendable, Hashable, Decodable {
    /// The position of the artifact in the request: `appTransaction`, `receipt`, `transactions[3]`, `renewalInfos[0]`
    /// or `persona`.
    package let artifact: String
    /// A stable code: a code of `Relation`, or the code of `Rejection` with which verification failed.
    package let code: String
    /// A message for people, which contains no part of the artifact.
    package let detail: String

    /// Creates the problem of one artifact of a request.
    package init(artifact: String, code: String, detail: String) {
        self.artifact = artifact
        self.code = code
        self.detail = detail
    }

    enum CodingKeys: String, CodingKey { case artifact, code, detail }

    /// The codes for an artifact that can't be used together with the other artifacts, and for personas.
    /// `Rejection` has the codes for an artifact that can't be verified by itself.
    package enum Relation: String, Sendable, Hashable, CaseIterable {
        /// The artifact and the app transaction of the sync are from different environments, or Apple signed one and a
        /// test authority the other. Without an app transaction, the artifact is compared with the receipt, or else
        /// with the first transaction.
        case wrongEnvironment
        /// No signed field proves that the artifact belongs to the same customer as the others.
        case unrelated
        /// The artifact is renewal info of a subscription without a linked transaction in the request and without a
        /// stored purchase of the customer.
        case noTransaction
        /// The request has a persona (a test customer that replaces the real one) and artifacts from Production, where
        /// personas aren't allowed.
        case personaRefused
        /// The request has the token of a persona that this service didn't create for this app.
        case personaUnknown
        /// The persona in the request has expired.
        case personaExpired
        /// The persona in the request was revoked.
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
