import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `Units of time in terms` {
    /// In each language: a price per day, week and month, then the lengths of two days, weeks, months and years.
    @Test(
        arguments: [
            ("en", ["$ per day", "$ per week", "$ per month"], ["2 days", "2 weeks", "2 months", "2 years"]),
            ("de", ["$ pro Tag", "$ pro Woche", "$ pro Monat"], ["2 Tage", "2 Wochen", "2 Monate", "2 Jahre"]),
            ("nl", ["$ per dag", "$ per week", "$ per maand"], ["2 dagen", "2 weken", "2 maanden", "2 jaar"]),
            ("sv", ["$ per dag", "$ per vecka", "$ per månad"], ["2 dagar", "2 veckor", "2 månader", "2 år"]),
            ("da", ["$ pr. dag", "$ pr. uge", "$ pr. måned"], ["2 dage", "2 uger", "2 måneder", "2 år"]),
            ("nb", ["$ per dag", "$ per uke", "$ per måned"], ["2 dager", "2 uker", "2 måneder", "2 år"]),
            ("fr", ["$ par jour", "$ par semaine", "$ par mois"], ["2 jours", "2 semaines", "2 mois", "2 ans"]),
            ("es", ["$ al día", "$ a la semana", "$ al mes"], ["2 días", "2 semanas", "2 meses", "2 años"]),
            ("it", ["$ al giorno", "$ a settimana", "$ al mese"], ["2 giorni", "2 settimane", "2 mesi", "2 anni"]),
            ("pt", ["$ por dia", "$ por semana", "$ por mês"], ["2 dias", "2 semanas", "2 meses", "2 anos"]),
            ("pl", ["$ dziennie", "$ tygodniowo", "$ miesięcznie"], ["2 dni", "2 tygodnie", "2 miesiące", "2 lata"]),
            ("cs", ["$ denně", "$ týdně", "$ měsíčně"], ["2 dny", "2 týdny", "2 měsíce", "2 roky"]),
            ("ru", ["$ в день", "$ в неделю", "$ в месяц"], ["2 дня", "2 недели", "2 месяца", "2 года"]),
            ("uk", ["$ на день", "$ на тиждень", "$ на місяць"], ["2 дні", "2 тижні", "2 місяці", "2 роки"]),
            (
                "fi", ["$ päivässä", "$ viikossa", "$ kuukaudessa"],
                ["2 päivää", "2 viikkoa", "2 kuukautta", "2 vuotta"]
            ),
            ("tr", ["günde $", "haftada $", "ayda $"], ["2 gün", "2 hafta", "2 ay", "2 yıl"]),
            ("ar", ["$ يوميًا", "$ أسبوعيًا", "$ شهريًا"], ["يومان", "أسبوعان", "شهران", "سنتان"]),
            ("ja", ["日額$", "週額$", "月額$"], ["2日間", "2週間", "2か月間", "2年間"]),
            ("ko", ["매일 $", "매주 $", "매월 $"], ["2일간", "2주간", "2개월간", "2년간"]),
            ("zh-Hans", ["每天 $", "每周 $", "每月 $"], ["2 天", "2 周", "2 个月", "2 年"]),
            ("zh-Hant", ["每天 $", "每週 $", "每月 $"], ["2 天", "2 週", "2 個月", "2 年"]),
        ] as [(String, [String], [String])])
    func `days, weeks, months and years have their own words in each language`(
        _ language: String, _ prices: [String], _ lengths: [String]
    ) throws {
        let locale = Locale(identifier: language)
        let price = try TermsTests.money("24", "USD", language)
        let single = [CalendarPeriod(days: 1), CalendarPeriod(days: 7), CalendarPeriod(months: 1)]
        #expect(
            single.map { TermsTests.subscription(each: $0).priceText(in: locale) }
                == prices.map { $0.replacingOccurrences(of: "$", with: price) })
        let double = [
            CalendarPeriod(days: 2), CalendarPeriod(days: 14), CalendarPeriod(months: 2), CalendarPeriod(months: 24),
        ]
        #expect(double.map { TermsTests.subscription(each: $0).lengthText(in: locale) ?? "" } == lengths)
    }

    @Test(
        arguments: [
            ("da", ["$ hver 2. dag", "$ hver 2. uge", "$ hver 2. måned", "$ hver 2. år"]),
            ("nb", ["$ hver 2. dag", "$ hver 2. uke", "$ hver 2. måned", "$ hver 2. år"]),
            ("fr", ["$ tous les 2 jours", "$ toutes les 2 semaines", "$ tous les 2 mois", "$ tous les 2 ans"]),
            ("cs", ["$ každé 2 dny", "$ každé 2 týdny", "$ každé 2 měsíce", "$ každé 2 roky"]),
            ("fi", ["$ 2 päivän välein", "$ 2 viikon välein", "$ 2 kuukauden välein", "$ 2 vuoden välein"]),
            ("tr", ["2 günde bir $", "2 haftada bir $", "2 ayda bir $", "2 yılda bir $"]),
            ("ja", ["2日ごとに$", "2週間ごとに$", "2か月ごとに$", "2年ごとに$"]),
            ("ko", ["2일마다 $", "2주마다 $", "2개월마다 $", "2년마다 $"]),
        ] as [(String, [String])])
    func `a price for several units has their inflected forms`(_ language: String, _ wanted: [String]) throws {
        let price = try TermsTests.money("24", "USD", language)
        let texts = [
            CalendarPeriod(days: 2), CalendarPeriod(days: 14), CalendarPeriod(months: 2), CalendarPeriod(months: 24),
        ].map { TermsTests.subscription(each: $0).priceText(in: Locale(identifier: language)) }
        #expect(texts == wanted.map { $0.replacingOccurrences(of: "$", with: price) })
    }
}
