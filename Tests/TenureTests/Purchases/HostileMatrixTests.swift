import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(2))) struct `A client under stress` {
    @Test(arguments: [("Ada", true), ("Dana", false)])
    func `200 concurrent calls of the client get the same answer, with one search and no sign-in`(
        _ customer: String, _ isOwner: Bool
    ) async throws {
        try await ServedStore.run { served in
            try await served.device(of: customer) { device in
                let tenure = try served.start()
                let answers = await withTaskGroup(of: Bool.self) { group in
                    for index in 0..<200 {
                        group.addTask {
                            switch index % 4 {
                            case 0: await tenure.refresh().allows("everything")
                            case 1: await tenure.decision(for: "everything").outcome == .granted
                            default: await tenure.allows("everything")
                            }
                        }
                    }
                    return await group.reduce(into: [Bool: Int]()) { $0[$1, default: 0] += 1 }
                }
                #expect(answers == [isOwner: 200])
                #expect(device.signInRequests == 0)
            }
        }
    }

    @Test func `200 concurrent refreshes cause at most 10 StoreKit calls`() async {
        let device = Device(FakeStore { $0.app = InventedApp.newcomer() })
        let tenure = device.start()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { await tenure.refresh() } }
        }
        #expect(device.store.now.listCalls <= 10, "\(device.store.now.listCalls)")
    }

    @Test func `the client stores each of several purchases that are processed at once`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { _ in
                let tenure = try served.start()
                _ = await tenure.settled()
                let products = [InventedApp.everything, InventedApp.yearly, ServedStore.theme]
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for id in products {
                        group.addTask { _ = try await tenure.purchase(try await product(id)) }
                    }
                    try await group.waitForAll()
                }
                #expect(await tenure.allows("everything"))
                #expect(await tenure.allows("cloud"))
                for id in [InventedApp.everything, InventedApp.yearly] { try await served.finished(id) }
                #expect(await served.unfinished() == [ServedStore.theme])
            }
        }
    }

    @Test func `a customer isn't denied while the App Store lists no purchases and answers nothing else`() async throws
    {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { device in
                device.behavior.transactions = .fails(.unknown)
                device.behavior.products = .fails(.unknown)
                let tenure = try served.start(policy: InventedApp.policy(whileUndetermined: .deny))
                #expect(await tenure.decision(for: "everything").outcome == .undetermined)
                device.behavior = LocalStore.Behavior()
                #expect(await tenure.refresh().answers["everything"]?.outcome == .denied)
            }
        }
    }

    @Test func `a refund while the app runs ends the right of its purchase, even after an offline relaunch`()
        async throws
    {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { device in
                let tenure = try served.start()
                _ = try await tenure.purchase(try await product(InventedApp.everything))
                #expect(await tenure.allows("everything"))
                let ended = Task {
                    for await customer in tenure.updates where !customer.allows("everything") { return true }
                    return false
                }
                try await served.refund(InventedApp.everything, of: "Dana")
                #expect(await ended.value)
                #expect(await !tenure.allows("everything"))
                #expect(await tenure.decision(for: "everything").outcome == .denied)
                device.behavior.isOffline = true
                #expect(try await !served.start().allows("everything"))
            }
        }
    }
}
