import Foundation
import TenureAppStore
import TenureCore
package import TenureJSON
import TenurePolicyFile

/// One operation of the local App Store: something that happens, such as a purchase or a refund, with its parameters as
/// text.
///
/// The command line, the control interface, scenario files and the journal (the file that saves all operations) use
/// this form. `Kind` lists the operations with their parameters.
package struct AppStoreOperation: Sendable, Hashable {
    let kind: Kind
    var parameters: [Parameter: String]

    /// Creates an operation without checking its parameters.
    package init(_ kind: Kind, _ parameters: [Parameter: String] = [:]) {
        self.kind = kind
        self.parameters = parameters
    }

    subscript(_ parameter: Parameter) -> String? { parameters[parameter] }

    /// Reads `{"operation": "refund", "customer": "Ada", ...}`. Throws an `OperationMistake`.
    package init(_ object: JSONObject) throws(OperationMistake) {
        guard case .string(let name)? = object["operation"] else {
            throw OperationMistake(
                "`operation` is missing; write an operation, such as `\"operation\": \"acquire\"`, and its parameters")
        }
        guard let kind = Kind(rawValue: name) else { throw OperationMistake(unknown: name) }
        self.init(kind)
        for member in object.members where member.name != "operation" {
            switch member.value {
            case .string(let text), .number(let text): try set(member.name, to: text)
            case .boolean(let flag): try set(member.name, to: flag ? "true" : "false")
            case .null: break
            case .array, .object: throw OperationMistake("`\(member.name)` of `\(name)` must be a single value")
            }
        }
        try checkCompleteness()
    }

    /// Reads a list of operations. Throws an `OperationMistake`.
    ///
    /// - Parameter customer: the customer of each operation that needs one and names none.
    static func list(
        _ elements: [JSONValue], customer: JSONValue? = nil
    ) throws(OperationMistake) -> [AppStoreOperation] {
        try elements.map { element throws(OperationMistake) in
            guard case .object(let object) = element else {
                throw OperationMistake("an operation must be a JSON object")
            }
            return try AppStoreOperation(object.withDefaultCustomer(customer))
        }
    }

    /// Sets a parameter. Throws if this kind of operation has no parameter `name`, or if it is set already.
    package mutating func set(_ name: String, to text: String) throws(OperationMistake) {
        guard let parameter = Parameter(rawValue: name), kind.parameters.contains(where: { $0.name == parameter })
        else { throw OperationMistake(unknown: name, of: kind) }
        guard parameters.updateValue(text, forKey: parameter) == nil else {
            throw OperationMistake("`\(name)` is given twice; keep one")
        }
    }

    /// Throws if a required parameter is missing.
    package func checkCompleteness() throws(OperationMistake) {
        for parameter in kind.parameters where parameter.isRequired && parameters[parameter.name] == nil {
            throw OperationMistake("`\(kind.rawValue)` needs `\(parameter.name.rawValue)`")
        }
    }

    /// The operation in the form that `init(_:)` reads.
    package var json: JSONObject {
        var object = JSONObject()
        object["operation"] = .string(kind.rawValue)
        for (name, text) in parameters.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            object[name.rawValue] = .string(text)
        }
        return object
    }

    // MARK: Parameters as values, such as numbers and dates

    // Each method throws an `OperationMistake` if the text has another form. For a missing parameter, `text` throws
    // too, and the other methods return nil.

    func text(_ name: Parameter) throws(OperationMistake) -> String {
        guard let text = self[name] else { throw OperationMistake("`\(kind.rawValue)` needs `\(name.rawValue)`") }
        return text
    }

    func number(_ name: Parameter, in range: ClosedRange<Int>) throws(OperationMistake) -> Int? {
        try value(name, mustBe: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func flag(_ name: Parameter) throws(OperationMistake) -> Bool? {
        try value(name, mustBe: "true or false") { Bool($0) }
    }

    func date(_ name: Parameter) throws(OperationMistake) -> Date? {
        try value(name, mustBe: "an instant such as `2026-11-20T12:00:00Z`, or a day") { Date(written: $0) }
    }

    func uuid(_ name: Parameter) throws(OperationMistake) -> UUID? {
        try value(name, mustBe: "a UUID") { UUID(uuidString: $0) }
    }

    func platform() throws(OperationMistake) -> Platform? {
        try word(.platform, among: Platform.ofAcquisitions) { $0.rawValue }
    }

    /// Returns the price in milliunits (thousandths of the currency's unit).
    func price() throws(OperationMistake) -> Int64? {
        try value(.price, mustBe: "an amount such as `4.99`, or `free`") { Money.milliunits($0) }
    }

    /// Returns the value in `values` that the parameter names. `spelled` returns the name of a value.
    func word<Value>(
        _ name: Parameter, among values: [Value], spelled: (Value) -> String
    ) throws(OperationMistake) -> Value? {
        try value(name, mustBe: "one of \(values.map(spelled).joined(separator: ", "))") { text in
            values.first { spelled($0) == text }
        }
    }

    /// Returns the parameter as `read` reads its text; nil for a missing parameter.
    ///
    /// - Parameter wanted: what the text must be, for the message if `read` returns nil.
    private func value<Value>(
        _ name: Parameter, mustBe wanted: @autoclosure () -> String, _ read: (String) -> Value?
    ) throws(OperationMistake) -> Value? {
        guard let text = self[name] else { return nil }
        guard let value = read(text) else { throw OperationMistake(text, in: name, mustBe: wanted()) }
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

extension JSONObject {
    /// Returns this operation for `customer`, if the operation needs a customer and names none. Returns any other
    /// operation unchanged.
    fileprivate func withDefaultCustomer(_ customer: JSONValue?) -> JSONObject {
        guard self["customer"] == nil,
            AppStoreOperation.Kind(rawValue: text("operation") ?? "")?.concernsCustomer == true
        else { return self }
        var object = self
        object["customer"] = customer
        return object
    }
}
