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
