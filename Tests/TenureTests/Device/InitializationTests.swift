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

    @Test func `a listening client allows everything, even to a customer without rights and while the service is down`()
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

    @Test func `a persona's token works only with a service, and a described persona only without one`()
        async throws
    {
        let service = try #require(URL(string: "http://127.0.0.1:9"))
        let key = try Signer().pinned()
        try await ServedStore.run(.production) { served in
            try await served.device(of: "Dana") { _ in
                let chosen = Tenure.Persona.earlyBuyer(build: "37", on: InventedApp.date("2014-05-01"))
                _ = try served.start { $0.persona = chosen }
                _ = try Tenure(service: service, key: key, options: served.options { $0.persona = .token("token") })
                #expect(
                    throws: Tenure.Error.persona("a persona's token works only with the service that created it")
                ) {
                    try served.start { $0.persona = .token("token") }
                }
                #expect(throws: Tenure.Error.persona("a client with a service accepts only a persona's token")) {
                    try Tenure(service: service, key: key, options: served.options { $0.persona = chosen })
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `releasing a client cancels its wait for the next search`() async {
        let (waits, waiting) = AsyncStream<Void>.makeStream()
        let (canceled, continuation) = AsyncStream<Void>.makeStream()
        let device = Device(FakeStore { $0.app = InventedApp.owner() })
        var tenure: Tenure? = device.start { setup in
            setup.sleep = { _ in
                waiting.finish()
                try await withTaskCancellationHandler {
                    try await Task.sleep(nanoseconds: 3_600_000_000_000)
                } onCancel: {
                    continuation.finish()
                }
            }
        }
        for await _ in waits {}
        #expect(tenure?.customer.has("everything") == true)
        tenure = nil
        for await _ in canceled {}
    }
}
