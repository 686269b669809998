package import Foundation

/// Reading the body of a sync in the service, with its limits.
extension SyncRequest {
    /// The maximum size of a nonce, in bytes of UTF-8.
    private static let maximumNonceLength = 64

    /// Reads a body. Unknown fields are ignored.
    ///
    /// - Parameter limits: The maximum number of entries in each list.
    /// - Throws: `malformedRequest` if a field has a wrong type or the nonce is too long; `tooLarge` if a list has too
    ///   many entries. The message names the field.
    package init(reading body: Data, limits: (transactions: Int, renewalInfos: Int)) throws(Problem) {
        do {
            self = try JSONDecoder().decode(SyncRequest.self, from: body)
        } catch let DecodingError.typeMismatch(type, context), let DecodingError.valueNotFound(type, context) {
            throw Problem(wrongType: type, at: context.codingPath)
        } catch {
            throw Problem(.malformedRequest, "the body must be a JSON object")
        }
        if let count = transactions?.count, count > limits.transactions {
            throw Problem(.tooLarge, "`transactions` has \(count) entries; send at most \(limits.transactions)")
        }
        if let count = renewalInfos?.count, count > limits.renewalInfos {
            throw Problem(.tooLarge, "`renewalInfos` has \(count) entries; send at most \(limits.renewalInfos)")
        }
        if let nonce, nonce.utf8.count > Self.maximumNonceLength {
            throw Problem(
                .malformedRequest, "`nonce` has \(nonce.utf8.count) bytes; send at most \(Self.maximumNonceLength)")
        }
    }
}

extension Problem {
    /// Creates the problem of a field with another JSON type than the Swift type `type` needs.
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
