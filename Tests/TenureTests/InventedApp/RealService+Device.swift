import Foundation

@testable import Tenure

extension RealService {
    /// A device that only asks the service.
    func device(
        _ store: FakeStore, storage: MemoryStateStorage = MemoryStateStorage(), at now: Date = InventedApp.now,
        _ change: @escaping @Sendable (inout Setup) -> Void = { _ in }
    ) -> Device {
        Device(store, storage: storage, at: now, policy: nil) { setup in
            connect(&setup)
            change(&setup)
        }
    }
}

extension FakeStore {
    /// The StoreKit of a customer who paid, with artifacts of the test authority.
    static func owner() throws -> FakeStore {
        let app = try InventedApp.signed(InventedApp.owner())
        return FakeStore { $0.app = app }
    }

    /// The StoreKit of a customer who got the app when it was free.
    static func newcomer() throws -> FakeStore {
        let app = try InventedApp.signed(InventedApp.newcomer())
        return FakeStore { $0.app = app }
    }

    /// Makes StoreKit stop answering.
    func fallSilent() {
        change {
            $0.appBehavior = .throwsAnError
            $0.transactionsBehavior = .throwsAnError
        }
    }
}

extension Tenure.AppStoreStep {
    var failedAtService: Bool {
        if name == .service, case .failed = outcome { true } else { false }
    }
}
