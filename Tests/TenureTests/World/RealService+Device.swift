import Foundation

@testable import Tenure

extension RealService {
    /// A device that only asks the service.
    func device(
        _ store: FakeStore, storage: MemoryStateStorage = MemoryStateStorage(), at now: Date = World.now,
        _ change: @escaping @Sendable (inout Setup) -> Void = { _ in }
    ) -> Device {
        Device(store, storage: storage, at: now, policy: nil) { setup in
            connect(&setup)
            change(&setup)
        }
    }
}

extension FakeStore {
    /// Of somebody who paid, with what the test authority signed.
    static func owner() throws -> FakeStore {
        let app = try World.signed(World.owner())
        return FakeStore { $0.app = app }
    }

    /// Of somebody who came when it was free.
    static func newcomer() throws -> FakeStore {
        let app = try World.signed(World.newcomer())
        return FakeStore { $0.app = app }
    }

    /// Nothing more can be had of it.
    func fallSilent() {
        change {
            $0.appMood = .throwsAnError
            $0.transactionsMood = .throwsAnError
        }
    }
}

extension Tenure.StoreStep {
    var failedAtService: Bool {
        if name == .service, case .failed = outcome { true } else { false }
    }
}
