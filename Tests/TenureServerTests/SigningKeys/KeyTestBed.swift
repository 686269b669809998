import Foundation
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// A running service with its signing keys, its published key set, and its tokens.
struct KeyTestBed {
    let client: Client
    let folder: String

    var administration: SigningKeyAdministration { SigningKeyAdministration(folder: folder) }

    func publishedKeyIDs() async throws -> [String] {
        let read = try JSONSerialization.jsonObject(with: try await keySet()) as? [String: [[String: String]]]
        return try #require(read?["keys"]).compactMap { $0["kid"] }
    }

    /// Waits until the service uses the newest key. While a background task reads the key file, a request gets the keys
    /// that were read before.
    func follow() async throws {
        let newest = try keyIDInUse()
        for _ in 0..<1000 {
            if try await publishedKeyIDs().first == newest { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("the service doesn't use the newest key")
    }

    func keySet() async throws -> Data {
        let response = try await client.get("/.well-known/jwks.json")
        #expect(response.status == .ok)
        return Data(buffer: response.body)
    }

    func sync() async throws -> CustomerResponse {
        try await client.sync(
            SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction), transactions: []))
    }

    func keyIDInUse() throws -> String { try #require(try administration.summary().keys.last?.id) }

    @discardableResult
    func rotate(_ times: Int = 1, at now: Date = Calculator.now) throws -> String {
        for _ in 0..<times { _ = try administration.rotate(at: now) }
        return try keyIDInUse()
    }
}

/// Runs a service in a new folder.
func withKeys(
    now: @escaping @Sendable () -> Date = { Calculator.now }, tokenLife: TimeInterval = 365 * 86_400,
    _ body: @escaping @Sendable (KeyTestBed) async throws -> Void
) async throws {
    try await withFolder { folder in
        try await withService(
            in: folder,
            {
                $0.now = now
                $0.tokenLifetimes.entitlementToken = tokenLife
            }
        ) { try await body(KeyTestBed(client: $0, folder: folder)) }
    }
}
