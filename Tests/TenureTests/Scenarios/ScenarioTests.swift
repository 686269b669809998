import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import TenureHTTP
import TenurePolicyFile
import TenureServer
import Testing

@testable import Tenure

private let examples = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("../../../Examples/scenarios").standardizedFileURL

private let names =
    (try? FileManager.default.contentsOfDirectory(atPath: examples.path))?
    .filter { $0.hasSuffix(".yaml") && !$0.hasSuffix(".policy.yaml") }.sorted() ?? []

/// How StoreKit fails: one fault at a time, and all of them from the first start on.
private enum Fault: String, CaseIterable {
    case appTransactionFails, appTransactionHangs, appTransactionUnverified
    case purchasesFail, purchasesHang, purchasesUnverified, everythingFails, offline

    var behavior: LocalStore.Behavior {
        var behavior = LocalStore.Behavior()
        switch self {
        case .appTransactionFails: behavior.appTransaction = .fails(.unknown)
        case .appTransactionHangs: behavior.appTransaction = .hangs
        case .appTransactionUnverified: behavior.appTransaction = .unverified(.brokenSignature)
        case .purchasesFail: behavior.transactions = .fails(.networkError(URLError(.timedOut)))
        case .purchasesHang: behavior.transactions = .hangs
        case .purchasesUnverified: behavior.transactions = .unverified(.foreignAuthority)
        case .everythingFails:
            behavior.appTransaction = .fails(.unknown)
            behavior.transactions = .fails(.unknown)
            behavior.products = .fails(.unknown)
        case .offline: behavior.isOffline = true
        }
        return behavior
    }
}

private func story(_ name: String) throws -> (Scenario, Policy) {
    let scenario = try ScenarioReader.read(
        Array(Data(contentsOf: examples.appendingPathComponent(name))), named: name)
    let file = try #require(scenario.policy)
    return (
        scenario, try PolicyFile.read(Array(Data(contentsOf: examples.appendingPathComponent(file))), named: file)
    )
}

private let signer = AppStoreSigner(authority: RealService.authority)

/// Plays a scenario with decisions on the device.
private func playOnDevice(
    _ name: String, _ behavior: LocalStore.Behavior = .init(), showsNoMore: Bool = false
) async throws -> ScenarioPlayer.Played {
    let (scenario, policy) = try story(name)
    return try await ScenarioPlayer(
        scenario: scenario, signer: signer, time: TestTime(InventedApp.now), behavior: behavior,
        showsNoMore: showsNoMore,
        setUp: { setup in
            setup.policy = .policy(policy)
            setup.extendTimeouts()
            if behavior.waits { setup.options.appStoreTimeout = 0.2 }
        }
    ).play()
}

/// Plays a scenario with the real service, which gets the App Store's notifications.
private func playWithService(
    _ name: String, _ behavior: LocalStore.Behavior = .init(), showsNoMore: Bool = false
) async throws -> ScenarioPlayer.Played {
    let (scenario, policy) = try story(name)
    let time = TestTime(InventedApp.now)
    return try await RealService.run(policy: policy, now: { time.now }) { service in
        var played = try await ScenarioPlayer(
            scenario: scenario, signer: signer, time: time, behavior: behavior, showsNoMore: showsNoMore,
            sender: { payload, _, _ in await service.receive(payload) },
            setUp: { setup in
                service.connect(&setup)
                setup.extendTimeouts()
                if behavior.waits { setup.options.appStoreTimeout = 0.2 }
            }
        ).play()
        played.notified = service.notified.withLock { $0 }
        #expect(played.notified.allSatisfy { $0 == 200 })
        // Some notifications of a scenario may be lost on purpose.
        #expect(played.notified.isEmpty == (played.notifications == 0))
        return played
    }
}

extension LocalStore.Behavior {
    fileprivate var waits: Bool {
        if case .hangs = appTransaction { return true }
        if case .hangs = transactions { return true }
        return false
    }
}

private func expectAll(_ played: ScenarioPlayer.Played) {
    #expect(!played.outcomes.isEmpty)
    // If a receipt isn't sufficient, StoreKit's app transaction of the same customer may be.
    for outcome in played.outcomes where outcome.isTold || outcome.expected != .undetermined {
        #expect(
            outcome.answer.outcome == outcome.expected, "\(outcome.place): \(outcome.answer.reasons.map(\.code))")
        if outcome.expected != .undetermined {
            #expect(outcome.isAllowed == (outcome.expected == .granted), "\(outcome.place)")
        }
    }
    #expect(played.prompts == 0)
}

private func expectNothingWrong(_ played: ScenarioPlayer.Played) {
    for outcome in played.outcomes {
        switch outcome.expected {
        case .granted: #expect(outcome.answer.outcome != .denied, "\(outcome.place): \(outcome.answer)")
        case .denied: #expect(outcome.answer.outcome != .granted, "\(outcome.place): \(outcome.answer)")
        case .undetermined:
            if outcome.isTold {
                #expect(outcome.answer.outcome == .undetermined, "\(outcome.place): \(outcome.answer)")
            }
        }
    }
    #expect(played.prompts == 0)
}

@Suite struct `Every scenario of the local App Store` {
    @Test(arguments: names) func `every scenario of the local App Store gives the expected decisions on the device`(
        _ name: String
    ) async throws {
        expectAll(try await playOnDevice(name))
    }

    @Test(arguments: names) func `every scenario of the local App Store gives the expected decisions with the service`(
        _ name: String
    ) async throws {
        expectAll(try await playWithService(name))
    }

    @Test func `the scenario subscription-life.yaml sends each of its notifications to the service`() async throws {
        let played = try await playWithService("subscription-life.yaml")
        #expect(played.notified.count == played.notifications && played.notified.count > 5)
    }

    @Test(arguments: names)
    func `no scenario gives a wrong decision if customers have only the artifacts that the scenario lists`(
        _ name: String
    ) async throws {
        expectNothingWrong(try await playOnDevice(name, showsNoMore: true))
        expectNothingWrong(try await playWithService(name, showsNoMore: true))
    }

    @Test(arguments: names, Fault.allCases)
    fileprivate func
        `every scenario of the local App Store gives no wrong answer on the device, however StoreKit fails`(
            _ name: String, _ fault: Fault
        ) async throws
    {
        expectNothingWrong(try await playOnDevice(name, fault.behavior))
    }

    @Test(arguments: names, Fault.allCases)
    fileprivate func
        `every scenario of the local App Store gives no wrong answer with the service, however StoreKit fails`(
            _ name: String, _ fault: Fault
        ) async throws
    {
        expectNothingWrong(try await playWithService(name, fault.behavior))
    }
}
