/// A target for text that is written in pieces: like `TextOutputStream`, but also for types that aren't copyable.
package protocol TextPieces: ~Copyable {
    /// Adds text at the end.
    mutating func write(_ piece: String)
}

extension String: TextPieces {}
