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
}
