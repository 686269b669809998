import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `Events on the device` {
    /// Returns how many times the client lists the purchases because of an event some seconds after a search.
    private func reads(
        after event: DeviceEvent, seconds: TimeInterval, isOwner: Bool = false
    ) async throws -> Int {
        let policy = try Policy(
            app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
            eras: [Era(name: "always", model: isOwner ? .paid : .free)],
            entitlements: [
                Entitlement(
                    name: "everything", products: [.init(id: InventedApp.everything)],
                    honors: isOwner ? [Honor(era: "always")] : [])
            ])
        let streams = Locked(0)
        let device = Device(FakeStore { $0.app = InventedApp.owner() }, policy: policy) { setup in
            setup.events = {
                let count = streams.withLock { streams in
                    streams += 1
                    return streams
                }
                return AsyncStream { events in
                    // The client itself observes the first stream.
                    if count > 1 { events.yield(event) }
                    events.finish()
                }
            }
        }
        let tenure = device.start()
        try await wait { streams.withLock { $0 } == 1 }
        _ = await tenure.settled()
        await tenure.engine.searchAgain()
        let before = device.store.now.listCalls
        device.time.now += seconds
        await tenure.engine.observeEvents()
        #expect(await tenure.settled().has("everything") == isOwner)
        return device.store.now.listCalls - before
    }

    @Test(arguments: [(9.0, 0), (10, 1), (-9, 0), (-10, 1)])
    func `an event makes the client read a denial again, at most once in ten seconds`(
        seconds: TimeInterval, expected: Int
    ) async throws {
        for event in [DeviceEvent.appBecameActive, .networkReturned] {
            #expect(try await reads(after: event, seconds: seconds) == expected, "\(event)")
        }
    }

    @Test func `an unlocked keychain or an app in the background isn't a reason to read a denial again`() async throws {
        for event in [DeviceEvent.keychainUnlocked, .appEnteredBackground] {
            #expect(try await reads(after: event, seconds: 60) == 0, "\(event)")
        }
    }

    @Test func `no event makes the client read again if every entitlement is granted`() async throws {
        for event in [DeviceEvent.appBecameActive, .networkReturned] {
            #expect(try await reads(after: event, seconds: 60, isOwner: true) == 0, "\(event)")
        }
    }
}
