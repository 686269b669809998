/// The wording in each language.
extension Wording {
    // MARK: Germanic languages

    static let english = Wording(
        length: Units("{n} day|{n} days", "{n} week|{n} weeks", "{n} month|{n} months", "{n} year|{n} years"),
        per: Units("{price} per day", "{price} per week", "{price} per month", "{price} per year"),
        every: "{price} every {length}", free: "{length} free", upFront: "{price} for {length}",
        during: "{price} for {length}", then: "{offer}, then {price}", once: "{price} once")

    static let german = Wording(
        length: Units("{n} Tag|{n} Tage", "{n} Woche|{n} Wochen", "{n} Monat|{n} Monate", "{n} Jahr|{n} Jahre"),
        per: Units("{price} pro Tag", "{price} pro Woche", "{price} pro Monat", "{price} pro Jahr"),
        every: "{price} alle {length}", free: "{length} kostenlos", upFront: "{price} für {length}",
        during: "{price} für {length}", then: "{offer}, danach {price}", once: "{price} einmalig")

    static let dutch = Wording(
        length: Units("{n} dag|{n} dagen", "{n} week|{n} weken", "{n} maand|{n} maanden", "{n} jaar|{n} jaar"),
        per: Units("{price} per dag", "{price} per week", "{price} per maand", "{price} per jaar"),
        every: "{price} elke {length}", free: "{length} gratis", upFront: "{price} voor {length}",
        during: "{price} gedurende {length}", then: "{offer}, daarna {price}", once: "{price} eenmalig")

    static let swedish = Wording(
        length: Units("{n} dag|{n} dagar", "{n} vecka|{n} veckor", "{n} månad|{n} månader", "{n} år|{n} år"),
        per: Units("{price} per dag", "{price} per vecka", "{price} per månad", "{price} per år"),
        every: "{price} per {length}", free: "{length} gratis", upFront: "{price} för {length}",
        during: "{price} i {length}", then: "{offer}, sedan {price}", once: "{price} som engångsköp")

    static let danish = Wording(
        length: Units("{n} dag|{n} dage", "{n} uge|{n} uger", "{n} måned|{n} måneder", "{n} år|{n} år"),
        // "Every 3rd month": an ordinal number, and the noun in the singular.
        everyLength: Units("{n}. dag", "{n}. uge", "{n}. måned", "{n}. år"),
        per: Units("{price} pr. dag", "{price} pr. uge", "{price} pr. måned", "{price} pr. år"),
        every: "{price} hver {length}", free: "{length} gratis", upFront: "{price} for {length}",
        during: "{price} i {length}", then: "{offer}, derefter {price}", once: "{price} som engangskøb")

    static let norwegian = Wording(
        length: Units("{n} dag|{n} dager", "{n} uke|{n} uker", "{n} måned|{n} måneder", "{n} år|{n} år"),
        everyLength: Units("{n}. dag", "{n}. uke", "{n}. måned", "{n}. år"),
        per: Units("{price} per dag", "{price} per uke", "{price} per måned", "{price} per år"),
        every: "{price} hver {length}", free: "{length} gratis", upFront: "{price} for {length}",
        during: "{price} i {length}", then: "{offer}, deretter {price}", once: "{price} som engangskjøp")

    // MARK: Romance languages

    static let french = Wording(
        plurals: .zeroOneOther,
        length: Units("{n} jour|{n} jours", "{n} semaine|{n} semaines", "{n} mois|{n} mois", "{n} an|{n} ans"),
        // The word for "week" is feminine.
        everyLength: Units("tous les {n} jours", "toutes les {n} semaines", "tous les {n} mois", "tous les {n} ans"),
        per: Units("{price} par jour", "{price} par semaine", "{price} par mois", "{price} par an"),
        // `gratuit` agrees with `essai`, so it needn't be inflected for the unit.
        every: "{price} {length}", free: "{length} d’essai gratuit", upFront: "{price} pour {length}",
        during: "{price} pendant {length}", then: "{offer}, puis {price}", once: "{price} en paiement unique")

    static let spanish = Wording(
        length: Units("{n} día|{n} días", "{n} semana|{n} semanas", "{n} mes|{n} meses", "{n} año|{n} años"),
        per: Units("{price} al día", "{price} a la semana", "{price} al mes", "{price} al año"),
        every: "{price} cada {length}", free: "{length} gratis", upFront: "{price} por {length}",
        during: "{price} durante {length}", then: "{offer}, después {price}", once: "{price} en un solo pago")

    static let italian = Wording(
        length: Units("{n} giorno|{n} giorni", "{n} settimana|{n} settimane", "{n} mese|{n} mesi", "{n} anno|{n} anni"),
        per: Units("{price} al giorno", "{price} a settimana", "{price} al mese", "{price} all’anno"),
        every: "{price} ogni {length}", free: "{length} gratis", upFront: "{price} per {length}",
        during: "{price} per {length}", then: "{offer}, poi {price}", once: "{price} una tantum")

