/// Takes a text piece by piece. Beside `TextOutputStream`, which only takes what can be copied.
package protocol TextPieces: ~Copyable {
    mutating func write(_ piece: String)
}

extension String: TextPieces {}
