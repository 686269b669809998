/// A country's App Store: its code (ISO 3166-1 alpha-3), Apple's number for it, and its currency (ISO 4217).
struct Storefront: Sendable, Hashable {
    let code: String
    let id: String
    let currency: String

    private init(_ code: String, _ id: Int, _ currency: String) {
        self.code = code
        self.id = String(id)
        self.currency = currency
    }

    /// The storefronts that the local App Store has.
    static let all: [Storefront] = [
        Storefront("USA", 143441, "USD"), Storefront("FRA", 143442, "EUR"), Storefront("DEU", 143443, "EUR"),
        Storefront("GBR", 143444, "GBP"), Storefront("AUT", 143445, "EUR"), Storefront("ITA", 143450, "EUR"),
        Storefront("NLD", 143452, "EUR"), Storefront("ESP", 143454, "EUR"), Storefront("CAN", 143455, "CAD"),
        Storefront("SWE", 143456, "SEK"), Storefront("CHE", 143459, "CHF"), Storefront("AUS", 143460, "AUD"),
        Storefront("JPN", 143462, "JPY"), Storefront("CHN", 143465, "CNY"), Storefront("KOR", 143466, "KRW"),
        Storefront("IND", 143467, "INR"), Storefront("MEX", 143468, "MXN"), Storefront("POL", 143478, "PLN"),
        Storefront("TUR", 143480, "TRY"), Storefront("BRA", 143503, "BRL"),
    ]

    /// The default storefront of customers.
    static let usa = Storefront("USA", 143441, "USD")

    /// Finds a storefront by its code; nil if the local App Store doesn't have it.
    init?(code: String) {
        guard let storefront = Self.all.first(where: { $0.code == code }) else { return nil }
        self = storefront
    }
}
