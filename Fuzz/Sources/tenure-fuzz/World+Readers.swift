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

    /// As short as one that says all it can.
    var scenario: String {
        """
        scenario: A family member
        policy: calculator.policy.yaml
        begins: 2014-01-01
        environment: Production
        app:
          bundleID: com.example.calculator
          appleID: 828838134
          gracePeriodDays: 16
          releases: [{ platform: iOS, build: "37", version: "1.4", at: 2014-01-10 }]
          prices: [{ from: 2014-01-10, price: 4.99 }]
          products:
            com.example.calculator.yearly:
              { type: autoRenewable, price: 19.99, prices: { DEU: 21.99 }, group: plans, level: 1, period: P1Y,
                familyShareable: true, introductory: { discount: freeTrial, period: P1W },
                offers: [{ id: comeback, type: winBack, discount: payAsYouGo, period: P1M, count: 3, price: 0.99 }] }
        customers: { Ada: { family: Lovelace, storefront: GBR }, Gus: { shows: receipt } }
        timeline:
          - at: 2014-05-01
            Ada: acquires
            Gus: { acquires: macOS, release: "1.9" }
          - after: 31d
            Ada: [{ buys: com.example.calculator.yearly, offer: comeback }]
            store: { network: down }
            service: catchesUp
            expect: { Ada: { everything: granted } }
            known: { Ada: { everything: denied } }
        """
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
