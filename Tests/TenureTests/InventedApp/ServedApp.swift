import Foundation
import LocalAppStore
import StoreKit
import TenureCore

@testable import Tenure

/// An app with a real service, on a device of the local App Store. Both use HTTP.
struct ServedApp: Sendable {
    let service: RealService
    let served: ServedStore
    let device: LocalStore
    let policy: Policy?
    let time = TestTime(InventedApp.now)
    let storage = MemoryStateStorage()

    /// Runs the app of Dana, who got the app when it was free.
    static func run(
        policy: Policy?, _ body: @escaping @Sendable (ServedApp) async throws -> Void
    ) async throws {
        try await RealService.run { service in
            try await ServedStore.run { served in
                try await served.device(of: "Dana") { device in
                    try await body(ServedApp(service: service, served: served, device: device, policy: policy))
                }
            }
        }
    }

    /// Starts the app. Undetermined decisions are denied.
    func start(_ change: (inout Setup) -> Void = { _ in }) -> Tenure {
        let time = time
        var setup = Setup(access: StoreKitAccess(), storage: storage, policy: policy.map { .policy($0) })
        service.connect(&setup)
        setup.options.whileUndetermined = .deny
        setup.extendTimeouts()
        setup.clock = { time.now }
        setup.waitUntil = { try await time.waitUntil($0) }
        change(&setup)
        return Tenure(setup)
    }
}
