import Crypto
import Foundation
import TenureCore
import TenureHTTP
import TenureJSON
import TenureServer
import Testing

@testable import Tenure

/// A service with a signing key that an offline root signed for ninety days, and a thief with a copy of that key.
struct Compromise {
    let service: RealService
    let clock: TestTime
    let folder: KeysFolder
    let root: OfflineRoot
    let publicRoot: Tenure.ServiceKey
    let stolen: String

    static let period: TimeInterval = 90 * InventedApp.day

    /// - Parameters:
    ///   - policy: the thief's, which grants everything by default.
    ///   - body: gets the thief's service too. That has the stolen key and its statement.
    static func run(
        policy: Policy? = nil,
        _ body:
            @escaping @Sendable (_ compromise: Compromise, _ thief: RealService, _ thiefClock: TestTime) async throws
            -> Void
    ) async throws {
        let (clock, thiefClock) = (TestTime(InventedApp.now), TestTime(InventedApp.now))
        let folder = try KeysFolder()
        let root = OfflineRoot(path: folder.path + "/root.json")
        let publicRoot = try root.create()
        let generous = try Policy(
            app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
            eras: [Era(name: "always", model: .free)],
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "always")])])
        try await RealService.run(now: { clock.now }, { $0.keysFolder = folder.path }) { service in
            let key = try folder.administration.summary().inUse
            let statement = try root.sign(key, until: InventedApp.now.addingTimeInterval(period), at: InventedApp.now)
            _ = try folder.administration.install(statement, ofRoot: publicRoot, at: InventedApp.now)
            let copy = try KeysFolder()
            try FileManager.default.copyItem(
                atPath: folder.path + "/signing-key.json", toPath: copy.path + "/signing-key.json")
            let id = try #require(try folder.administration.summary().keys.last?.id)
            try await RealService.run(
                policy: policy ?? generous, now: { thiefClock.now },
                {
                    $0.keysFolder = copy.path
                    $0.createsDatabase = true
                }
            ) { thief in
                try await body(
                    Compromise(
                        service: service, clock: clock, folder: folder, root: root,
                        publicRoot: try Tenure.ServiceKey(publicRoot), stolen: id), thief, thiefClock)
            }
        }
    }

    func device(
        _ store: FakeStore, at service: RealService, storage: MemoryStateStorage = MemoryStateStorage(),
        policy: Policy? = nil
    ) -> Device {
        let root = publicRoot
        return service.device(store, storage: storage) { setup in
            if let policy { setup.policy = .policy(policy) }
            setup.keys = []
            setup.root = root
            setup.options.whileUndetermined = .deny
        }
    }

    /// An owner's app with a bundled policy that grants everything.
    func owner(at service: RealService, _ storage: MemoryStateStorage) throws -> Tenure {
        device(try .owner(), at: service, storage: storage, policy: InventedApp.policy()).start()
    }

    /// The thief's responses bring the revocation.
    ///
    /// - Parameter before: what happens before the device gets one.
    func passOnRevocation(through thief: RealService, before: @escaping @Sendable () -> Void = {}) throws {
        let list = try root.revoke([stolen], at: InventedApp.now)
        thief.line.condition = .replaced { response in
            before()
            let text = String(decoding: response.body, as: UTF8.self)
            response.body = Data(
                text.replacingOccurrences(
                    of: #""signingKey":{"#, with: #""signingKey":{"revocations":"\#(list)","#
                ).utf8)
        }
    }

    /// The thief's copy of the signing key.
    func stolenKey() throws -> Signer {
        let file = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: folder.path + "/signing-key.json")))
        guard let pem = (file as? [String: Any])?["privateKey"] as? String else { throw RealService.NoPort() }
        return Signer(key: try P256.Signing.PrivateKey(pemRepresentation: pem))
    }

    /// The operator replaces the stolen key, and the root revokes it.
    func recover() throws {
        let now = clock.now
        guard case .waiting(let next) = try folder.administration.rotate(at: now) else { throw RealService.NoPort() }
        _ = try folder.administration.install(
            try root.sign(next, until: now.addingTimeInterval(Self.period), at: now), at: now)
        _ = try folder.administration.install(try root.revoke([stolen], at: now), at: now)
    }
}

/// A thief's policy that honors no era.
func harshPolicy() throws -> Policy {
    try Policy(
        app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
        eras: [Era(name: "always", model: .free)],
        entitlements: [Entitlement(name: "everything", products: [.init(id: InventedApp.everything)])])
}

extension TransportResponse {
    /// Signs the entitlement token again, and adds statements to the chain that vouches for its key.
    mutating func sign(by signer: Signer, adding statements: [String]) {
        guard var json = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any],
            var signingKey = json["signingKey"] as? [String: Any],
            let parts = (json["entitlementToken"] as? String)?.split(separator: "."), parts.count == 3,
            let payload = Base64.urlSafe.decode(parts[1]),
            let token = try? signer.sign(String(decoding: payload, as: UTF8.self), type: "tenure-entitlement+jwt")
        else { return }
        signingKey["chain"] = statements
        json["signingKey"] = signingKey
        json["entitlementToken"] = token
        body = (try? JSONSerialization.data(withJSONObject: json)) ?? Data()
    }
}
