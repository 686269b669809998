import Foundation
import TenureContent
import TenureCore
import TenureHTTP
import TestTransport
import Testing

@testable import Tenure

/// What a refused link means: it has expired, or the right has ended.
@Suite(.timeLimit(.minutes(5))) struct `Content that the service refuses` {
    /// A refund that another device has reported to the service, and that this device can read.
    private static func refund(_ served: ServedContent, _ device: Device) async throws {
        let date = InventedApp.now.addingTimeInterval(-10)
        _ = await served.service.device(try ServedContent.buyer(revoked: date)).start().settled()
        let refunded = try ServedContent.purchase(revoked: date)
        device.store.change { $0.transactions = [refunded] }
    }

    @Test func `a download stops after a refund, keeps its bytes, and continues after another purchase`() async throws {
        try await ServedContent.run { served in
            let device = served.device(try ServedContent.buyer())
            let tenure = device.start()
            let piano = tenure.content["piano"]
            served.transport.cut(after: 1_000_000)
            // The service learns of the refund from another device, and this device from the service.
            served.transport.before(1) {
                try await Self.refund(served, device)
            }
            await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.download() }
            #expect(piano.state == .notEntitled)
            #expect(served.transport.statuses.first == 403)
            // The download doesn't start again by itself.
            let again = try ServedContent.purchase(id: "410000000000009")
            device.store.deliverUpdate(again)
            let state = await piano.reaches { if case .available = $0 { true } else { false } }
            guard case .available(let size) = state else { return #expect(Bool(false), "\(state)") }
            #expect(size < 2_100_000, "the downloaded bytes are kept")
            try await piano.download()
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
            #expect(served.transport.received < ServedContent.size + 10_000)
        }
    }

    @Test func `a refund after the client got a new link, and before it uses the link, stops the download`()
        async throws
    {
        try await ServedContent.run(lifetime: 600) { served in
            let device = served.device(try ServedContent.buyer())
            let tenure = device.start()
            let piano = tenure.content["piano"]
            served.transport.cut(after: 1_000_000)
            // The first link has expired. The service gives another link, and the refund comes next.
            served.transport.before(1) { served.time.withLock { $0 += 601 } }
            let syncs = Locked(0)
            served.transport.before(2) {
                try await Self.refund(served, device)
                syncs.withLock { $0 = served.service.line.syncs }
            }
            await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.download() }
            #expect(piano.state == .notEntitled)
            #expect(served.transport.statuses == [403, 403])
            #expect(served.service.line.syncs == syncs.withLock { $0 } + 1, "the right is checked once")
            withExtendedLifetime(tenure) {}
        }
    }

    @Test func `a refused download waits while the service can't say whether the right has ended`() async throws {
        try await ServedContent.run { served in
            let device = served.device(try ServedContent.buyer())
            let tenure = device.start()
            let piano = tenure.content["piano"]
            served.transport.cut(after: 1_000_000)
            let line = served.service.line
            served.transport.before(1) {
                try await Self.refund(served, device)
                line.condition = .rejecting("/v1/sync")
            }
            let download = Task { try await piano.download() }
            while !served.transport.statuses.contains(403) { try await Task.sleep(nanoseconds: 5_000_000) }
            // For as long as it takes.
            let syncs = line.syncs
            while line.syncs < syncs + 6 {
                if case .failed(let error) = piano.state { throw error }
                try await Task.sleep(nanoseconds: 5_000_000)
            }
            #expect(await piano.reaches { $0 == .waiting(.network) } == .waiting(.network))
            line.condition = .up
            await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await download.value }
            withExtendedLifetime(tenure) {}
        }
    }

    @Test func `content is available after a refund and another purchase, even if its download had failed`()
        async throws
    {
        try await ServedContent.run { served in
            let device = served.device(try ServedContent.buyer())
            let tenure = device.start()
            let piano = tenure.content["piano"]
            let line = served.service.line
            line.condition = .withoutLinks
            await #expect(throws: Tenure.AssetPackError.refused("piano")) { try await piano.download() }
            #expect(piano.state == .failed(.refused("piano")))
            line.condition = .up
            try await Self.refund(served, device)
            _ = await tenure.refresh()
            #expect(await piano.reaches { $0 == .notEntitled } == .notEntitled)
            device.store.deliverUpdate(try ServedContent.purchase(id: "410000000000009"))
            let state = await piano.reaches { $0 != .notEntitled }
            guard case .available = state else { return #expect(Bool(false), "\(state)") }
        }
    }

    @Test
    func `a download fails, and can be retried, if the service gives an entitled customer no link`() async throws {
        try await ServedContent.run { served in
            let line = served.service.line
            line.condition = .withoutLinks
            let tenure = served.device(try .owner()).start()
            let piano = tenure.content["piano"]
            // The request for the catalog may have begun with a sync.
            _ = await piano.reaches { if case .available = $0 { true } else { false } }
            let syncs = line.syncs
            await #expect(throws: Tenure.AssetPackError.refused("piano")) { try await piano.download() }
            #expect(line.syncs == syncs + 1, "the right is checked once")
            line.condition = .up
            try await piano.download()
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
        }
    }
}

extension ControlledTransport.Condition {
    /// The service gives no links.
    fileprivate static let withoutLinks = Self.replaced { response in
        let text = String(decoding: response.body, as: UTF8.self)
        guard let start = text.range(of: "\"packs\":{") else { return }
        response.body = Data((text[..<start.upperBound] + "}}").utf8)
    }
}
