/// The wording in Romance languages.
extension Wording {
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
        plurals: .oneOther,
        length: Units("{n} día|{n} días", "{n} semana|{n} semanas", "{n} mes|{n} meses", "{n} año|{n} años"),
        per: Units("{price} al día", "{price} a la semana", "{price} al mes", "{price} al año"),
        every: "{price} cada {length}", free: "{length} gratis", upFront: "{price} por {length}",
        during: "{price} durante {length}", then: "{offer}, después {price}", once: "{price} en un solo pago")

    static let italian = Wording(
        plurals: .oneOther,
        length: Units(
            "{n} giorno|{n} giorni", "{n} settimana|{n} settimane", "{n} mese|{n} mesi", "{n} anno|{n} anni"),
        per: Units("{price} al giorno", "{price} a settimana", "{price} al mese", "{price} all’anno"),
        every: "{price} ogni {length}", free: "{length} gratis", upFront: "{price} per {length}",
        during: "{price} per {length}", then: "{offer}, poi {price}", once: "{price} una tantum")

    static let portuguese = Wording(
        plurals: .zeroOneOther,
        length: Units("{n} dia|{n} dias", "{n} semana|{n} semanas", "{n} mês|{n} meses", "{n} ano|{n} anos"),
        per: Units("{price} por dia", "{price} por semana", "{price} por mês", "{price} por ano"),
        every: "{price} a cada {length}", free: "{length} grátis", upFront: "{price} por {length}",
        during: "{price} durante {length}", then: "{offer}, depois {price}", once: "{price} em pagamento único")
}
