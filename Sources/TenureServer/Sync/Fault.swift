import TenureAPI
import TenureAppStore

/// Why one artifact of a sync does not count.
struct Fault: Sendable, Hashable {
    let place: Place
    let code: String
    let detail: String
    /// Whether the same artifact may count a moment later.
    let isRetryable: Bool

    init(_ place: Place, _ rejection: Rejection) {
        self.place = place
        code = rejection.code.rawValue
        detail = rejection.detail
        isRetryable = rejection.isRetryable
    }

    init(_ place: Place, _ relation: ArtifactProblem.Relation, _ detail: String) {
        self.place = place
        code = relation.rawValue
        self.detail = detail
        isRetryable = false
    }

    var problem: ArtifactProblem { ArtifactProblem(artifact: place.name, code: code, detail: detail) }
}

extension [Fault] {
    /// In the order of the request.
    var problems: [ArtifactProblem] { sorted { $0.place < $1.place }.map(\.problem) }
}
