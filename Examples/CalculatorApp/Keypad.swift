/// The set of keys that the calculator shows.
public enum Keypad: Sendable, Hashable {
    case basic, scientific

    public var keys: [Key] {
        let basic = (0...9).map(Key.digit) + [.plus, .minus, .equals, .clear]
        return self == .basic ? basic : basic + [.squareRoot, .square]
    }
}

/// A key of the calculator.
public enum Key: Sendable, Hashable {
    case digit(Int)
    case plus, minus, equals, clear
    case squareRoot, square
}
