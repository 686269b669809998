/// Where an artifact stood in a sync.
enum Place: Sendable, Hashable, Comparable {
    case appTransaction
    case receipt
    case transaction(Int)
    case renewalInfo(Int)
    case persona

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
