import Foundation
import TenureCore
import Testing

@testable import Tenure

/// Words that change with their number and with the preposition before them.
@Suite struct `Plurals in terms` {
    @Test func `product terms in Arabic use the dual, the plural forms and the Arabic comma`() throws {
        let locale = Locale(identifier: "ar_EG")
        func number(_ number: Int) -> String { number.formatted(.number.locale(locale)) }
        let price = try TermsTests.money("24", "USD", "ar_EG")
        func free(_ length: CalendarPeriod) -> String {
            TermsTests.subscription(offer: Tenure.ProductTerms.Offer(.free, for: length)).text(in: locale)
        }
        #expect(free(CalendarPeriod(days: 1)) == "يوم واحد مجانًا، ثم \(price) سنويًا")
        #expect(free(CalendarPeriod(days: 2)) == "يومان مجانًا، ثم \(price) سنويًا")
        #expect(free(CalendarPeriod(days: 3)) == "\(number(3)) أيام مجانًا، ثم \(price) سنويًا")
        #expect(free(CalendarPeriod(days: 11)) == "\(number(11)) يومًا مجانًا، ثم \(price) سنويًا")
        #expect(free(CalendarPeriod(days: 100)) == "\(number(100)) يوم مجانًا، ثم \(price) سنويًا")
        #expect(free(CalendarPeriod(days: 103)) == "\(number(103)) أيام مجانًا، ثم \(price) سنويًا")
        #expect(
            TermsTests.subscription(each: CalendarPeriod(months: 2)).text(in: locale) == "\(price) كل شهرين")
        #expect(
            TermsTests.subscription(each: CalendarPeriod(months: 6)).text(in: locale) == "\(price) كل \(number(6)) أشهر"
        )
        let upFront = Tenure.ProductTerms.Offer(.upFront(24), for: CalendarPeriod(days: 14))
        #expect(TermsTests.subscription(offer: upFront).offerText(in: locale) == "\(price) لمدة أسبوعين")
    }

    @Test(arguments: Wording.languages.keys.sorted())
    func `prices per day, week, month and year have four different texts in each language`(_ language: String) {
        let lengths = [
            CalendarPeriod(days: 1), CalendarPeriod(days: 7), CalendarPeriod(months: 1), CalendarPeriod(months: 12),
        ]
        let texts = lengths.map { TermsTests.subscription(each: $0).text(in: Locale(identifier: language)) }
        #expect(Set(texts).count == lengths.count, "\(texts)")
    }

    @Test(arguments: [
        ("en", ["1 day free", "2 days free", "5 days free", "11 days free", "22 days free"]),
        ("de", ["1 Tag kostenlos", "2 Tage kostenlos", "5 Tage kostenlos", "11 Tage kostenlos", "22 Tage kostenlos"]),
        ("pl", ["1 dzień za darmo", "2 dni za darmo", "5 dni za darmo", "11 dni za darmo", "22 dni za darmo"]),
        ("cs", ["1 den zdarma", "2 dny zdarma", "5 dní zdarma", "11 dní zdarma", "22 dní zdarma"]),
        (
            "ru",
            ["1 день бесплатно", "2 дня бесплатно", "5 дней бесплатно", "11 дней бесплатно", "22 дня бесплатно"]
        ),
        (
            "uk",
            [
                "1 день безкоштовно", "2 дні безкоштовно", "5 днів безкоштовно", "11 днів безкоштовно",
                "22 дні безкоштовно",
            ]
        ),
        ("tr", ["1 gün ücretsiz", "2 gün ücretsiz", "5 gün ücretsiz", "11 gün ücretsiz", "22 gün ücretsiz"]),
        ("ja", ["1日間無料", "2日間無料", "5日間無料", "11日間無料", "22日間無料"]),
    ])
    func `the plural of days in product terms follows the number`(_ language: String, _ wanted: [String]) {
        let texts = [1, 2, 5, 11, 22].map { count in
            let offer = Tenure.ProductTerms.Offer(.free, for: CalendarPeriod(days: count))
            return TermsTests.subscription(offer: offer).offerText(in: Locale(identifier: language)) ?? ""
        }
        #expect(texts == wanted)
    }

    /// The forms of 0, 1, 2, 4, 5, 11, 12, 14, 21, 22, 24, 100, 101, 102, 111, 112, 114 and 122.
    @Test(
        arguments: [
            (.single, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (.oneOther, [1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
            (.zeroOneOther, [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
            (.czech, [2, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]),
            (.polish, [2, 0, 1, 1, 2, 2, 2, 2, 2, 1, 1, 2, 2, 1, 2, 2, 2, 1]),
            (.eastSlavic, [2, 0, 1, 1, 2, 2, 2, 2, 0, 1, 1, 2, 0, 1, 2, 2, 2, 1]),
            (.arabic, [4, 0, 1, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 3, 3, 3, 3]),
        ] as [(PluralRule, [Int])])
    func `each plural rule selects the form that CLDR gives for a number`(_ rule: PluralRule, _ forms: [Int]) {
        let numbers = [0, 1, 2, 4, 5, 11, 12, 14, 21, 22, 24, 100, 101, 102, 111, 112, 114, 122]
        #expect(numbers.map { rule.form(of: $0) } == forms)
    }

    @Test(arguments: [
        ("pl", ["1 miesiąc", "2 miesiące", "5 miesięcy", "13 miesięcy", "21 miesięcy", "22 miesiące"]),
        ("ru", ["1 месяц", "2 месяца", "5 месяцев", "13 месяцев", "21 месяц", "22 месяца"]),
        ("uk", ["1 місяць", "2 місяці", "5 місяців", "13 місяців", "21 місяць", "22 місяці"]),
        ("cs", ["1 měsíc", "2 měsíce", "5 měsíců", "13 měsíců", "21 měsíců", "22 měsíců"]),
        ("fr", ["1 mois", "2 mois", "5 mois", "13 mois", "21 mois", "22 mois"]),
        ("es", ["1 mes", "2 meses", "5 meses", "13 meses", "21 meses", "22 meses"]),
        ("fi", ["1 kuukausi", "2 kuukautta", "5 kuukautta", "13 kuukautta", "21 kuukautta", "22 kuukautta"]),
    ])
    func `the plural of months in product terms follows the number`(_ language: String, _ wanted: [String]) {
        let texts = [1, 2, 5, 13, 21, 22].map {
            TermsTests.subscription(each: CalendarPeriod(months: $0)).lengthText(in: Locale(identifier: language)) ?? ""
        }
        #expect(texts == wanted)
    }

    @Test func `product terms in Russian and French have the correct noun cases and genders`() throws {
        let russian = Locale(identifier: "ru_RU")
        let week = CalendarPeriod(days: 7)
        let price = try TermsTests.money("24", "USD", "ru_RU")
        func offer(_ offer: Tenure.ProductTerms.Offer) -> String? {
            TermsTests.subscription(offer: offer).offerText(in: russian)
        }
        #expect(offer(Tenure.ProductTerms.Offer(.free, for: week)) == "1 неделя бесплатно")
        #expect(offer(Tenure.ProductTerms.Offer(.upFront(24), for: week)) == "\(price) за 1 неделю")
        #expect(
            offer(Tenure.ProductTerms.Offer(.asYouGo(24, period: week), period: week, count: 3))
                == "\(price) в неделю в течение 3 недель")
        #expect(
            TermsTests.subscription(each: CalendarPeriod(days: 21 * 7)).text(in: russian) == "\(price) раз в 21 неделю")
        #expect(TermsTests.subscription(each: CalendarPeriod(months: 60)).text(in: russian) == "\(price) раз в 5 лет")
        let french = Locale(identifier: "fr_FR")
        let inFrench = try TermsTests.money("24", "USD", "fr_FR")
        #expect(
            TermsTests.subscription(each: CalendarPeriod(days: 14)).text(in: french)
                == "\(inFrench) toutes les 2 semaines")
        #expect(
            TermsTests.subscription(each: CalendarPeriod(months: 24)).text(in: french) == "\(inFrench) tous les 2 ans")
    }

    @Test func `every language of product terms has all forms of every noun, and every placeholder`() {
        for (key, words) in Wording.languages {
            for units in [words.length, words.upFrontLength, words.duringLength, words.everyLength].compactMap({ $0 }) {
                for unit in LengthUnit.allCases {
                    let forms = units[unit].split(separator: "|", omittingEmptySubsequences: false)
                    // One form is the same for all numbers.
                    #expect(forms.count == words.plurals.count || forms.count == 1, "\(key): \(units[unit])")
                    #expect(forms.allSatisfy { !$0.isEmpty }, "\(key): \(units[unit])")
                    #expect(forms.last?.contains("{n}") == true, "\(key): \(units[unit])")
                }
            }
            for unit in LengthUnit.allCases { #expect(words.per[unit].contains("{price}"), "\(key)") }
            for pattern in [words.every, words.upFront, words.during] {
                #expect(pattern.contains("{price}") && pattern.contains("{length}"), "\(key): \(pattern)")
            }
            #expect(words.free.contains("{length}") && words.once.contains("{price}"), "\(key)")
            #expect(words.then.contains("{offer}") && words.then.contains("{price}"), "\(key)")
        }
        #expect(Wording.languages.count >= 12)
    }
}

extension PluralRule {
    /// The number of forms of a noun.
    fileprivate var count: Int {
        switch self {
        case .single: 1
        case .oneOther, .zeroOneOther: 2
        case .czech, .polish, .eastSlavic: 3
        case .arabic: 5
        }
    }
}
