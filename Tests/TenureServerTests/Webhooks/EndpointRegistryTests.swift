import Foundation
import Logging
import TenureAPI
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the registry of webhook endpoints` {
    @Test func `the log names a removed webhook endpoint and its number of abandoned messages`() async throws {
        try await withWebhooks([.local(9)]) { client, hooks in
            _ = try await client.sync(try Calculator.owner("1"))
            let lines = LogLines()
            var configuration = hooks.service.configuration
            configuration.webhooks = []
            let registry = EndpointRegistry(
                configuration: configuration, store: hooks.service.store, logger: lines.logger(.info))
            var silence = EndpointSilence()
            for _ in 0..<EndpointSilence.maximum { try await registry.pass(&silence) }
            #expect(lines.texts.isEmpty)
            try await registry.pass(&silence)
            let texts = lines.texts
            try #require(texts.count == 1, "\(texts)")
            let entry = try JSONSerialization.jsonObject(with: Data(texts[0].utf8)) as? [String: String]
            #expect(entry?["level"] == "warning" && entry?["endpoint"] == "app")
            #expect(
                entry?["message"]
                    == "no process has this webhook in its configuration anymore; its waiting messages are abandoned")
            // The messages about the first policy, and about the customer's right.
            #expect(entry?["waiting"] == "2")
            let deliveries = try await hooks.outbox().flatMap(\.deliveries)
            #expect(deliveries.allSatisfy { $0.nextAttempt == nil && $0.deliveredAt == nil })
        }
    }

    @Test func `a webhook endpoint is silent after eleven reads of one heartbeat, and a new heartbeat resets that`()
        async throws
    {
        try await withWebhooks([.local(9)]) { _, hooks in
            let store = hooks.service.store
            let early = try await store.read { try $0.endpoints() }
            let registry = EndpointRegistry(
                configuration: hooks.service.configuration, store: store, logger: Calculator.logger)
            var unused = EndpointSilence()
            try await registry.pass(&unused)
            let later = try await store.read { try $0.endpoints() }
            #expect(early.count == 1 && later.count == 1 && early != later)
            var silence = EndpointSilence()
            for endpoints in [early, later] {
                for _ in 0..<10 {
                    let silent = silence.silent(among: endpoints)
                    #expect(silent == [])
                }
            }
            let silent = silence.silent(among: later)
            #expect(silent == later)
        }
    }

    @Test func `a process registers its webhook endpoint again after another process removed it`() async throws {
        try await withWebhooks([.local(9)]) { _, hooks in
            let store = hooks.service.store
            let endpoints = try await store.read { try $0.endpoints() }
            #expect(try await store.removeEndpoints(endpoints, at: Calculator.now).map(\.name) == ["app"])
            #expect(try await store.read { try $0.endpoints() }.isEmpty)
            let registry = EndpointRegistry(
                configuration: hooks.service.configuration, store: store, logger: Calculator.logger)
            var silence = EndpointSilence()
            for _ in 0..<2 {
                try await registry.pass(&silence)
                #expect(try await store.read { try $0.endpoints() }.map(\.name) == ["app"])
            }
        }
    }
}
