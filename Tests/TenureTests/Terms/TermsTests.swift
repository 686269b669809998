import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct TermsTests {
    /// The price as Foundation writes it in that language. Its versions differ between systems.
    static func money(_ amount: String, _ code: String, _ locale: String) throws -> String {
        try #require(Decimal(string: amount)).formatted(.currency(code: code).locale(Locale(identifier: locale)))
    }

    static let month = CalendarPeriod(months: 1)
    static let year = CalendarPeriod(months: 12)

    static func subscription(
        _ price: Decimal = 24, _ code: String = "USD", each period: CalendarPeriod = year,
        offer: Tenure.ProductTerms.Offer? = nil
    ) -> Tenure.ProductTerms {
        Tenure.ProductTerms(
            id: "com.example.calculator.yearly", kind: .autoRenewable, price: price, currencyCode: code, period: period,
            offer: offer)
    }

    /// The same five terms in each language: a trial, paid up front, pay as you go, every three months, and once. `$`
    /// is replaced by the price as Foundation writes it.
    @Test(arguments: [
        (
            "en_US",
            [
                "3 days free, then $ per year", "$ for 3 months, then $ per year",
                "$ per month for 5 months, then $ per year", "$ every 3 months", "$ once",
            ]
        ),
        (
            "de_DE",
            [
                "3 Tage kostenlos, danach $ pro Jahr", "$ für 3 Monate, danach $ pro Jahr",
                "$ pro Monat für 5 Monate, danach $ pro Jahr", "$ alle 3 Monate", "$ einmalig",
            ]
        ),
        (
            "fr_FR",
            [
                "3 jours d’essai gratuit, puis $ par an", "$ pour 3 mois, puis $ par an",
                "$ par mois pendant 5 mois, puis $ par an", "$ tous les 3 mois", "$ en paiement unique",
            ]
        ),
        (
            "es_ES",
            [
                "3 días gratis, después $ al año", "$ por 3 meses, después $ al año",
                "$ al mes durante 5 meses, después $ al año", "$ cada 3 meses", "$ en un solo pago",
            ]
        ),
        (
            "it_IT",
            [
                "3 giorni gratis, poi $ all’anno", "$ per 3 mesi, poi $ all’anno",
                "$ al mese per 5 mesi, poi $ all’anno", "$ ogni 3 mesi", "$ una tantum",
            ]
        ),
        (
            "pt_BR",
            [
                "3 dias grátis, depois $ por ano", "$ por 3 meses, depois $ por ano",
                "$ por mês durante 5 meses, depois $ por ano", "$ a cada 3 meses", "$ em pagamento único",
            ]
        ),
        (
            "nl_NL",
            [
                "3 dagen gratis, daarna $ per jaar", "$ voor 3 maanden, daarna $ per jaar",
                "$ per maand gedurende 5 maanden, daarna $ per jaar", "$ elke 3 maanden", "$ eenmalig",
            ]
        ),
        (
            "sv_SE",
            [
                "3 dagar gratis, sedan $ per år", "$ för 3 månader, sedan $ per år",
                "$ per månad i 5 månader, sedan $ per år", "$ per 3 månader", "$ som engångsköp",
            ]
        ),
        (
            "da_DK",
            [
                "3 dage gratis, derefter $ pr. år", "$ for 3 måneder, derefter $ pr. år",
                "$ pr. måned i 5 måneder, derefter $ pr. år", "$ hver 3. måned", "$ som engangskøb",
            ]
        ),
        (
            "nb_NO",
            [
                "3 dager gratis, deretter $ per år", "$ for 3 måneder, deretter $ per år",
                "$ per måned i 5 måneder, deretter $ per år", "$ hver 3. måned", "$ som engangskjøp",
            ]
        ),
        (
            "fi_FI",
            [
                "3 päivää ilmaiseksi, sitten $ vuodessa", "$ 3 kuukaudelta, sitten $ vuodessa",
                "$ kuukaudessa 5 kuukauden ajan, sitten $ vuodessa", "$ 3 kuukauden välein", "$ kertamaksuna",
            ]
        ),
        (
            "pl_PL",
            [
                "3 dni za darmo, potem $ rocznie", "$ za 3 miesiące, potem $ rocznie",
                "$ miesięcznie przez 5 miesięcy, potem $ rocznie", "$ co 3 miesiące", "$ jednorazowo",
            ]
        ),
        (
            "cs_CZ",
            [
                "3 dny zdarma, poté $ ročně", "$ za 3 měsíce, poté $ ročně",
                "$ měsíčně po dobu 5 měsíců, poté $ ročně", "$ každé 3 měsíce", "$ jednorázově",
            ]
        ),
        (
            "ru_RU",
            [
                "3 дня бесплатно, затем $ в год", "$ за 3 месяца, затем $ в год",
                "$ в месяц в течение 5 месяцев, затем $ в год", "$ раз в 3 месяца", "$ единовременно",
            ]
        ),
        (
            "uk_UA",
            [
                "3 дні безкоштовно, потім $ на рік", "$ за 3 місяці, потім $ на рік",
                "$ на місяць протягом 5 місяців, потім $ на рік", "$ раз на 3 місяці", "$ одноразово",
            ]
        ),
        (
            "tr_TR",
            [
                "3 gün ücretsiz, ardından yılda $", "3 ay için $, ardından yılda $",
                "5 ay boyunca ayda $, ardından yılda $", "3 ayda bir $", "tek seferlik $",
            ]
        ),
        (
            "ja_JP",
            [
                "3日間無料、その後年額$", "3か月間$、その後年額$", "5か月間は月額$、その後年額$", "3か月ごとに$", "$（買い切り）",
            ]
        ),
        (
            "ko_KR",
            [
                "3일간 무료, 이후 매년 $", "3개월간 $, 이후 매년 $", "5개월간 매월 $, 이후 매년 $", "3개월마다 $", "$ (1회 결제)",
            ]
        ),
        (
            "zh-Hans_CN",
            [
                "免费试用 3 天，之后每年 $", "3 个月 $，之后每年 $", "前 5 个月每月 $，之后每年 $", "每 3 个月 $", "$（一次性购买）",
            ]
        ),
        (
            "zh-Hant_TW",
            [
                "免費試用 3 天，之後每年 $", "3 個月 $，之後每年 $", "前 5 個月每月 $，之後每年 $", "每 3 個月 $", "$（一次性購買）",
            ]
        ),
    ])
    func `product terms have the expected text in every supported language`(_ identifier: String, _ wanted: [String])
        throws
    {
        let locale = Locale(identifier: identifier)
        let free = Tenure.ProductTerms.Offer(.free, for: CalendarPeriod(days: 3))
        let upFront = Tenure.ProductTerms.Offer(.upFront(24), for: CalendarPeriod(months: 3))
        let asYouGo = Tenure.ProductTerms.Offer(.asYouGo(24, period: Self.month), period: Self.month, count: 5)
        let products = [
            Self.subscription(offer: free), Self.subscription(offer: upFront), Self.subscription(offer: asYouGo),
            Self.subscription(each: CalendarPeriod(months: 3)),
            Tenure.ProductTerms(
                id: "com.example.calculator.everything", kind: .nonConsumable, price: 24, currencyCode: "USD"),
        ]
        let price = try Self.money("24", "USD", identifier)
        #expect(products.map { $0.text(in: locale) } == wanted.map { $0.replacingOccurrences(of: "$", with: price) })
    }

    // MARK: Languages and prices

    @Test(arguments: [
        ("de_AT", "3 Tage kostenlos"), ("en_GB", "3 days free"), ("zh_TW", "免費試用 3 天"), ("zh_CN", "免费试用 3 天"),
        ("zh_HK", "免費試用 3 天"), ("zh-Hant", "免費試用 3 天"), ("zh", "免费试用 3 天"), ("no", "3 dager gratis"),
        ("nn", "3 dager gratis"), ("zh_MO", "免費試用 3 天"), ("zh-Hans_HK", "免费试用 3 天"), ("yue_HK", "免費試用 3 天"),
        ("pt_PT", "3 dias grátis"), ("es_419", "3 días gratis"), ("tlh", "3 days free"), ("", "3 days free"),
    ])
    func `product terms are in the reader's language, or in English if it isn't supported`(
        _ identifier: String, _ wanted: String
    ) {
        let offer = Tenure.ProductTerms.Offer(.free, for: CalendarPeriod(days: 3))
        #expect(Self.subscription(offer: offer).offerText(in: Locale(identifier: identifier)) == wanted)
    }

    @Test func `prices in product terms have the storefront's format in any language`() throws {
        let terms = Tenure.ProductTerms(
            id: "com.example.calculator.yearly", kind: .autoRenewable, price: try #require(Decimal(string: "24.99")),
            currencyCode: "EUR", priceLocale: Locale(identifier: "de_DE"), period: Self.year)
        #expect(terms.text(in: Locale(identifier: "en_US")) == "24,99\u{A0}€ per year")
    }

    @Test func `the terms of a consumable show its price, and of a non-renewing purchase also its length`() throws {
        let english = Locale(identifier: "en_US")
        let coins = Tenure.ProductTerms(id: "coins", kind: .consumable, price: 1, currencyCode: "USD")
        #expect(coins.text(in: english) == "$1.00")
        let season = Tenure.ProductTerms(
            id: "season", kind: .nonRenewing, price: 9, currencyCode: "USD", period: CalendarPeriod(months: 3))
        #expect(season.text(in: english) == "$9.00 for 3 months" && season.lengthText(in: english) == "3 months")
        let unsaid = Tenure.ProductTerms(id: "season", kind: .nonRenewing, price: 9, currencyCode: "USD")
        #expect(unsaid.text(in: english) == "$9.00" && unsaid.lengthText(in: english) == nil)
        #expect(coins.pricePerMonthText(in: english) == nil)
    }

    @Test func `a subscription's terms can be shown without mentioning renewals`() {
        let english = Locale(identifier: "en_US")
        let trial = Tenure.ProductTerms.Offer(.free, for: CalendarPeriod(days: 3))
        let terms = Self.subscription(offer: trial)
        #expect(terms.text(in: english, recurring: false) == "3 days free, then $24.00 for 1 year")
        #expect(terms.priceText(in: english, recurring: false) == "$24.00 for 1 year")
        #expect(terms.priceText(in: english) == "$24.00 per year" && terms.offerText(in: english) == "3 days free")
    }

    @Test func `product terms show composed, very long, zero and negative lengths of time without a crash`() {
        let english = Locale(identifier: "en_US")
        func length(_ period: CalendarPeriod) -> String? { Self.subscription(each: period).lengthText(in: english) }
        #expect(length(CalendarPeriod(months: 1, days: 10)) == "1 month and 10 days")
        #expect(length(CalendarPeriod(months: 18)) == "18 months" && length(CalendarPeriod(months: 24)) == "2 years")
        #expect(length(CalendarPeriod(days: 7)) == "1 week" && length(CalendarPeriod(days: 10)) == "10 days")
        #expect(length(CalendarPeriod(days: 0)) == "0 days" && length(CalendarPeriod(days: -5)) == "0 days")
        #expect(
            Self.subscription(each: CalendarPeriod(months: 1, days: 10)).text(in: english)
                == "$24.00 every 1 month and 10 days")
        let endless = Tenure.ProductTerms.Offer(.free, period: CalendarPeriod(months: .max, days: .max), count: .max)
        #expect(Self.subscription(offer: endless).text(in: english).hasSuffix("$24.00 per year"))
        let once = Tenure.ProductTerms.Offer(.asYouGo(1, period: Self.month), period: Self.month, count: 1)
        #expect(Self.subscription(offer: once).offerText(in: english) == "$1.00 for 1 month")
    }

    @Test(arguments: [(-1, 1), (0, 1), (1, 1), (2, 2), (10_000, 10_000), (10_001, 10_000)])
    func `an offer has from one to ten thousand periods`(_ count: Int, _ months: Int) {
        let offer = Tenure.ProductTerms.Offer(.free, period: Self.month, count: count)
        #expect(offer.length == CalendarPeriod(months: months))
    }

    // MARK: Comparing

    @Test func `product terms show a price per month to compare products of different lengths`() throws {
        let english = Locale(identifier: "en_US")
        #expect(Self.subscription(24).pricePerMonth == 2)
        #expect(Self.subscription(24).pricePerMonthText(in: english) == "$2.00 per month")
        let price = try #require(Decimal(string: "24.99"))
        #expect(Self.subscription(price).pricePerMonthText(in: english) == "$2.08 per month")
        #expect(
            Self.subscription(5, each: CalendarPeriod(days: 7)).pricePerMonthText(in: english) == "$21.74 per month")
        #expect(
            Self.subscription(2500, "JPY").pricePerMonthText(in: Locale(identifier: "ja_JP"))
                == "月額" + (try Self.money("208", "JPY", "ja_JP")))
        let season = Tenure.ProductTerms(
            id: "season", kind: .nonRenewing, price: 9, currencyCode: "USD", period: CalendarPeriod(months: 3))
        #expect(season.pricePerMonth == 3)
        #expect(Self.subscription(each: CalendarPeriod(days: 0)).pricePerMonth == nil)
        #expect(
            Tenure.ProductTerms(id: "all", kind: .nonConsumable, price: 9, currencyCode: "USD", period: Self.year)
                .pricePerMonth == nil)
    }

    @Test func `product terms are sorted by period, and lifetime products come last`() {
        let week = Self.subscription(5, each: CalendarPeriod(days: 7))
        let month = Self.subscription(9, each: Self.month)
        let cheapYear = Self.subscription(20)
        let year = Self.subscription(30)
        let thirtyDays = Tenure.ProductTerms(
            id: "pass", kind: .nonRenewing, price: 9, currencyCode: "USD", period: CalendarPeriod(days: 30))
        let lifetime = Tenure.ProductTerms(id: "all", kind: .nonConsumable, price: 50, currencyCode: "USD")
        let coins = Tenure.ProductTerms(id: "coins", kind: .consumable, price: 1, currencyCode: "USD")
        let sorted = [week, thirtyDays, month, cheapYear, year, lifetime, coins]
        #expect(sorted.reversed().sortedByPeriod() == sorted)
        #expect(sorted.shuffled().sortedByPeriod() == sorted)
        let pass = Tenure.ProductTerms(id: "pass", kind: .nonRenewing, price: 1, currencyCode: "USD")
        #expect([lifetime, pass, month].sortedByPeriod() == [month, pass, lifetime])
        // Products of the same length and price always have the same order.
        let other = Tenure.ProductTerms(id: "aa", kind: .nonConsumable, price: 50, currencyCode: "USD")
        #expect([lifetime, other].sortedByPeriod() == [other, lifetime])
        #expect([other, lifetime].sortedByPeriod() == [other, lifetime])
    }
}
