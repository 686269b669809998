import Foundation
import Testing

@testable import TenureAPI

@Suite struct `the limits of a sync request` {
    @Test func `transactions, renewal infos and the nonce of a sync request each have their own limit`() throws {
        func read(transactions: Int = 0, renewalInfos: Int = 0, nonce: Int = 0) throws(Problem) -> SyncRequest {
            func list(_ count: Int) -> String { (0..<count).map { _ in #""x""# }.joined(separator: ",") }
            let json = """
                {"transactions":[\(list(transactions))],"renewalInfos":[\(list(renewalInfos))],\
                "nonce":"\(String(repeating: "n", count: nonce))"}
                """
            return try SyncRequest(reading: Data(json.utf8), limits: (transactions: 5, renewalInfos: 3))
        }
        #expect(try read(transactions: 5, renewalInfos: 3, nonce: 64).transactions?.count == 5)
        let tooMany = #expect(throws: Problem.self) { try read(transactions: 6) }
        #expect(tooMany?.code == .tooLarge && tooMany?.detail.contains("`transactions` has 6") == true)
        let tooManyInfos = #expect(throws: Problem.self) { try read(renewalInfos: 4) }
        #expect(tooManyInfos?.code == .tooLarge && tooManyInfos?.detail.contains("`renewalInfos` has 4") == true)
        let tooLong = #expect(throws: Problem.self) { try read(nonce: 65) }
        #expect(tooLong?.code == .malformedRequest && tooLong?.detail.contains("`nonce` has 65") == true)
    }
}
