/// The state of a pocket calculator, changed by each key.
struct Arithmetic {
    /// The number that the display shows.
    private var entered: Double = 0
    /// The left operand of the pending operation.
    private var total: Double?
    /// The operation, plus or minus, that waits for its right operand.
    private var pending: Key?
    /// Whether the next digit is appended to the number on the display. Otherwise it begins a new number.
    private var isEntering = false

    /// The number on the display, without a fraction if it is whole.
    var display: String {
        entered == entered.rounded() && abs(entered) < 1e15 ? String(Int(entered)) : String(entered)
    }

    mutating func tap(_ key: Key) {
        switch key {
        case .digit(let digit):
            entered = isEntering ? entered * 10 + Double(digit) : Double(digit)
            isEntering = true
        case .plus, .minus:
            completePending()
            total = entered
            pending = key
        case .equals:
            completePending()
            total = nil
            pending = nil
        case .clear: self = Arithmetic()
        case .squareRoot: show(entered.squareRoot())
        case .square: show(entered * entered)
        }
    }

    /// Shows a result. An infinite or undefined one, such as the square root of -1, becomes 0.
    private mutating func show(_ value: Double) {
        entered = value.isFinite ? value : 0
        isEntering = false
    }

    /// Shows the result of the pending operation, if there is one.
    private mutating func completePending() {
        if let total, let pending { entered = pending == .plus ? total + entered : total - entered }
        isEntering = false
    }
}
