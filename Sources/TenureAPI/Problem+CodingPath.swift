/// Problems about a field of a JSON body.
extension Problem {
    /// Creates the problem of a field with the wrong JSON type. `type` is the Swift type that was expected.
    package init(wrongType type: Any.Type, at path: [any CodingKey]) {
        let wanted =
            switch type {
            case is String.Type: "a string"
            case is Bool.Type: "`true` or `false`"
            case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type: "a number"
            case is any RangeReplaceableCollection.Type: "a list"
            default: "an object"
            }
        let name = path.isEmpty ? "the body" : "`\(path.text)`"
        self.init(.malformedRequest, "\(name) has the wrong type; send \(wanted)")
    }
}

extension [any CodingKey] {
    /// The path of a field as messages write it, such as `transactions[3]`; `the body` if the path is empty.
    package var text: String {
        let text = reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return text.isEmpty ? "the body" : text
    }
}
