import CalculatorSeller
import Foundation
import LocalAppStore
import TenureHTTP
import TenureMint
import Testing

@testable import StoreKit

@Suite(.timeLimit(.minutes(2))) struct ConnectionTests {
    /// Runs the store on a free port of this machine while the closure runs.
    private func serving(
        _ kiosk: Kiosk, _ body: @escaping @Sendable (URL) async throws -> Void
    ) async throws {
        let server = AppStoreServer(store: kiosk.store, key: try ServerAPIKey(seed: "StoreKit"), port: 0)
        try await server.serve { port in try await body(try #require(URL(string: "http://127.0.0.1:\(port)"))) }
    }

    @Test func `StoreKit on Linux and the local App Store use the same names for device requests`() {
        #expect(Set(RequestKind.allCases.map(\.rawValue)) == Set(DeviceRequestKind.allCases.map(\.rawValue)))
    }

    @Test func `StoreKit on Linux gets the same results over HTTP as within the process`() async throws {
        let kiosk = try await Kiosk()
        try await serving(kiosk) { url in
            let device = try await LocalStore(url: url, customer: "Ada")
            try await device.run {
                #expect(try await AppTransaction.shared.payloadValue.originalAppVersion == "37")
                let product = try #require(try await Product.products(for: [Kiosk.everything]).first)
                guard case .success(.verified) = try await product.purchase() else { throw Unexpected() }
                #expect(await entitledProducts() == [Kiosk.everything])
                var updates = StoreKit.Transaction.updates.makeAsyncIterator()
                try await kiosk.buy(Kiosk.season)
                let season = try #require(await updates.next()).payloadValue
                #expect(season.productID == Kiosk.season)
                await season.finish()
                #expect(await kiosk.store.state.transactions[1].isFinished)
                #expect(try Data(contentsOf: device.receiptURL).first == 0x30)
            }
        }
    }

    @Test func `Transaction.updates delivers over HTTP while a listener waits`() async throws {
        let kiosk = try await Kiosk()
        try await serving(kiosk) { url in
            let device = try await LocalStore(url: url)
            try await device.run {
                var updates = StoreKit.Transaction.updates.makeAsyncIterator()
                try await kiosk.buy(Kiosk.pro)
                #expect(try #require(await updates.next()).payloadValue.reason == .purchase)
                let next = Task {
                    await StoreKit.Transaction.updates.first { $0.unsafePayloadValue.reason == .renewal }
                }
                try await kiosk.advance("31d")
                #expect(await next.value?.isVerified == true)
            }
        }
    }

    @Test func `no HTTP request stays open after its listener of Transaction.updates has ended`() async throws {
        let kiosk = try await Kiosk()
        try await serving(kiosk) { url in
            let device = try await LocalStore(url: url)
            try await device.run {
                for number in 0..<200 {
                    let listeners = (0..<4).map { _ in
                        Task { for await _ in StoreKit.Transaction.updates {} }
                    }
                    // Purchases end the long polls of the listeners while these are canceled.
                    let purchase = Task { if number % 4 == 0 { try await kiosk.buy(Kiosk.pro) } }
                    if number % 3 != 0 { try await Task.sleep(for: .microseconds(.random(in: 0...8_000))) }
                    for listener in listeners { listener.cancel() }
                    for listener in listeners { await listener.value }
                    _ = await purchase.result
                }
            }
            var open = 1
            for _ in 0..<1_000 where open > 0 {
                open = await URLSessionTransport.shared.openTasks(to: url)
                if open > 0 { try await Task.sleep(for: .milliseconds(10)) }
            }
            #expect(open == 0)
        }
    }

    @Test func `a device that trusts other roots verifies no artifact of the local App Store`() async throws {
        let kiosk = try await Kiosk()
        try await serving(kiosk) { url in
            let foreign = try TestAuthority(receiptsOf: Kiosk.authority)
            let device = try await LocalStore(url: url, roots: foreign.jws.root.der)
            let result = try await device.run { try await AppTransaction.shared }
            #expect(result.problem == .invalidCertificateChain)
        }
    }

    @Test func `installing the app, AppStore.sync and AppTransaction.refresh throw if the receipt can't be saved`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("receipts \(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let kiosk = try await Kiosk()
        @Sendable func complains(_ work: () async throws -> Void) async -> Bool {
            do {
                try await work()
                return false
            } catch StoreKitError.systemError(let failure) {
                return "\(failure)".contains("the receipt can't be saved as `\(folder.path)/StoreKit/receipt`")
            } catch {
                return false
            }
        }
        try await serving(kiosk) { url in
            let device = try await LocalStore(url: url, folder: folder)
            #expect(FileManager.default.fileExists(atPath: device.receiptURL.path))
            try FileManager.default.removeItem(at: folder)
            // Now a file is at the folder's path.
            try Data().write(to: folder)
            #expect(await complains { _ = try await LocalStore(url: url, folder: folder) })
            #expect(await complains { try await device.run { try await AppStore.sync() } })
            #expect(await complains { try await device.run { _ = try await AppTransaction.refresh() } })
        }
    }

    @Test func `a stopped local App Store causes a network error, and an unknown customer a system error`() async throws
    {
        let nowhere = try #require(URL(string: "http://127.0.0.1:1"))
        await #expect {
            _ = try await LocalStore(url: nowhere)
        } throws: {
            if case StoreKitError.networkError? = $0 as? StoreKitError { true } else { false }
        }
        let kiosk = try await Kiosk()
        await #expect {
            _ = try await kiosk.device("Quinn")
        } throws: {
            if case StoreKitError.systemError(let failure)? = $0 as? StoreKitError {
                "\(failure)" == "there is no customer `Quinn`; create the customer with the operation `customer`"
            } else {
                false
            }
        }
    }
}
