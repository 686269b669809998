import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(2))) struct `A service that is down` {
    /// An app that asks the service, on Dana's device, with StoreKit over HTTP.
    private func withApp(
        policy: Policy?,
        _ body: @escaping @Sendable (RealService, LocalStore, @escaping @Sendable () -> Tenure) async throws -> Void
    ) async throws {
        try await RealService.run { service in
            try await ServedStore.run { served in
                try await served.device(of: "Dana") { device in
                    let storage = MemoryStateStorage()
                    try await body(service, device) {
                        var setup = Setup(
                            access: StoreKitAccess(), storage: storage, policy: policy.map { .policy($0) })
                        service.connect(&setup)
                        setup.options.whileUndetermined = .deny
                        setup.clock = { World.now }
                        setup.purchaseTimeout = 0.2
                        return Tenure(setup)
                    }
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func
        `takes nothing from a payer whom it denied before, by the bundled policy or the stored catalog, also after a relaunch`(
            _ hasPolicy: Bool
        ) async throws
    {
        try await withApp(policy: hasPolicy ? World.policy(whileUndetermined: .deny) : nil) { service, device, start in
            let tenure = start()
            #expect(await tenure.decision(for: "everything").outcome == .denied)
            service.line.condition = .down
            let result = try await tenure.purchase(try await product(World.everything))
            guard case .purchased(_, let customer) = result else { throw Unexpected() }
            #expect(customer.allows("everything"))
            #expect(await tenure.allows("everything"))
            let relaunched = start()
            _ = await relaunched.settled()
            #expect(await relaunched.allows("everything"))
            // Unfinished, since the service doesn't have it yet.
            var unfinished: [String] = []
            for await result in StoreKit.Transaction.unfinished {
                unfinished.append(result.unsafePayloadValue.productID)
            }
            #expect(unfinished == [World.everything])
            service.line.condition = .up
            #expect(await relaunched.refresh().answers["everything"]?.outcome == .granted)
            for await _ in StoreKit.Transaction.unfinished { Issue.record("it is recorded now") }
        }
    }
}
