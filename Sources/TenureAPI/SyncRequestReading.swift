package import Foundation

extension SyncRequest {
    /// In UTF-8.
    private static let longestNonce = 64

    /// Reads a body. Unknown fields are ignored; a wrong shape gives a problem that names the field, and more than
    /// `most` of a list one that says so.
    package init(
        reading body: Data, most: (transactions: Int, renewalInfos: Int)
    ) throws(Problem) {
        do {
            self = try JSONDecoder().decode(SyncRequest.self, from: body)
        } catch let DecodingError.typeMismatch(_, context), let DecodingError.valueNotFound(_, context) {
            throw Problem(.malformedRequest, "`\(context.codingPath.text)` has the wrong shape")
        } catch {
            throw Problem(.malformedRequest, "the body is no JSON object")
        }
        if let count = transactions?.count, count > most.transactions {
            throw Problem(
                .tooLarge, "`transactions` holds \(count) entries, and at most \(most.transactions) are taken")
        }
        if let count = renewalInfos?.count, count > most.renewalInfos {
            throw Problem(
                .tooLarge, "`renewalInfos` holds \(count) entries, and at most \(most.renewalInfos) are taken")
        }
        if let nonce, nonce.utf8.count > Self.longestNonce {
            throw Problem(
                .malformedRequest, "`nonce` has \(nonce.utf8.count) bytes, and at most \(Self.longestNonce) are signed")
        }
    }
}

extension [any CodingKey] {
    /// `transactions[3]`.
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
