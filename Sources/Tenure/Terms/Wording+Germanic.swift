/// The wording in Germanic languages.
extension Wording {
    static let english = Wording(
        plurals: .oneOther,
        length: Units("{n} day|{n} days", "{n} week|{n} weeks", "{n} month|{n} months", "{n} year|{n} years"),
        per: Units("{price} per day", "{price} per week", "{price} per month", "{price} per year"),
        every: "{price} every {length}", free: "{length} free", upFront: "{price} for {length}",
        during: "{price} for {length}", then: "{offer}, then {price}", once: "{price} once")

    static let german = Wording(
        plurals: .oneOther,
        length: Units("{n} Tag|{n} Tage", "{n} Woche|{n} Wochen", "{n} Monat|{n} Monate", "{n} Jahr|{n} Jahre"),
        per: Units("{price} pro Tag", "{price} pro Woche", "{price} pro Monat", "{price} pro Jahr"),
        every: "{price} alle {length}", free: "{length} kostenlos", upFront: "{price} für {length}",
        during: "{price} für {length}", then: "{offer}, danach {price}", once: "{price} einmalig")

    static let dutch = Wording(
        plurals: .oneOther,
        length: Units("{n} dag|{n} dagen", "{n} week|{n} weken", "{n} maand|{n} maanden", "{n} jaar|{n} jaar"),
        per: Units("{price} per dag", "{price} per week", "{price} per maand", "{price} per jaar"),
        every: "{price} elke {length}", free: "{length} gratis", upFront: "{price} voor {length}",
        during: "{price} gedurende {length}", then: "{offer}, daarna {price}", once: "{price} eenmalig")

    static let swedish = Wording(
        plurals: .oneOther,
        length: Units("{n} dag|{n} dagar", "{n} vecka|{n} veckor", "{n} månad|{n} månader", "{n} år|{n} år"),
        per: Units("{price} per dag", "{price} per vecka", "{price} per månad", "{price} per år"),
        every: "{price} per {length}", free: "{length} gratis", upFront: "{price} för {length}",
        during: "{price} i {length}", then: "{offer}, sedan {price}", once: "{price} som engångsköp")

    static let danish = Wording(
        plurals: .oneOther,
        length: Units("{n} dag|{n} dage", "{n} uge|{n} uger", "{n} måned|{n} måneder", "{n} år|{n} år"),
        // "Every 3rd month": an ordinal number, and the noun in the singular.
        everyLength: Units("{n}. dag", "{n}. uge", "{n}. måned", "{n}. år"),
        per: Units("{price} pr. dag", "{price} pr. uge", "{price} pr. måned", "{price} pr. år"),
        every: "{price} hver {length}", free: "{length} gratis", upFront: "{price} for {length}",
        during: "{price} i {length}", then: "{offer}, derefter {price}", once: "{price} som engangskøb")

    static let norwegian = Wording(
        plurals: .oneOther,
        length: Units("{n} dag|{n} dager", "{n} uke|{n} uker", "{n} måned|{n} måneder", "{n} år|{n} år"),
        everyLength: Units("{n}. dag", "{n}. uke", "{n}. måned", "{n}. år"),
        per: Units("{price} per dag", "{price} per uke", "{price} per måned", "{price} per år"),
        every: "{price} hver {length}", free: "{length} gratis", upFront: "{price} for {length}",
        during: "{price} i {length}", then: "{offer}, deretter {price}", once: "{price} som engangskjøp")
}
