import Foundation
import FuzzedReaders
import TenureAppStore
import TenureCore
import TenurePolicyFile

/// Sound inputs for the readers of the service and the store.
extension World {
    var compiledPolicies: [[UInt8]] {
        get throws { try policies.map { PolicyFile.compile(try PolicyFile.read($0, named: "policy.yaml")) } }
    }

    /// In PEM, as an authority saves its roots.
    var anchors: [UInt8] {
        get throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "tenure-fuzz-authority-\(getpid())")
            defer { try? FileManager.default.removeItem(at: folder) }
            try authority.save(to: folder)
            return Array(try Data(contentsOf: folder.appending(path: "roots.pem")))
        }
    }

    var syncs: [[UInt8]] {
        get throws {
            let texts = try jws.map { String(decoding: $0.bytes.prefix(200), as: UTF8.self) }
            let body =
                #"{"appTransaction":"\#(texts[0])","transactions":["\#(texts[1])","x"],"renewalInfos":["\#(texts[2])"],"receipt":"MIIB","deviceVerificationID":"2DC5FC88-D2C5-4B95-8F00-D2C54B958F00","deviceIdentifier":"00:1a:2B:3c:4d:5e"}"#
            return [Array(body.utf8), Array(#"{"transactions":[],"receipt":null,"new":{"a":[1.5e3]}}"#.utf8)]
        }
    }

    var facts: [UInt8] {
        get throws {
            func verified(_ kind: JWSKind) throws -> [UInt8] { try jwsMinter.mint(kind) }
            let app = try verifier.verifyAppTransaction(
                try verified(.appTransaction), from: .appStoreServer, now: Self.instant)
            let transaction = try verifier.verifyTransaction(try verified(.transaction), now: Self.instant)
            let renewal = try verifier.verifyRenewalInfo(try verified(.renewalInfo), now: Self.instant)
            return FuzzedReaders.facts(
                of: [app.proof], [try transaction.purchase], [try renewal.renewal])
        }
    }
}
