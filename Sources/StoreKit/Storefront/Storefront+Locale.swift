import Foundation

extension Storefront {
    /// Returns the locale in which the App Store of a country writes prices. For a country that isn't in `locales`,
    /// returns the locale of the United States.
    static func locale(ofCountry code: String) -> Locale { Locale(identifier: locales[code] ?? "en_US") }

    private static let locales = [
        "USA": "en_US", "FRA": "fr_FR", "DEU": "de_DE", "GBR": "en_GB", "AUT": "de_AT", "ITA": "it_IT", "NLD": "nl_NL",
        "ESP": "es_ES", "CAN": "en_CA", "SWE": "sv_SE", "CHE": "de_CH", "AUS": "en_AU", "JPN": "ja_JP", "CHN": "zh_CN",
        "KOR": "ko_KR", "IND": "en_IN", "MEX": "es_MX", "POL": "pl_PL", "TUR": "tr_TR", "BRA": "pt_BR",
    ]
}
