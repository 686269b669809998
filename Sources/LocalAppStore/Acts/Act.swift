import TenureAppStore
package import TenureJSON

/// One operation: what happens, with its parameters as text.
/// The command line, the control interface, scenario files and the journal all use this form. One table has the
/// parameters of each operation.
package struct Act: Sendable, Hashable {
    package let verb: Verb
    package var particulars: [Particular: String]

    package init(_ verb: Verb, _ particulars: [Particular: String] = [:]) {
        self.verb = verb
        self.particulars = particulars
    }

    package subscript(_ particular: Particular) -> String? { particulars[particular] }

    /// Reads `{"act": "refund", "customer": "Ada", ...}`. Throws an `ActMistake`.
    package init(_ object: JSONObject) throws(ActMistake) {
        guard case .string(let name)? = object["act"] else {
            throw ActMistake("the operation is missing; write `\"act\": \"acquire\"` and its parameters")
        }
        guard let verb = Verb(rawValue: name) else { throw ActMistake(unknown: name) }
        self.init(verb)
        for member in object.members where member.name != "act" {
            switch member.value {
            case .string(let text), .number(let text): try set(member.name, to: text)
            case .boolean(let flag): try set(member.name, to: flag ? "true" : "false")
            case .null: break
            case .array, .object: throw ActMistake("`\(member.name)` of `\(name)` is a single value")
            }
        }
        try checkCompleteness()
    }

    /// Throws if this operation has no such parameter, or has it already.
    package mutating func set(_ name: String, to text: String) throws(ActMistake) {
        guard let particular = Particular(rawValue: name), verb.particulars.contains(where: { $0.name == particular })
        else { throw ActMistake(unknown: name, of: verb) }
        guard particulars.updateValue(text, forKey: particular) == nil else {
            throw ActMistake("`\(name)` is given twice; keep one")
        }
    }

    /// Throws if a required parameter is missing.
    package func checkCompleteness() throws(ActMistake) {
        for particular in verb.particulars where particular.isRequired && particulars[particular.name] == nil {
            throw ActMistake("`\(verb.rawValue)` needs `\(particular.name.rawValue)`")
        }
    }

    package var json: JSONObject {
        var object = JSONObject()
        object["act"] = .string(verb.rawValue)
        for (name, text) in particulars.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            object[name.rawValue] = .string(text)
        }
        return object
    }
}

/// An operation that can't be understood.
package struct ActMistake: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    package init(unknown verb: String) {
        self.init(
            "there is no operation `\(verb)`; the operations are \(Verb.allCases.map(\.rawValue).joined(separator: ", "))"
        )
    }

    init(unknown particular: String, of verb: Verb) {
        let names = verb.particulars.map { "`\($0.name.rawValue)`" }.joined(separator: ", ")
        self.init("`\(verb.rawValue)` has no parameter `\(particular)`; it has \(names.isEmpty ? "none" : names)")
    }

    init(_ text: String, in particular: Particular, is wanted: String) {
        self.init("`\(particular.rawValue)` is \(wanted), and not `\(text)`")
    }
}
