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

    /// The problem that the response to a sync shows.
    var problem: ArtifactProblem { ArtifactProblem(artifact: path.name, code: code, detail: detail) }
}

extension RejectedArtifact {
    /// Creates the rejection of an artifact that can't be verified.
    init(_ path: ArtifactPath, _ rejection: Rejection) {
        self.init(
            path: path, code: rejection.code.rawValue, detail: rejection.detail, isRetryable: rejection.isRetryable)
    }

    /// Creates the rejection of an artifact that can't be used together with the other artifacts, or of a persona.
    init(_ path: ArtifactPath, _ relation: ArtifactProblem.Relation, _ detail: String) {
        self.init(path: path, code: relation.rawValue, detail: detail, isRetryable: false)
    }
}

extension [RejectedArtifact] {
    /// The problems in the order of the request.
    var problems: [ArtifactProblem] { sorted { $0.path < $1.path }.map(\.problem) }

    /// Returns the result of `verify`. If `verify` rejects the artifact at `path`, adds the rejection and returns nil.
    mutating func unlessRejected<Output>(_ path: ArtifactPath, _ verify: () throws(Rejection) -> Output) -> Output? {
        do {
            return try verify()
        } catch {
            append(RejectedArtifact(path, error))
            return nil
        }
    }
}

/// The position of an artifact in the body of a sync, such as `transactions[2]`. Responses name the artifact by its
/// position.
enum ArtifactPath: Sendable, Hashable, Comparable {
    case appTransaction
    case receipt
    case transaction(Int)
    case renewalInfo(Int)
    case persona

    /// The position as text, for responses.
    var name: String {
        switch self {
        case .appTransaction: "appTransaction"
        case .receipt: "receipt"
        case .transaction(let index): "transactions[\(index)]"
        case .renewalInfo(let index): "renewalInfos[\(index)]"
        case .persona: "persona"
        }
    }
}
