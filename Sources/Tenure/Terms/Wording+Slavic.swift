/// The wording in Slavic languages.
extension Wording {
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
}
