import Foundation

/// Hands pieces from one thread to another: one transaction reads what another writes. Few pieces are in memory.
///
/// Each side waits for the other. If either fails, both throw its error.
final class Handover<Piece: Sendable>: @unchecked Sendable {
    // `Locked` can't wait until another thread changes the value. All variables are used between `condition.lock()` and
    // `condition.unlock()` only.
    private let condition = NSCondition()
    private var waiting: [Piece] = []
    private var failure: StoreError?

    private static var most: Int { 4 }

    /// Hands over a piece. Waits while the other side is behind.
    func give(_ piece: Piece) throws(StoreError) {
        condition.lock()
        defer { condition.unlock() }
        while waiting.count >= Self.most, failure == nil { condition.wait() }
        if let failure { throw failure }
        waiting.append(piece)
        condition.broadcast()
    }

    /// Waits for the next piece.
    func take() throws(StoreError) -> Piece {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty, failure == nil { condition.wait() }
        if let failure { throw failure }
        condition.broadcast()
        return waiting.removeFirst()
    }

    /// Whether no piece waits.
    var isEmpty: Bool {
        condition.lock()
        defer { condition.unlock() }
        return waiting.isEmpty
    }

    /// Ends both sides with an error. Returns the first error if there were several.
    @discardableResult func fail(_ error: StoreError) -> StoreError {
        condition.lock()
        defer { condition.unlock() }
        let first = failure ?? error
        failure = first
        condition.broadcast()
        return first
    }
}
