/// Where an artifact stood in a sync.
enum Place: Sendable, Hashable, Comparable {
    case appTransaction
    case receipt
    case transaction(Int)
    case renewalInfo(Int)

    var name: String {
        switch self {
        case .appTransaction: "appTransaction"
        case .receipt: "receipt"
        case .transaction(let index): "transactions[\(index)]"
        case .renewalInfo(let index): "renewalInfos[\(index)]"
        }
    }
}
