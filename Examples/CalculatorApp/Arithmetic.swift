/// The state of a pocket calculator, changed by each key.
struct Arithmetic {
    private var entered: Double = 0
    private var total: Double?
    private var pending: Key?
    private var isEntering = false

    var display: String {
        entered == entered.rounded() && abs(entered) < 1e15 ? String(Int(entered)) : String(entered)
    }

    mutating func tap(_ key: Key) {
        switch key {
        case .digit(let digit):
            entered = isEntering ? entered * 10 + Double(digit) : Double(digit)
            isEntering = true
        case .plus, .minus:
            settle()
            total = entered
            pending = key
        case .equals:
            settle()
            total = nil
            pending = nil
        case .clear: self = Arithmetic()
        case .squareRoot: enter(entered.squareRoot())
        case .square: enter(entered * entered)
        }
    }

    private mutating func enter(_ value: Double) {
        entered = value.isFinite ? value : 0
        isEntering = false
    }

    private mutating func settle() {
        if let total, let pending { entered = pending == .plus ? total + entered : total - entered }
        isEntering = false
    }
}
