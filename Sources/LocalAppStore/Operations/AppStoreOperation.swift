import TenureAppStore
package import TenureJSON

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
}

/// The error for an unknown operation, or for an operation with an unknown, missing or invalid parameter.
package struct OperationMistake: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    package init(unknown kind: String) {
        self.init(
            "there is no operation `\(kind)`; the operations are \(AppStoreOperation.Kind.allCases.map(\.rawValue).joined(separator: ", "))"
        )
    }

    init(unknown parameter: String, of kind: AppStoreOperation.Kind) {
        let names = kind.parameters.map { "`\($0.name.rawValue)`" }.joined(separator: ", ")
        self.init("`\(kind.rawValue)` has no parameter `\(parameter)`; it has \(names.isEmpty ? "none" : names)")
    }

    init(_ text: String, in parameter: AppStoreOperation.Parameter, mustBe wanted: String) {
        self.init("`\(parameter.rawValue)` must be \(wanted); found `\(text)`")
    }
}
