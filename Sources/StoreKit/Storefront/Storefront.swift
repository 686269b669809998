public import Foundation
import TenureJSON

/// The App Store of a country.
public struct Storefront: Identifiable, Sendable, Equatable, Hashable {
    /// The country's code by ISO 3166-1 alpha-3, such as `USA`.
    public let countryCode: String
    /// Apple's number for the storefront, such as `143441`.
    public let id: String
    /// The currency of the storefront's prices.
    public let currency: Locale.Currency?

    /// The customer's storefront; nil if the App Store was never reached.
    public static var current: Storefront? { get async { await LocalStore.current?.knownContents()?.storefront } }

    /// Delivers each change from now on, such as the customer's move to another country.
    public static var updates: Storefronts { Storefronts(store: LocalStore.current) }

    /// A sequence of storefronts. It ends when the listening task is canceled, or if no local App Store is configured.
    public struct Storefronts: AsyncSequence, Sendable {
        let store: LocalStore?

        /// One listener. Each listener gets every change after its first call of `next()`.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let store: LocalStore?
            var cursor = ChangeLogCursor<Storefront>()

            /// Waits for the next change. Returns nil at the end of the sequence.
            public mutating func next() async -> Storefront? { await store?.next(of: \.storefronts, &cursor) }
        }

        /// Begins to listen, independently of other listeners.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(store: store) }
    }

    init?(_ json: JSONObject?) {
        guard let json, let code = json.text("code"), let id = json.text("id") else { return nil }
        self.init(code: code, id: id, currency: json.text("currency"))
    }

    init(code: String, id: String, currency: String?) {
        countryCode = code
        self.id = id
        self.currency = currency.map { Locale.Currency($0) }
    }

    /// Returns the locale in which the App Store of a country writes prices. For a country that isn't in `locales`,
    /// returns the locale of the United States.
    static func locale(ofCountry code: String) -> Locale { Locale(identifier: locales[code] ?? "en_US") }

    /// The locales by country code.
    private static let locales = [
        "USA": "en_US", "FRA": "fr_FR", "DEU": "de_DE", "GBR": "en_GB", "AUT": "de_AT", "ITA": "it_IT", "NLD": "nl_NL",
        "ESP": "es_ES", "CAN": "en_CA", "SWE": "sv_SE", "CHE": "de_CH", "AUS": "en_AU", "JPN": "ja_JP", "CHN": "zh_CN",
        "KOR": "ko_KR", "IND": "en_IN", "MEX": "es_MX", "POL": "pl_PL", "TUR": "tr_TR", "BRA": "pt_BR",
    ]
}
