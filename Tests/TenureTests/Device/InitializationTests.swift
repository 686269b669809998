import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `Creating a client` {
    @Test func `creating a client reads no files, device data or stored state on the caller's thread`() async throws {
        let store = FakeStore { $0.app = InventedApp.owner() }
        let storage = MemoryStateStorage()
        let setup = Setup(access: store, storage: storage, policy: .policy(InventedApp.policy()))
        let engine = Engine(setup, policy: .success(try setup.loadPolicy()))
        #expect(store.now.installationReads == 0)
        #expect(storage.reads == 0)
        await engine.load()
        #expect(store.now.installationReads > 0)
        #expect(storage.reads > 0)
    }

    @Test func `a listening client allows everything, also to a customer without rights and while the service is down`()
        async throws
    {
        let service = try #require(URL(string: "http://127.0.0.1:9"))
        try await ServedStore.run(.production) { served in
            try await served.device(of: "Dana") { _ in
                let tenure = Tenure.listening(service: service, options: served.options { _ in })
                for entitlement in ["everything", "unknown"] {
                    #expect(await tenure.allows(entitlement), "\(entitlement)")
                }
            }
        }
    }
}
