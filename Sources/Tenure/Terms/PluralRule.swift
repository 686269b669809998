/// The plural rules of a language for whole numbers, from Unicode's CLDR.
///
/// `Foundation` has them only in string catalogs, which Linux lacks.
enum PluralRule: Sendable {
    /// Japanese, Korean, Chinese, Turkish: one form for every number.
    case single
    /// Most languages of western and northern Europe: 1; others.
    case oneOther
    /// French, Brazilian Portuguese: 0 and 1; others.
    case zeroOneOther
    /// Czech: 1; 2 to 4; others.
    case czech
    /// Polish: 1; numbers that end in 2 to 4 but not in 12 to 14; others.
    case polish
    /// Russian, Ukrainian: numbers that end in 1 but not in 11; in 2 to 4 but not in 12 to 14; others.
    case eastSlavic
    /// Arabic: 1; 2; numbers that end in 03 to 10; in 11 to 99; others.
    case arabic

    /// Returns the index of the form for a number, in the order of the cases' descriptions. The number must not be
    /// negative.
    func form(of number: Int) -> Int {
        let (lastDigit, lastTwoDigits) = (number % 10, number % 100)
        let isFew = (2...4).contains(lastDigit) && !(12...14).contains(lastTwoDigits)
        switch self {
        case .single: return 0
        case .oneOther: return number == 1 ? 0 : 1
        case .zeroOneOther: return number <= 1 ? 0 : 1
        case .czech: return number == 1 ? 0 : (2...4).contains(number) ? 1 : 2
        case .polish: return number == 1 ? 0 : isFew ? 1 : 2
        case .eastSlavic: return lastDigit == 1 && lastTwoDigits != 11 ? 0 : isFew ? 1 : 2
        case .arabic:
            switch (number, lastTwoDigits) {
            case (1, _): return 0
            case (2, _): return 1
            case (_, 3...10): return 2
            case (_, 11...99): return 3
            default: return 4
            }
        }
    }
}
