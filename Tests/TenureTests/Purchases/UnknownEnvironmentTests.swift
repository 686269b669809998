import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import StoreKit
@testable import Tenure

@Suite struct `A purchase from an unknown environment` {
    // Apple may add environments, and StoreKit would verify their transactions.
    @Test(arguments: [("Preview", false), ("production", false), ("Production", true)])
    func `a verified purchase of an unknown environment throws, and grants nothing`(
        environment: String, isKnown: Bool
    ) async throws {
        let minter = JWSMinter(
            authority: RealService.authority, app: MintedApp(deviceVerificationID: InventedApp.device),
            signedAt: InventedApp.now.addingTimeInterval(-60))
        let jws = try minter.mint(
            .transaction,
            setting: [
                "environment": .string(environment), "productId": .string(InventedApp.everything),
                "type": .string("Non-Consumable"), "expiresDate": .null,
                "appTransactionId": .string("704000000000000002"),
            ])
        let read = StoreKit.SignedText(String(decoding: jws, as: UTF8.self)).flatMap { StoreKit.Transaction($0) }
        let transaction = try #require(read)
        let tenure = Device(try .newcomer(), policy: InventedApp.policy(whileUndetermined: .deny)).start()
        #expect(await !tenure.allows("everything"))
        if isKnown {
            guard case .purchased(_, let customer) = try await tenure.process(.verified(transaction)) else {
                throw Unexpected()
            }
            #expect(customer.allows("everything"))
        } else {
            let thrown = await #expect(throws: Tenure.Error.self) { try await tenure.process(.verified(transaction)) }
            guard case .unverified(let reason)? = thrown else { throw Unexpected() }
            #expect(reason == "StoreKit reported an unknown environment `\(environment)`")
            #expect(!tenure.customer.allows("everything"))
        }
    }
}
