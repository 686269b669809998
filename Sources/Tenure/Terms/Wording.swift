import Foundation

/// The fixed words of one language around numbers and prices, which Foundation formats.
///
/// `{n}` is replaced with a number, `{price}` with a price, `{length}` with a number of days, weeks, months or years.
struct Wording: Sendable {
    /// One text for each unit of length.
    struct Units: Sendable {
        private let texts: [String]

        init(_ day: String, _ week: String, _ month: String, _ year: String) { texts = [day, week, month, year] }

        subscript(unit: LengthUnit) -> String { texts[unit.rawValue] }
    }

    /// Which form of a word follows which number.
    var plurals = PluralRule.oneOther
    /// `3 days`: all plural forms, separated by `|`, in the order of the language's plural rule.
    let length: Units
    /// The lengths as inflected in `upFront`, `during` and `every`. Nil if the language uses the forms of `length`.
    var upFrontLength: Units?
    var duringLength: Units?
    var everyLength: Units?
    /// `{price} per month`: a price that is paid once in each unit.
    let per: Units
    /// `{price} every {length}`: a price that is paid once in several units.
    let every: String
    /// `{length} free`.
    let free: String
    /// `{price} for {length}`: a price that is paid once for the whole length.
    let upFront: String
    /// `{price} for {length}`: a recurring price, and how long it applies.
    let during: String
    /// `{offer}, then {price}`.
    let then: String
    /// `{price} once`: a single payment.
    let once: String
}

/// A unit of a period's length.
enum LengthUnit: Int, CaseIterable, Sendable { case day, week, month, year }

extension Wording {
    /// Returns the wording in the language of the locale, or in English if that language is missing.
    init(_ locale: Locale) { self = Self.languages[Self.key(locale)] ?? .english }

    /// The wordings by language code. Chinese has a wording for each script.
    static let languages: [String: Wording] = [
        "en": .english, "de": .german, "nl": .dutch, "sv": .swedish, "da": .danish, "nb": .norwegian, "no": .norwegian,
        "nn": .norwegian, "fr": .french, "es": .spanish, "it": .italian, "pt": .portuguese, "pl": .polish,
        "cs": .czech, "ru": .russian, "uk": .ukrainian, "fi": .finnish, "tr": .turkish, "ar": .arabic,
        "ja": .japanese, "ko": .korean, "zh-Hans": .simplifiedChinese, "zh-Hant": .traditionalChinese,
    ]

    /// Returns the key of a locale's language in `languages`.
    static func key(_ locale: Locale) -> String {
        let language = locale.language
        guard let code = language.languageCode?.identifier else { return "en" }
        guard code == "zh" || code == "yue" else { return code }
        let script = language.script?.identifier
        let isTraditional =
            script == "Hant" || (script == nil && ["TW", "HK", "MO"].contains(language.region?.identifier ?? ""))
        return isTraditional ? "zh-Hant" : "zh-Hans"
    }
}
