import TenureAPI
import TenureAppStore

/// An artifact in a sync, or in a response of the App Store, that isn't accepted, and the reason. The response to a
/// sync lists the rejected artifacts.
struct RejectedArtifact: Sendable, Hashable {
    let path: ArtifactPath
    /// A stable code, as in `ArtifactProblem`.
    let code: String
    let detail: String
    /// Whether the same artifact may be accepted later.
    let isRetryable: Bool

    /// Creates the rejection of an artifact that can't be verified.
    init(_ path: ArtifactPath, _ rejection: Rejection) {
        self.path = path
        code = rejection.code.rawValue
        detail = rejection.detail
        isRetryable = rejection.isRetryable
    }

    /// Creates the rejection of an artifact that can't be used together with the other artifacts, or of a persona.
    init(_ path: ArtifactPath, _ relation: ArtifactProblem.Relation, _ detail: String) {
        self.path = path
        code = relation.rawValue
        self.detail = detail
        isRetryable = false
    }

    /// The problem that the response to a sync shows.
    var problem: ArtifactProblem { ArtifactProblem(artifact: path.name, code: code, detail: detail) }
}

extension [RejectedArtifact] {
    /// The problems in the order of the request.
    var problems: [ArtifactProblem] { sorted { $0.path < $1.path }.map(\.problem) }
}
