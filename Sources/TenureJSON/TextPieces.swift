/// A target for text in pieces. `TextOutputStream` requires a copyable type.
package protocol TextPieces: ~Copyable {
    mutating func write(_ piece: String)
}

extension String: TextPieces {}
