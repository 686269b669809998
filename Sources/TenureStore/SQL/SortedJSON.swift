import Foundation

/// Returns JSON with sorted keys, so that equal values have equal text. Nil if the value can't be encoded.
private func sortedJSON(_ value: some Encodable) -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
}

extension Dictionary where Key == String, Value: Encodable {
    var json: String { sortedJSON(self) ?? "{}" }
}

extension [String] {
    var json: String { sortedJSON(self) ?? "[]" }
}
