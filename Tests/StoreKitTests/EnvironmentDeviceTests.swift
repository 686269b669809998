import CalculatorSeller
import Foundation
import LocalAppStore
import TenureAppStore
import TenureMint
import Testing

@testable import StoreKit

/// The device of the environment variables. It sends no request before the app's first call of StoreKit.
@Suite(.timeLimit(.minutes(2))) struct EnvironmentDeviceTests {
    /// Runs the store on a free port of this machine while the closure runs.
    private func serving(
        _ kiosk: Kiosk, _ body: @escaping @Sendable ([String: String]) async throws -> Void
    ) async throws {
        let server = AppStoreServer(store: kiosk.store, key: try ServerAPIKey(seed: "StoreKit"), port: 0)
        try await server.serve { port in try await body(["TENURE_LOCAL_STORE_URL": "http://127.0.0.1:\(port)"]) }
    }

    /// Reads `receiptURL`, which may block its thread.
    private func receipt(on device: LocalStore) async -> Data? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: FileManager.default.contents(atPath: device.receiptURL.path))
            }
        }
    }

    @Test func `a device of the environment variables can buy a product before it has read anything else`() async throws
    {
        let kiosk = try await Kiosk()
        try await serving(kiosk) { environment in
            try await #require(LocalStore(environment: environment)).run {
                let product = try #require(try await Product.products(for: [Kiosk.everything]).first)
                guard case .success(.verified(let bought)) = try await product.purchase() else { throw Unexpected() }
                #expect(bought.productID == Kiosk.everything)
            }
        }
    }

    @Test func `the first listener on a device of the environment variables gets the unfinished transactions`()
        async throws
    {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.coins)
        try await serving(kiosk) { environment in
            try await #require(LocalStore(environment: environment)).run { () async throws -> Void in
                var updates = StoreKit.Transaction.updates.makeAsyncIterator()
                #expect(try #require(await updates.next()).payloadValue.productID == Kiosk.coins)
            }
        }
    }

    @Test func `a device of the environment variables fetches the missing receipt of a customer who has the app`()
        async throws
    {
        let kiosk = try await Kiosk()
        try await kiosk.operation(.customer, "Zoe")
        try await serving(kiosk) { environment in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("device \(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            var environment = environment.merging(["TENURE_LOCAL_STORE_FOLDER": folder.path]) { $1 }
            environment["TENURE_LOCAL_STORE_CUSTOMER"] = "Zoe"
            #expect(await receipt(on: try #require(LocalStore(environment: environment))) == nil)
            environment["TENURE_LOCAL_STORE_CUSTOMER"] = "Ada"
            let device = try #require(LocalStore(environment: environment))
            let bytes = try #require(await receipt(on: device))
            #expect(try Kiosk.verifier.verifyReceipt(Array(bytes), now: nil).payload.originalAppVersion == "37")
            #expect(FileManager.default.contents(atPath: folder.path + "/StoreKit/receipt") == bytes)
        }
    }

    @Test func `a device of the environment variables trusts only the roots of TENURE_LOCAL_STORE_ROOTS`() async throws
    {
        let kiosk = try await Kiosk()
        try await serving(kiosk) { environment in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roots \(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let foreign = try TestAuthority(receiptsOf: Kiosk.authority)
            try Data(Kiosk.authority.jws.root.der).write(to: folder.appendingPathComponent("own"))
            try Data(foreign.jws.root.der).write(to: folder.appendingPathComponent("foreign"))
            for (name, isVerified) in [("own", true), ("foreign", false), ("missing", false)] {
                var environment = environment
                environment["TENURE_LOCAL_STORE_ROOTS"] = folder.appendingPathComponent(name).path
                let device = try #require(LocalStore(environment: environment))
                let result = try await device.run { try await AppTransaction.shared }
                #expect(result.isVerified == isVerified, "\(name)")
                #expect(result.problem == (isVerified ? nil : .invalidCertificateChain), "\(name)")
            }
        }
    }

    @Test func `the environment variables name the device, the customer and the app`() throws {
        func device(_ more: [String: String]) throws -> LocalStore {
            let environment = ["TENURE_LOCAL_STORE_URL": "http://127.0.0.1:1"].merging(more) { $1 }
            return try #require(LocalStore(environment: environment))
        }
        let id = UUID()
        #expect(try device(["TENURE_LOCAL_STORE_DEVICE": id.uuidString]).deviceVerificationID == id)
        let first = try device([:]).deviceVerificationID
        #expect(try device(["TENURE_LOCAL_STORE_DEVICE": "first"]).deviceVerificationID == first)
        #expect(try device(["TENURE_LOCAL_STORE_DEVICE": "second"]).deviceVerificationID != first)
        #expect(try device(["TENURE_LOCAL_STORE_CUSTOMER": "Ada"]).deviceVerificationID != first)
        #expect(try device(["TENURE_LOCAL_STORE_APP": "com.example.notes"]).bundleID == "com.example.notes")
    }

    @Test(arguments: [nil, "", "127.0.0.1", "localhost:8090", "http://"])
    func `without the address of a local App Store, the environment variables name no device`(address: String?) {
        var environment = ["TENURE_LOCAL_STORE_CUSTOMER": "Ada"]
        environment["TENURE_LOCAL_STORE_URL"] = address
        #expect(LocalStore(environment: environment) == nil)
    }
}
