import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(2))) struct `A purchase` {
    @Test func `a purchase grants its entitlement at once and at the next start, and is finished`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { device in
                let tenure = try served.start()
                #expect(await !tenure.allows("everything"))
                let result = try await tenure.purchase(try await product(InventedApp.everything))
                guard case .purchased(let transaction, let customer) = result else {
                    Issue.record("\(result)")
                    return
                }
                #expect(transaction.productID == InventedApp.everything)
                #expect(customer.allows("everything"))
                #expect(customer.answers["everything"]?.outcome == .granted)
                #expect(await tenure.allows("everything"))
                try await served.finished(InventedApp.everything)
                device.behavior.isOffline = true
                #expect(try await served.start().allows("everything"))
                #expect(device.signInRequests == 0)
            }
        }
    }

    @Test func `tenure.updates yields a purchase that is made while the app runs`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { _ in
                let tenure = try served.start()
                _ = await tenure.settled()
                let delivered = Task {
                    for await customer in tenure.updates where customer.allows("everything") { return true }
                    return false
                }
                _ = try await tenure.purchase(try await product(InventedApp.everything))
                #expect(await delivered.value)
            }
        }
    }

    @Test func `a purchase that the app made grants its entitlement once the app processes StoreKit's result`()
        async throws
    {
        let forms: [@Sendable (Tenure, Product.PurchaseResult) async throws -> Tenure.PurchaseResult] = [
            { try await $0.process($1) },
            { try await $0.process(Result.success($1)) },
            { tenure, result in
                guard case .success(let transaction) = result else { throw Unexpected() }
                return try await tenure.process(transaction)
            },
        ]
        for form in forms {
            try await ServedStore.run { served in
                try await served.device(of: "Dana") { _ in
                    let tenure = try served.start()
                    #expect(await !tenure.allows("everything"))
                    let bought = try await product(InventedApp.everything).purchase()
                    guard case .purchased(_, let customer) = try await form(tenure, bought) else { throw Unexpected() }
                    #expect(customer.allows("everything"))
                    #expect(await tenure.allows("everything"))
                    try await served.finished(InventedApp.everything)
                }
            }
        }
    }

    @Test func `a purchase that StoreKit can't verify throws, grants nothing and stays unfinished`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { device in
                let tenure = try served.start()
                _ = await tenure.settled()
                device.behavior.purchases = .unverified(.brokenSignature)
                let thrown = await #expect(throws: Tenure.Error.self) {
                    try await tenure.purchase(try await product(InventedApp.everything))
                }
                guard case .unverified = thrown else {
                    Issue.record("\(String(describing: thrown))")
                    return
                }
                #expect(!tenure.customer.allows("everything"))
                #expect(await served.unfinished() == [InventedApp.everything])
            }
        }
    }

    @Test func `a purchase that is canceled or waits for a parent's approval gives no right`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { device in
                let tenure = try served.start()
                _ = await tenure.settled()
                for cancellation in [.isCancelled, .fails(StoreKitError.userCancelled)] as [LocalStore.PurchaseAnswer] {
                    device.behavior.purchases = cancellation
                    let result = try await tenure.purchase(try await product(InventedApp.everything))
                    guard case .userCancelled = result else { throw Unexpected() }
                }
                device.behavior.purchases = .waitsForApproval
                guard case .pending = try await tenure.purchase(try await product(InventedApp.everything)) else {
                    throw Unexpected()
                }
                #expect(!tenure.customer.allows("everything"))
                try await device.approvePurchases()
                for await customer in tenure.updates where customer.allows("everything") { break }
                #expect(await tenure.allows("everything"))
            }
        }
    }

    @Test func `a purchase through the client has the account token that the app passed, or no token`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { _ in
                let tenure = try served.start()
                let token = UUID()
                guard
                    case .purchased(let first, _) = try await tenure.purchase(
                        try await product(InventedApp.everything), options: [.appAccountToken(token)]),
                    case .purchased(let second, _) = try await tenure.purchase(try await product(ServedStore.theme))
                else { throw Unexpected() }
                #expect(first.appAccountToken == token)
                #expect(second.appAccountToken == nil)
            }
        }
    }

    @Test func `a purchase throws StoreKit's own errors`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { device in
                let tenure = try served.start()
                let everything = try await product(InventedApp.everything)
                device.behavior.canMakePayments = false
                await #expect(throws: Product.PurchaseError.purchaseNotAllowed) {
                    try await tenure.purchase(everything)
                }
                await #expect(throws: Product.PurchaseError.productUnavailable) {
                    try await tenure.process(Result.failure(Product.PurchaseError.productUnavailable))
                }
                guard case .userCancelled = try await tenure.process(Result.failure(StoreKitError.userCancelled)) else {
                    throw Unexpected()
                }
            }
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `finishing transactions` {
    @Test func `the client leaves transactions of products outside the policy for the app to finish`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { _ in
                let tenure = try served.start()
                _ = try await tenure.purchase(try await product(ServedStore.theme))
                _ = try await tenure.purchase(try await product(InventedApp.everything))
                try await served.finished(InventedApp.everything)
                await tenure.refresh()
                #expect(await served.unfinished() == [ServedStore.theme])
            }
        }
    }

    @Test func `purchases outside the policy stay unfinished if they arrive as updates or were made earlier`()
        async throws
    {
        try await ServedStore.run { served in
            for item in [ServedStore.theme, ServedStore.coins, InventedApp.everything] {
                try await served.store.perform(AppStoreOperation(.buy, [.customer: "Dana", .product: item]))
            }
            try await served.device(of: "Dana") { _ in
                let tenure = try served.start()
                try await served.finished(InventedApp.everything)
                await tenure.refresh()
                #expect(await served.unfinished() == [ServedStore.coins, ServedStore.theme])
            }
        }
    }

    @Test func `a consumable is finished only when the app reports that it delivered this transaction`() async throws {
        let policy = try Policy(
            app: Policy.App(bundleID: InventedApp.bundleID), eras: [Era(name: "always", model: .free)],
            entitlements: [Entitlement(name: "everything", products: [.init(id: ServedStore.coins)])])
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { _ in
                let tenure = try served.start(policy: policy)
                let coins = try await product(ServedStore.coins)
                guard case .purchased(let first, _) = try await tenure.purchase(coins) else { throw Unexpected() }
                await tenure.contentArrived(for: ServedStore.coins)
                #expect(await served.unfinished() == [ServedStore.coins])
                await tenure.contentArrived(for: first)
                try await served.finished(ServedStore.coins)
                _ = try await tenure.purchase(coins)
                await tenure.refresh()
                #expect(await served.unfinished() == [ServedStore.coins])
            }
        }
    }

    @Test func `content that arrived before a purchase doesn't finish the purchase`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { device in
                let tenure = try served.start { $0.finishing = .afterContent(of: [InventedApp.yearly]) }
                // Nothing was bought yet: this delivers nothing.
                await tenure.contentArrived(for: InventedApp.yearly)
                guard case .purchased = try await tenure.purchase(try await product(InventedApp.yearly)) else {
                    throw Unexpected()
                }
                #expect(await served.unfinished() == [InventedApp.yearly])
                await tenure.contentArrived(for: InventedApp.yearly)
                try await served.finished(InventedApp.yearly)
            }
        }
    }

    @Test func `no purchase is finished by a client with a policy that can't be read`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { _ in
                let missing = served.folder.appendingPathComponent("tenure.json")
                let tenure = Tenure(policyIfValid: .file(missing), options: served.options())
                _ = try await tenure.purchase(try await product(InventedApp.everything))
                #expect(await served.unfinished() == [InventedApp.everything])
            }
        }
    }
}

struct Unexpected: Error {}
