import CalculatorSeller
import Foundation
import InProcessDevices
import LocalAppStore
import StoreKit
import TenureCore
import TenureMint
import TenurePolicyFile
import Testing

/// Runs code from published StoreKit tutorials without changes.
@Suite(.timeLimit(.minutes(2))) struct TutorialTests {
    /// Plays the scenario about versions that are compared as text, to the end of its last day.
    private func story(_ name: String) async throws -> (Scenario, LocalAppStore) {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Examples/scenarios/\(name).yaml")
        let scenario = try ScenarioReader.read(Data(contentsOf: file), named: file.lastPathComponent)
        let store = LocalAppStore(
            scenario.header.state, signer: AppStoreSigner(authority: Kiosk.authority)
        ) { _, _, _ in .success }
        try await scenario.perform(in: store)
        return (scenario, store)
    }

    @Test func `the example scenario finds the bug of tutorial code that compares versions as strings`() async throws {
        let (scenario, store) = try await story("string-compared-majors")
        var wrongByText: Set<String> = []
        var wrongByNumber: Set<String> = []
        for case .expect(let expectation) in scenario.timeline.flatMap(\.events) {
            let device = try await LocalStore(store, customer: expectation.customer)
            let isPaid = expectation.outcome == .granted
            if await device.run({ await TutorialCode.hasPaidForApp() }) != isPaid {
                wrongByText.insert(expectation.customer)
            }
            if try await device.run({ try await TutorialCode.hasPaidForAppByNumber() }) != isPaid {
                wrongByNumber.insert(expectation.customer)
            }
        }
        // Compared as text, "2" and "9" aren't below "13", but "100" is.
        #expect(wrongByText == ["Ada", "Boris", "Dana"])
        #expect(wrongByNumber == [])
    }

    @Test @MainActor func `a store class as in StoreKit tutorials buys, listens and restores on Linux`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            let store = TutorialStore()
            defer { store.stop() }
            try await store.requestProducts([Kiosk.pro, Kiosk.everything])
            #expect(store.products.map(\.id) == [Kiosk.pro, Kiosk.everything])
            let bought = try await store.purchase(try #require(store.products.last))
            #expect(bought?.productID == Kiosk.everything)
            #expect(store.purchasedIDs == [Kiosk.everything])
            #expect(await kiosk.store.state.transactions[0].isFinished)
            try await kiosk.buy(Kiosk.pro)
            try await store.restore()
            #expect(store.purchasedIDs == [Kiosk.everything, Kiosk.pro])
            #expect(device.signInRequests == 1)
            #expect(try await store.isSubscribed(to: Kiosk.group))
        }
    }
}