    static let portuguese = Wording(
        plurals: .zeroOneOther,
        length: Units("{n} dia|{n} dias", "{n} semana|{n} semanas", "{n} mês|{n} meses", "{n} ano|{n} anos"),
        per: Units("{price} por dia", "{price} por semana", "{price} por mês", "{price} por ano"),
        every: "{price} a cada {length}", free: "{length} grátis", upFront: "{price} por {length}",
        during: "{price} durante {length}", then: "{offer}, depois {price}", once: "{price} em pagamento único")

    // MARK: Slavic languages

    static let polish = Wording(
        plurals: .polish,
        length: Units(
            "{n} dzień|{n} dni|{n} dni", "{n} tydzień|{n} tygodnie|{n} tygodni",
            "{n} miesiąc|{n} miesiące|{n} miesięcy", "{n} rok|{n} lata|{n} lat"),
        per: Units("{price} dziennie", "{price} tygodniowo", "{price} miesięcznie", "{price} rocznie"),
        every: "{price} co {length}", free: "{length} za darmo", upFront: "{price} za {length}",
        during: "{price} przez {length}", then: "{offer}, potem {price}", once: "{price} jednorazowo")

    static let czech = Wording(
        plurals: .czech,
        length: Units(
            "{n} den|{n} dny|{n} dní", "{n} týden|{n} týdny|{n} týdnů", "{n} měsíc|{n} měsíce|{n} měsíců",
            "{n} rok|{n} roky|{n} let"),
        // The genitive after `po dobu`.
        duringLength: Units(
            "{n} dne|{n} dnů|{n} dnů", "{n} týdne|{n} týdnů|{n} týdnů", "{n} měsíce|{n} měsíců|{n} měsíců",
            "{n} roku|{n} let|{n} let"),
        everyLength: Units(
            "každý {n} den|každé {n} dny|každých {n} dní", "každý {n} týden|každé {n} týdny|každých {n} týdnů",
            "každý {n} měsíc|každé {n} měsíce|každých {n} měsíců", "každý {n} rok|každé {n} roky|každých {n} let"),
        per: Units("{price} denně", "{price} týdně", "{price} měsíčně", "{price} ročně"),
        every: "{price} {length}", free: "{length} zdarma", upFront: "{price} za {length}",
        during: "{price} po dobu {length}", then: "{offer}, poté {price}", once: "{price} jednorázově")

    static let russian = Wording(
        plurals: .eastSlavic,
        length: Units(
            "{n} день|{n} дня|{n} дней", "{n} неделя|{n} недели|{n} недель", "{n} месяц|{n} месяца|{n} месяцев",
            "{n} год|{n} года|{n} лет"),
        // The accusative. Only the word for "week", which is feminine, differs.
        upFrontLength: accusative,
        // The genitive after `в течение`.
        duringLength: Units(
            "{n} дня|{n} дней|{n} дней", "{n} недели|{n} недель|{n} недель", "{n} месяца|{n} месяцев|{n} месяцев",
            "{n} года|{n} лет|{n} лет"),
        everyLength: accusative,
        per: Units("{price} в день", "{price} в неделю", "{price} в месяц", "{price} в год"),
        every: "{price} раз в {length}", free: "{length} бесплатно", upFront: "{price} за {length}",
        during: "{price} в течение {length}", then: "{offer}, затем {price}", once: "{price} единовременно")

    private static let accusative = Units(
        "{n} день|{n} дня|{n} дней", "{n} неделю|{n} недели|{n} недель", "{n} месяц|{n} месяца|{n} месяцев",
        "{n} год|{n} года|{n} лет")

    static let ukrainian = Wording(
        plurals: .eastSlavic,
        length: Units(
            "{n} день|{n} дні|{n} днів", "{n} тиждень|{n} тижні|{n} тижнів", "{n} місяць|{n} місяці|{n} місяців",
            "{n} рік|{n} роки|{n} років"),
        // The genitive after `протягом`.
        duringLength: Units(
            "{n} дня|{n} днів|{n} днів", "{n} тижня|{n} тижнів|{n} тижнів", "{n} місяця|{n} місяців|{n} місяців",
            "{n} року|{n} років|{n} років"),
        per: Units("{price} на день", "{price} на тиждень", "{price} на місяць", "{price} на рік"),
        every: "{price} раз на {length}", free: "{length} безкоштовно", upFront: "{price} за {length}",
        during: "{price} протягом {length}", then: "{offer}, потім {price}", once: "{price} одноразово")

    // MARK: Finnish, Turkish and Arabic

