import Foundation
import HummingbirdTesting
import NIOCore
import Testing

@testable import TenureServer

@Suite struct `the metric of the signing period` {
    @Test func `the metrics have the end of the signing period only if an offline root signed the key`() async throws {
        try await withFolder { folder in
            try await withService(in: folder, { $0.metrics = .open }) { client in
                func reported() async throws -> [String] {
                    String(buffer: try await client.get("/metrics").body).split(separator: "\n").map(String.init)
                        .filter { $0.hasPrefix("tenure_signing_period_ends_seconds") }
                }
                let before = try await reported()
                #expect(before == [])
                let administration = SigningKeyAdministration(folder: folder)
                let root = OfflineRoot(path: folder + "/root.json")
                let publicRoot = try root.create()
                let end = Calculator.now.addingTimeInterval(60 * 86_400)
                let statement = try root.sign(try administration.summary().inUse, until: end, at: Calculator.now)
                _ = try administration.install(statement, ofRoot: publicRoot, at: Calculator.now)
                var after = try await reported()
                // While a background task reads the file, a request gets the keys that were read before.
                for _ in 0..<1000 where after.isEmpty {
                    try await Task.sleep(for: .milliseconds(20))
                    after = try await reported()
                }
                #expect(after == ["tenure_signing_period_ends_seconds \(Int(end.timeIntervalSince1970))"])
            }
        }
    }
}
