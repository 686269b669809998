import Tenure

/// The calculator, without its views. It was sold until build 119; from build 120 on it is free to get, and its scientific
/// keys are a purchase, or belong to those who paid before.
///
/// What the change cost is the import, the object above, and the three calls below.
@MainActor public final class CalculatorModel {
    public private(set) var keypad = Keypad.basic
    public private(set) var notice: String?
    /// One for the whole app, from its start on.
    private let tenure = Tenure(policy: .bundled("tenure.json", in: .module))
    private var arithmetic = Arithmetic()

    public var display: String { arithmetic.display }

    public init() {}

    /// When the window opens.
    public func open() async {
        keypad = await tenure.allows("everything") ? .scientific : .basic
    }

    /// As long as the window is there: a purchase, a refund, another account.
    public func follow() async {
        for await customer in tenure.updates { keypad = customer.has("everything") ? .scientific : .basic }
    }

    /// The button "Restore Purchases".
    public func restoreTapped() async {
        do {
            keypad = try await tenure.restore().has("everything") ? .scientific : .basic
            notice = nil
        } catch {
            notice = "\(error)"
        }
    }

    /// A key of the keypad. Those that are not on it do nothing.
    public func tap(_ key: Key) {
        guard keypad.keys.contains(key) else { return }
        arithmetic.tap(key)
    }
}
