import CalculatorApp
import Foundation
import InProcessDevices
import LocalAppStore
import StoreKit
import TenurePolicyFile
import Testing

private let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("../../..").standardizedFileURL

/// The folder for the apps' state. It is removed with the process, because an app may still write after its test.
private let keptByApps: URL = {
    atexit { try? FileManager.default.removeItem(at: keptByApps) }
    return FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
}()

@Suite(.serialized, .timeLimit(.minutes(2))) struct `The example app` {
    @Test func `the example app's tenure.json contains the same policy as its policy.yaml`() throws {
        let yaml = root.appendingPathComponent("Examples/calculator/policy.yaml")
        let list = root.appendingPathComponent("Examples/calculator/releases.csv")
        let policy = try PolicyFile.read(Array(Data(contentsOf: yaml)), named: "policy.yaml") { _ in
            Array(try Data(contentsOf: list))
        }
        let bundled = try Data(contentsOf: root.appendingPathComponent("Examples/CalculatorApp/tenure.json"))
        #expect(try PolicyFile.read(Array(bundled), named: "tenure.json") == policy)
    }

    /// The scenario: Ada buys build 37 in 2014, and Dana gets the app when it is free.
    private func testBed() async throws -> LocalAppStore {
        let file = root.appendingPathComponent("Examples/scenarios/calculator-disaster.yaml")
        let scenario = try ScenarioReader.read(Array(Data(contentsOf: file)), named: "calculator-disaster.yaml")
        let store = LocalAppStore(
            scenario.header.state, signer: AppStoreSigner(authority: RealService.authority)
        ) { _, _, _ in .success }
        try await scenario.perform(in: store)
        return store
    }

    /// The app on the first device of a customer, with a separate folder for its state.
    private func onDevice<Result: Sendable>(
        of customer: String, in store: LocalAppStore,
        _ body: @MainActor (CalculatorModel, LocalStore) async throws -> Result
    ) async throws -> Result {
        setenv("XDG_DATA_HOME", keptByApps.appendingPathComponent(UUID().uuidString).path, 1)
        let device = try await LocalStore(store, customer: customer)
        return try await device.run { try await body(try await CalculatorModel(), device) }
    }

    @Test func `the example app gives a paying customer everything at the first launch, without a sign-in`()
        async throws
    {
        let store = try await testBed()
        for (customer, keypad) in [
            ("Ada", Keypad.scientific), ("Boris", .scientific), ("Dana", .basic), ("Emre", .scientific),
        ] {
            try await onDevice(of: customer, in: store) { model, device in
                await model.open()
                #expect(model.keypad == keypad, "\(customer)")
                #expect(device.signInRequests == 0)
            }
        }
    }

    /// The app on a device that reaches the local App Store over HTTP, with a new folder for its state.
    private func onServedDevice(
        of customer: String, offline: Bool = false,
        _ body: @escaping @Sendable @MainActor (CalculatorModel, LocalStore, ServedStore) async throws -> Void
    ) async throws {
        try await ServedStore.run { served in
            setenv("XDG_DATA_HOME", keptByApps.appendingPathComponent(UUID().uuidString).path, 1)
            try await served.device(of: customer) { device in
                device.behavior.isOffline = offline
                try await body(try await CalculatorModel(), device, served)
            }
        }
    }

    @Test func `the example app gives an owner everything offline, and keeps it once the network returns`()
        async throws
    {
        try await onServedDevice(of: "Ada", offline: true) { model, device, _ in
            #expect(model.isResolving)
            let following = Task { await model.follow() }
            defer { following.cancel() }
            await model.open()
            #expect(!model.isResolving)
            #expect(model.keypad == .scientific)
            #expect(model.notice == nil)
            device.behavior.isOffline = false
            await model.restoreTapped()
            #expect(model.keypad == .scientific)
            #expect(model.notice == nil)
        }
    }

    @Test func `the example app sells its scientific keys, and shows why a purchase failed`() async throws {
        try await onServedDevice(of: "Dana") { model, device, served in
            await model.open()
            #expect(!model.isResolving)
            #expect(model.keypad == .basic)
            let everything = try await product(InventedApp.everything)
            device.behavior.purchases = .isCancelled
            await model.buyTapped(everything)
            #expect(model.keypad == .basic)
            #expect(model.notice == nil)
            device.behavior.purchases = .fails(StoreKitError.unknown)
            await model.buyTapped(everything)
            #expect(model.keypad == .basic)
            #expect(model.notice != nil)
            device.behavior.purchases = .completes
            await model.buyTapped(everything)
            #expect(model.keypad == .scientific)
            try await served.finished(InventedApp.everything)
        }
    }

    @Test func `the example app calculates with the keys that its customer has`() async throws {
        let store = try await testBed()
        let displays = try await ["Ada", "Dana"].asyncMap { customer in
            try await onDevice(of: customer, in: store) { model, _ in
                await model.open()
                for key in [Key.digit(1), .digit(2), .square, .plus, .digit(1), .equals] { model.tap(key) }
                return model.display
            }
        }
        #expect(displays == ["145", "13"])
    }

    @Test func `the example app gets its scientific keys when they are bought on another device, while it runs`()
        async throws
    {
        try await onServedDevice(of: "Dana") { model, device, served in
            let following = Task { await model.follow() }
            defer { following.cancel() }
            await model.open()
            #expect(model.keypad == .basic)
            try await served.buy(InventedApp.everything, for: "Dana")
            for _ in 0..<1500 where model.keypad == .basic { try await Task.sleep(for: .milliseconds(20)) }
            #expect(model.keypad == .scientific)
            #expect(model.notice == nil)
            #expect(device.signInRequests == 0)
        }
    }

    @Test func `the example app has the scientific keys after its customer bought them elsewhere and tapped restore`()
        async throws
    {
        let store = try await testBed()
        try await onDevice(of: "Dana", in: store) { model, _ in
            await model.open()
            #expect(model.keypad == .basic)
            try await store.perform(
                AppStoreOperation(.buy, [.customer: "Dana", .product: "com.example.calculator.everything"]))
            await model.restoreTapped()
            #expect(model.keypad == .scientific)
            #expect(model.notice == nil)
        }
    }
}

extension [String] {
    fileprivate func asyncMap<Result>(_ body: (String) async throws -> Result) async throws -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
