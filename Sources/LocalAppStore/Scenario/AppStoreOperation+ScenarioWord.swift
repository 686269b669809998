/// The words for operations in scenario files.
extension AppStoreOperation.Kind {
    /// Whether the operation is about a customer, so that a scenario lists it under the customer's name.
    var isOfCustomer: Bool { parameters.contains { $0.name == .customer } }

    /// The parameter that the value of the word sets. In `buys: com.example.calculator.yearly`, this is `product`.
    var mainParameter: AppStoreOperation.Parameter? {
        switch self {
        case .setPrice: .price
        case .network: .state
        case .release, .acquire, .update: .platform
        case .move: .storefront
        default: parameters.contains { $0.name == .product } ? .product : nil
        }
    }

    init?(scenarioWord word: String, byCustomer: Bool) {
        guard let kind = Self.allCases.first(where: { $0.scenarioWord == word && $0.isOfCustomer == byCustomer }) else {
            return nil
        }
        self = kind
    }

    static func words(byCustomer: Bool) -> [String] {
        allCases.filter { $0.isOfCustomer == byCustomer }.compactMap(\.scenarioWord)
    }
}
