import Foundation
import TenureAppStore
import TenureCore
import TenurePolicyFile

/// Reads the texts of parameters as values, such as numbers and dates. Each method throws an `OperationMistake` if the
/// text has another form. For a missing parameter, `text` throws too, and the other methods return nil.
extension AppStoreOperation {
    func text(_ name: Parameter) throws(OperationMistake) -> String {
        guard let text = self[name] else { throw OperationMistake("`\(kind.rawValue)` needs `\(name.rawValue)`") }
        return text
    }

    func number(_ name: Parameter, in range: ClosedRange<Int>) throws(OperationMistake) -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw OperationMistake(
                text, in: name, mustBe: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func flag(_ name: Parameter) throws(OperationMistake) -> Bool? {
        guard let text = self[name] else { return nil }
        guard let flag = Bool(text) else { throw OperationMistake(text, in: name, mustBe: "true or false") }
        return flag
    }

    func date(_ name: Parameter) throws(OperationMistake) -> Date? {
        guard let text = self[name] else { return nil }
        guard let date = Date(written: text) else {
            throw OperationMistake(text, in: name, mustBe: "an instant such as `2026-11-20T12:00:00Z`, or a day")
        }
        return date
    }

    func uuid(_ name: Parameter) throws(OperationMistake) -> UUID? {
        guard let text = self[name] else { return nil }
        guard let uuid = UUID(uuidString: text) else { throw OperationMistake(text, in: name, mustBe: "a UUID") }
        return uuid
    }

    func platform() throws(OperationMistake) -> Platform? {
        try word(.platform, among: Platform.ofAcquisitions) { $0.rawValue }
    }

    /// Returns the price in milliunits (thousandths of the currency's unit).
    func price() throws(OperationMistake) -> Int64? {
        guard let text = self[.price] else { return nil }
        guard let price = Money.milliunits(text) else {
            throw OperationMistake(text, in: .price, mustBe: "an amount such as `4.99`, or `free`")
        }
        return price
    }

    /// Returns the value among `values` for which `spelled` returns the parameter's text.
    func word<Value>(
        _ name: Parameter, among values: [Value], spelled: (Value) -> String
    ) throws(OperationMistake) -> Value? {
        guard let text = self[name] else { return nil }
        guard let value = values.first(where: { spelled($0) == text }) else {
            throw OperationMistake(text, in: name, mustBe: "one of \(values.map(spelled).joined(separator: ", "))")
        }
        return value
    }

    /// Throws if a parameter's text is invalid in every state of the store, such as the quantity `many`.
    package func checkValues() throws(OperationMistake) {
        _ = try platform()
        _ = try price()
        for name in [Parameter.preordered, .licenseEnds, .to] { _ = try date(name) }
        _ = try flag(.needsConsent)
        _ = try uuid(.appAccountToken)
        _ = try number(.quantity, in: 1...10)
        _ = try number(.percent, in: 1...100)
        _ = try number(.periodsAgo, in: 0...1000)
        _ = try number(.days, in: 1...90)
        _ = try word(.way, among: AppStoreAcquisition.Way.allCases) { $0.rawValue }
        _ = try word(.state, among: Network.allCases) { $0.rawValue }
    }

    /// Returns the time that the store's clock has after an operation `advance`; nil for any other operation.
    func targetTime(in state: AppStoreState) throws(OperationMistake) -> Date? {
        guard kind == .advance else { return nil }
        switch (self[.by], try date(.to)) {
        case (let length?, nil):
            guard let seconds = Duration.seconds(length), seconds >= 0 else {
                throw OperationMistake(length, in: .by, mustBe: "a length of time such as `31d` or `12h`")
            }
            return state.now.addingTimeInterval(seconds)
        case (nil, let date?): return date
        case (nil, nil), (.some, .some): throw OperationMistake("`advance` needs one of `by` and `to`")
        }
    }
}

/// Reads amounts of money as people write them.
enum Money {
    /// Returns an amount such as `4.99`, `5` or `free` in thousandths of the currency's unit. Nil if the text isn't an
    /// amount.
    static func milliunits(_ text: String) -> Int64? {
        if text == "free" { return 0 }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = digits(parts[0], upTo: 9) else { return nil }
        guard parts.count == 2 else { return whole * 1000 }
        guard let fraction = digits(parts[1], upTo: 3) else { return nil }
        return whole * 1000 + fraction * [1, 100, 10, 1][parts[1].utf8.count]
    }

    /// Returns the number that 1 to `count` digits spell; nil for any other text.
    private static func digits(_ text: Substring, upTo count: Int) -> Int64? {
        guard (1...count).contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int64(text)
    }
}
