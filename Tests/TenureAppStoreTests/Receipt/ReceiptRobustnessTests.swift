import Foundation
import TenureAppStore
import TenureCore
import TenureMint
import Testing

struct ReceiptRobustnessTests {
    private static func receipts() throws -> [[UInt8]] {
        let minter = try ReceiptTestBed.minter()
        return [
            try minter.mint(),
            try minter.mint(minter.defaultReceipt, style: ReceiptStyle(form: .ber, hasSignedAttributes: true)),
        ]
    }

    @Test func `a receipt that is cut off anywhere is malformed`() throws {
        let verifier = try ReceiptTestBed.verifier()
        for receipt in try Self.receipts() {
            for length in 0..<receipt.count {
                let rejection = try ReceiptTestBed.rejection(of: Array(receipt[..<length]), by: verifier)
                #expect(rejection?.code == .malformed, "cut at \(length)")
            }
        }
    }

    /// The root certificate within the receipt is never read. Only the configured root is used.
    @Test func `a receipt with one changed byte is rejected, unless the byte is in its root certificate`() throws {
        let root = try ReceiptTestBed.authority.receipts.root.der
        // Each invalid chain is different here. The limit for unknown chains isn't tested here, so it is high.
        let trust = try TrustConfiguration(anchors: [.production: ReceiptTestBed.authority.anchors])
        let budget = ChainCache.Budget(burst: 1_000_000, perSecond: 1_000_000)
        let verifier = AppStoreVerifier(
            app: AppIdentity(bundleID: "com.example.calculator"), cache: ChainCache(trust: trust, budget: budget))
        for receipt in try Self.receipts() {
            let start = try #require(receipt.firstRange(of: root)?.lowerBound)
            for index in receipt.indices where !(start + 4..<start + root.count).contains(index) {
                var changed = receipt
                changed[index] ^= 1 << UInt8(index % 8)
                guard try ReceiptTestBed.rejection(of: changed, by: verifier) == nil else { continue }
                Issue.record("byte \(index) of \(receipt.count) changed, and it verifies")
            }
        }
    }

    @Test func `a receipt with too many elements is refused`() throws {
        let minter = try ReceiptTestBed.minter()
        // More attributes than any genuine receipt has.
        var draft = minter.defaultReceipt
        draft.attributes += Array(repeating: .init(type: 98, value: .octets([])), count: 70_000)
        #expect(try ReceiptTestBed.rejection(of: minter.mint(draft))?.code == .malformed)
    }
}