    static let finnish = Wording(
        // After a number other than 1, the noun is in the partitive.
        length: Units(
            "{n} päivä|{n} päivää", "{n} viikko|{n} viikkoa", "{n} kuukausi|{n} kuukautta", "{n} vuosi|{n} vuotta"),
        upFrontLength: Units("{n} päivältä", "{n} viikolta", "{n} kuukaudelta", "{n} vuodelta"),
        duringLength: genitive, everyLength: genitive,
        per: Units("{price} päivässä", "{price} viikossa", "{price} kuukaudessa", "{price} vuodessa"),
        every: "{price} {length} välein", free: "{length} ilmaiseksi", upFront: "{price} {length}",
        during: "{price} {length} ajan", then: "{offer}, sitten {price}", once: "{price} kertamaksuna")

    private static let genitive = Units("{n} päivän", "{n} viikon", "{n} kuukauden", "{n} vuoden")

    static let turkish = Wording(
        plurals: .single, length: Units("{n} gün", "{n} hafta", "{n} ay", "{n} yıl"),
        everyLength: Units("{n} günde", "{n} haftada", "{n} ayda", "{n} yılda"),
        per: Units("günde {price}", "haftada {price}", "ayda {price}", "yılda {price}"),
        every: "{length} bir {price}", free: "{length} ücretsiz", upFront: "{length} için {price}",
        during: "{length} boyunca {price}", then: "{offer}, ardından {price}", once: "tek seferlik {price}")

    static let arabic = Wording(
        plurals: .arabic,
        // The forms for one and two have no number.
        length: Units(
            "يوم واحد|يومان|{n} أيام|{n} يومًا|{n} يوم", "أسبوع واحد|أسبوعان|{n} أسابيع|{n} أسبوعًا|{n} أسبوع",
            "شهر واحد|شهران|{n} أشهر|{n} شهرًا|{n} شهر", "سنة واحدة|سنتان|{n} سنوات|{n} سنة|{n} سنة"),
        upFrontLength: oblique, duringLength: oblique, everyLength: oblique,
        per: Units("{price} يوميًا", "{price} أسبوعيًا", "{price} شهريًا", "{price} سنويًا"),
        every: "{price} كل {length}", free: "{length} مجانًا", upFront: "{price} لمدة {length}",
        during: "{price} لمدة {length}", then: "{offer}، ثم {price}", once: "{price} مرة واحدة")

    /// The forms after a preposition. Only the dual differs.
    private static let oblique = Units(
        "يوم واحد|يومين|{n} أيام|{n} يومًا|{n} يوم", "أسبوع واحد|أسبوعين|{n} أسابيع|{n} أسبوعًا|{n} أسبوع",
        "شهر واحد|شهرين|{n} أشهر|{n} شهرًا|{n} شهر", "سنة واحدة|سنتين|{n} سنوات|{n} سنة|{n} سنة")

    // MARK: Japanese, Korean and Chinese

    static let japanese = Wording(
        plurals: .single, length: Units("{n}日間", "{n}週間", "{n}か月間", "{n}年間"),
        everyLength: Units("{n}日", "{n}週間", "{n}か月", "{n}年"),
        per: Units("日額{price}", "週額{price}", "月額{price}", "年額{price}"),
        every: "{length}ごとに{price}", free: "{length}無料", upFront: "{length}{price}",
        during: "{length}は{price}", then: "{offer}、その後{price}", once: "{price}（買い切り）")

    static let korean = Wording(
        plurals: .single, length: Units("{n}일간", "{n}주간", "{n}개월간", "{n}년간"),
        everyLength: Units("{n}일", "{n}주", "{n}개월", "{n}년"),
        per: Units("매일 {price}", "매주 {price}", "매월 {price}", "매년 {price}"),
        every: "{length}마다 {price}", free: "{length} 무료", upFront: "{length} {price}",
        during: "{length} {price}", then: "{offer}, 이후 {price}", once: "{price} (1회 결제)")

    static let simplifiedChinese = Wording(
        plurals: .single, length: Units("{n} 天", "{n} 周", "{n} 个月", "{n} 年"),
        per: Units("每天 {price}", "每周 {price}", "每月 {price}", "每年 {price}"),
        every: "每 {length} {price}", free: "免费试用 {length}", upFront: "{length} {price}",
        during: "前 {length}{price}", then: "{offer}，之后{price}", once: "{price}（一次性购买）")

    static let traditionalChinese = Wording(
        plurals: .single, length: Units("{n} 天", "{n} 週", "{n} 個月", "{n} 年"),
        per: Units("每天 {price}", "每週 {price}", "每月 {price}", "每年 {price}"),
        every: "每 {length} {price}", free: "免費試用 {length}", upFront: "{length} {price}",
        during: "前 {length}{price}", then: "{offer}，之後{price}", once: "{price}（一次性購買）")
}
