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

/// How the store fails; each alone, and all of them from the first start on.
private enum Trouble: String, CaseIterable {
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

private let signer = StoreSigner(authority: RealService.authority)

/// Deciding on the device.
private func playOnDevice(
    _ name: String, _ behavior: LocalStore.Behavior = .init(), showsNoMore: Bool = false
) async throws -> ScenarioPlayer.Played {
    let (scenario, policy) = try story(name)
    return try await ScenarioPlayer(
        scenario: scenario, signer: signer, time: TestTime(World.now), behavior: behavior, showsNoMore: showsNoMore,
        setUp: { setup in
            setup.policy = .policy(policy)
            setup.options.storeTimeout = behavior.waits ? 0.2 : 60
        }
    ).play()
}

/// Asking the real service, which the App Store notifies.
private func playWithService(
    _ name: String, _ behavior: LocalStore.Behavior = .init(), showsNoMore: Bool = false
) async throws -> ScenarioPlayer.Played {
    let (scenario, policy) = try story(name)
    let time = TestTime(World.now)
    return try await RealService.run(policy: policy, now: { time.now }) { service in
        var played = try await ScenarioPlayer(
            scenario: scenario, signer: signer, time: time, behavior: behavior, showsNoMore: showsNoMore,
            courier: { payload, _, _ in await service.receive(payload) },
            setUp: { setup in
                service.connect(&setup)
                setup.options.storeTimeout = behavior.waits ? 0.2 : 60
            }
        ).play()
        played.notified = service.notified.withLock { $0 }
        #expect(played.notified.allSatisfy { $0 == 200 })
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
    // Where a receipt alone does not tell, StoreKit's app transaction of the same customer may.
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

@Suite struct `Every story of the local App Store` {
    @Test(arguments: names) func `goes as it expects, decided on the device`(_ name: String) async throws {
        expectAll(try await playOnDevice(name))
    }

    @Test(arguments: names) func `goes as it expects, asked of the service`(_ name: String) async throws {
        expectAll(try await playWithService(name))
    }

    @Test func `is told to the service, where the App Store tells of it`() async throws {
        #expect(try await playWithService("subscription-life.yaml").notified.count > 5)
    }

    @Test(arguments: names)
    func `has no wrong answer where customers have no more than the story says that they show`(
        _ name: String
    ) async throws {
        expectNothingWrong(try await playOnDevice(name, showsNoMore: true))
        expectNothingWrong(try await playWithService(name, showsNoMore: true))
    }

    @Test(arguments: names, Trouble.allCases)
    fileprivate func `has no wrong answer on the device, however the store behaves`(
        _ name: String, _ trouble: Trouble
    ) async throws {
        expectNothingWrong(try await playOnDevice(name, trouble.behavior))
    }

    @Test(arguments: names, Trouble.allCases)
    fileprivate func `has no wrong answer with the service, however the store behaves`(
        _ name: String, _ trouble: Trouble
    ) async throws {
        expectNothingWrong(try await playWithService(name, trouble.behavior))
    }
}
