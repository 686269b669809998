/// The wording in Finnish, Turkish and Arabic.
extension Wording {
    static let finnish = Wording(
        plurals: .oneOther,
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
        plurals: .single,
        length: Units("{n} gün", "{n} hafta", "{n} ay", "{n} yıl"),
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
}
