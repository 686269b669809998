import Foundation
import StoreContract
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// Notifications that Apple signed. They aren't part of the repository. Each file has a JWS, or a body
/// that Apple posted.
private enum RealNotifications {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("shared/real/notifications")

    /// All notifications, sorted by signing date.
    static let all: [(jws: String, payload: JSONObject)] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let read = names.sorted().compactMap { name -> (jws: String, payload: JSONObject, signed: Date)? in
            guard let bytes = try? Data(contentsOf: folder.appendingPathComponent(name)) else { return nil }
            let posted = try? JSONDecoder().decode([String: String].self, from: bytes)
            let jws =
                posted?["signedPayload"]
                ?? String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard let unverified = try? UnverifiedJWS(Array(jws.utf8)), unverified.kind == .notification else {
                return nil
            }
            return (jws, unverified.payload, unverified.signedDate ?? .distantPast)
        }
        return read.sorted { $0.signed < $1.signed }.map { ($0.jws, $0.payload) }
    }()

    static func text(_ path: String...) -> String? {
        for (_, payload) in all {
            var value: JSONValue? = .object(payload)
            for name in path { if case .object(let object)? = value { value = object[name] } else { value = nil } }
            switch value {
            case .string(let text)?, .number(let text)?: return text
            default: continue
            }
        }
        return nil
    }
}

@Suite(.enabled(if: !RealNotifications.all.isEmpty, "the folder with real notifications is missing or empty"))
struct `notifications that Apple signed` {
    @Test func `notifications that Apple signed give the same facts in order, in reverse, shuffled and repeated`()
        async throws
    {
        let app = AppIdentity(
            bundleID: RealNotifications.text("data", "bundleId"),
            appAppleID: RealNotifications.text("data", "appAppleId").flatMap { Int64($0) })
        var random = SeededRandom(seed: 5)
        let payloads = RealNotifications.all.map(\.jws)
        var states: [[CustomerFacts]] = []
        for payloads in [
            payloads, payloads.reversed(), payloads.shuffled(using: &random) + payloads.shuffled(using: &random),
        ] {
            try await withFolder { folder in
                var configuration = try Calculator.configuration(folder)
                configuration.anchors = [.production: .apple, .sandbox: .apple]
                configuration.app = app
                configuration.now = { Date() }
                let service = try await TenureService(configuration)
                let verifier = AppStoreVerifier(app: app, trust: .appStore)
                let notifications = NotificationService(
                    verifier: verifier, store: service.store, policies: service.policies, entitlementComparer: nil,
                    metrics: ServiceMetrics())
                for payload in payloads {
                    _ = try await notifications.receive(
                        Array(payload.utf8), now: Date(), logger: Calculator.logger)
                }
                var facts: [CustomerFacts] = []
                for id in try await service.store.read({ try $0.customers(after: 0, limit: 1000) }) {
                    facts.append(try #require(try await service.store.lookUp(id)).facts)
                }
                states.append(facts.sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) })
                try await service.store.close()
            }
        }
        #expect(states[1] == states[0] && states[2] == states[0])
        #expect(states[0].contains { !$0.purchases.isEmpty })
    }
}
