import Foundation
import TenureContent
import TenureCore
import TestTransport

@testable import Tenure
@testable import TenureServer

/// The real service, with a published folder.
struct ServedContent: Sendable {
    let testBed: ContentTestBed
    let service: RealService
    let transport: ArrangedTransport
    let time: Locked<Date>

    static let files: [String: Data] = [
        "samples/a.wav": ContentTestBed.bytes(3_000_000), "index.json": Data("{}".utf8),
    ]
    static let size = 3_000_002
    static let loops = "com.example.loops"

    /// Cuts the next download after 1 MB. Before it continues, another version is published and the network fails.
    /// Returns the files of that version.
    func publishWhileDownloadIsCut() -> [String: Data] {
        var changed = Self.files
        changed["index.json"] = Data("{\"version\":2}".utf8)
        transport.cut(after: 1_000_000)
        transport.before(1) { [changed, testBed, transport] in
            try testBed.publish(changed)
            transport.isDown = true
        }
        return changed
    }

    static func run(
        unlock: ContentCatalog.Unlock = .entitlement("everything"), lifetime: TimeInterval = 86_400,
        _ body: @escaping @Sendable (ServedContent) async throws -> Void
    ) async throws {
        let testBed = try ContentTestBed(files, unlock: unlock)
        let time = Locked(InventedApp.now)
        try await RealService.run(now: { time.withLock { $0 } }) { configuration in
            configuration.content = ContentSettings(folder: testBed.published)
            configuration.content?.linkLifetime = lifetime
            configuration.contentStaleness = .zero
        } _: { service in
            try await body(
                ServedContent(testBed: testBed, service: service, transport: ArrangedTransport(), time: time))
        }
    }

    func device(_ store: FakeStore, _ change: @escaping @Sendable (inout Setup) -> Void = { _ in }) -> Device {
        service.device(store) { [testBed, transport] setup in
            setup.options.content = .service(keys: testBed.keys)
            setup.options.whileUndetermined = .deny
            setup.contentLocation = testBed.location
            setup.contentTransport = transport
            setup.stallTimeout = 5
            change(&setup)
        }
    }

    /// A customer who got the app when it was free, and bought everything.
    static func buyer(_ product: String = InventedApp.everything, revoked: Date? = nil) throws -> FakeStore {
        let (app, purchase) = try (InventedApp.signed(InventedApp.newcomer()), purchase(product, revoked: revoked))
        return FakeStore {
            $0.app = app
            $0.transactions = [purchase]
        }
    }

    static func purchase(
        _ product: String = InventedApp.everything, id: String = "410000000000001", revoked: Date? = nil
    ) throws -> AppStoreTransaction {
        let account = "704000000000000002"
        let minted = InventedApp.purchase(product, id: id, of: account, revoked: revoked)
        // Of two artifacts of one transaction, the later-signed artifact is used.
        return try InventedApp.signed(
            minted, of: account, at: InventedApp.now.addingTimeInterval(revoked == nil ? -60 : -5))
    }
}
