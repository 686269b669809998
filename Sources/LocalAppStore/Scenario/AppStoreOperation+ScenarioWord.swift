/// The words for operations in scenario files.
extension AppStoreOperation.Kind {
    /// Whether the operation has the parameter `customer`. A scenario file lists such operations under the customer's
    /// name, and all others under `store`.
    var concernsCustomer: Bool { parameters.contains { $0.name == .customer } }

    /// The parameter that the value of the word sets: in `buys: com.example.calculator.yearly`, the `product`. Nil if
    /// the word takes no value.
    var mainParameter: AppStoreOperation.Parameter? {
        switch self {
        case .setPrice: .price
        case .network: .state
        case .release, .acquire, .update: .platform
        case .move: .storefront
        default: parameters.contains { $0.name == .product } ? .product : nil
        }
    }

    /// Finds the operation with this word, either under a customer's name or under `store`. Nil for an unknown word.
    init?(scenarioWord word: String, byCustomer: Bool) {
        guard let kind = Self.allCases.first(where: { $0.scenarioWord == word && $0.concernsCustomer == byCustomer })
        else { return nil }
        self = kind
    }

    /// Returns the words for the operations under a customer's name, or for those under `store`.
    static func words(byCustomer: Bool) -> [String] {
        allCases.filter { $0.concernsCustomer == byCustomer }.compactMap(\.scenarioWord)
    }
}
