import Foundation
import Testing

@testable import Tenure

@Suite struct StoredStatementTests {
    @Test func `a device stores at most sixteen statements about keys, of at most 1,024 bytes`() {
        let short = (0..<17).map { "\($0)" }
        #expect(KeyRing.statementsToStore(of: short) == Array(short.prefix(16)))
        let (longest, tooLong) = (String(repeating: "a", count: 1024), String(repeating: "a", count: 1025))
        #expect(KeyRing.statementsToStore(of: [longest, tooLong, "b"]) == [longest, "b"])
    }
}
