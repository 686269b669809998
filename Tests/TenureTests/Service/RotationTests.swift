import Crypto
import Foundation
import TenureHTTP
import TenureServer
import Testing

@testable import Tenure

/// A folder of keys that outlives the services that use it.
final class KeysFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString).path

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var administration: SigningKeyAdministration { SigningKeyAdministration(folder: path) }

    func pinned() throws -> Tenure.ServiceKey { try Tenure.ServiceKey(try administration.summary().inUse) }
}

@Suite struct `An app that pinned the first signing key` {
    @Test func `an app that pinned the first key keeps working after two rotations, also offline`() async throws {
        let folder = try KeysFolder()
        try await RealService.run(authority: RealService.authority, { $0.keysFolder = folder.path }) { service in
            let first = service.key
            let device = service.device(try .owner()) { $0.options.whileUndetermined = .deny }
            #expect(await device.start().allows("everything"))
            for _ in 0..<2 {
                _ = try folder.administration.rotate(at: InventedApp.now)
                let newcomer = service.device(try .owner()) {
                    $0.keys = [first]
                    $0.options.whileUndetermined = .deny
                }
                #expect(await newcomer.start().allows("everything"))
                // The statement about the key is stored with the token.
                service.line.condition = .down
                newcomer.store.fallSilent()
                #expect(await newcomer.start().allows("everything"))
                service.line.condition = .up
            }
            #expect(try folder.pinned() != first)
            #expect(await device.start().allows("everything"))
        }
    }

    @Test func `an app that passes several keys to the client trusts tokens of any of them`() async throws {
        let other = try Tenure.ServiceKey(P256.Signing.PrivateKey().publicKey.pemRepresentation)
        try await RealService.run { service in
            try await ServedStore.run { served in
                try await served.device(of: "Ada") { _ in
                    for (keys, isTrusted) in [([other], false), ([other, service.key], true)] {
                        let tenure = try Tenure(
                            service: service.url, keys: keys,
                            options: served.options { $0.whileUndetermined = .deny })
                        #expect(await tenure.allows("everything") == isTrusted)
                    }
                }
            }
        }
    }

    @Test func `an app doesn't trust a new signing key without a statement by the pinned key`() async throws {
        let folder = try KeysFolder()
        try await RealService.run(authority: RealService.authority, { $0.keysFolder = folder.path }) { service in
            let first = service.key
            _ = try folder.administration.rotate(at: InventedApp.now)
            service.line.condition = .replaced { response in
                let text = String(decoding: response.body, as: UTF8.self)
                response.body = Data(text.replacingOccurrences(of: "\"signingKey\"", with: "\"nothing\"").utf8)
            }
            let device = service.device(try .owner()) {
                $0.keys = [first]
                $0.options.whileUndetermined = .deny
            }
            let tenure = device.start()
            #expect(await !tenure.allows("everything"))
            let step = tenure.customer.steps.first { $0.name == .service }
            #expect(step?.outcome == .failed("the service's entitlement token isn't signed with a pinned key"))
        }
    }

    @Test func `an app that pinned only the first key doesn't trust its replacement after the first key is revoked`()
        async throws
    {
        let folder = try KeysFolder()
        try await RealService.run(authority: RealService.authority, { $0.keysFolder = folder.path }) { service in
            let first = service.key
            _ = try folder.administration.revoke(first.id, at: InventedApp.now)
            let device = service.device(try .owner()) {
                $0.keys = [first]
                $0.options.whileUndetermined = .deny
            }
            let tenure = device.start()
            #expect(await !tenure.allows("everything"))
            let step = tenure.customer.steps.first { $0.name == .service }
            #expect(step?.outcome == .failed("the service's entitlement token isn't signed with a pinned key"))
            let second = try folder.pinned()
            // Tokens of the second pinned key are accepted, even after the next rotation.
            for _ in 0..<2 {
                let updated = service.device(try .owner()) {
                    $0.keys = [first, second]
                    $0.options.whileUndetermined = .deny
                }
                #expect(await updated.start().allows("everything"))
                _ = try folder.administration.rotate(at: InventedApp.now)
            }
        }
    }
}
