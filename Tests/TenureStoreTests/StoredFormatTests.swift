import Foundation
import TenureCore
import Testing

@testable import TenureStore

/// The codes and texts in databases, in access tokens and in locks, which every release must read in the same way.
@Suite struct `the stored formats` {
    /// An instant, as `CustomerFacts` are encoded: seconds since 2001.
    private static func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

    private static func instant(_ seconds: Double) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: seconds.bitPattern >> UInt64(8 * $0)) }
    }

    private static func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }

    @Test func `a customer's facts are encoded as in every earlier release`() throws {
        let (one, two, three) = (Self.date(1), Self.date(2), Self.date(3))
        let proof = AppProof(
            kind: .serverAppTransaction, signedDate: one, id: .appTransaction("7"), originalPlatform: .visionOS,
            originalAppVersion: "3", originalPurchaseDate: two, preorderDate: three, revocationDate: Self.date(4),
            expirationDate: Self.date(5))
        let subscription = Purchase(
            transactionID: "t", originalTransactionID: "o", productID: "p", type: .autoRenewable, purchaseDate: one,
            expiresDate: two, revocationDate: three, isUpgraded: true, isFamilyShared: true, signedDate: Self.date(4))
        let unknown = Purchase(
            transactionID: "u", productID: "q", type: .unknown("x"), purchaseDate: nil, signedDate: nil)
        let renewal = Renewal(
            originalTransactionID: "o", productID: "p", gracePeriodExpiresDate: one, isInBillingRetryPeriod: true,
            signedDate: two)
        let promise = StoredPromise(
            entitlement: "e",
            acquisition: AcquisitionKey(appTransactionID: "a", downloadID: "d", originalPurchaseDate: one),
            policyVersion: 300, until: two, recordedAt: three)
        var facts = CustomerFacts()
        facts.proofs = [proof]
        facts.purchases = [subscription, unknown]
        facts.renewals = [renewal]
        facts.purchasesAreComplete = true
        facts.promises = [promise]
        facts.support = [SupportGrant(.revocation, of: "s", date: one, until: two)]
        facts.isUnbound = true
        let parts: [[UInt8]] = [
            // The version, and the flags of the facts.
            [1, 3],
            // One proof.
            [1, 0xFB, 3, 2], Self.instant(1), Self.text("7"), [5], Self.text("3"), Self.instant(2), Self.instant(3),
            Self.instant(4), Self.instant(5),
            // Two purchases.
            [2, 0xFF, 1], Self.text("t"), Self.text("o"), Self.text("p"), [4], Self.instant(1), Self.instant(2),
            Self.instant(3), Self.instant(4), [2], Self.text("u"), Self.text("q"), [0], Self.text("x"),
            // One renewal, one promise, and one revocation by support.
            [1, 15], Self.text("o"), Self.text("p"), Self.instant(1), Self.instant(2), [1, 15], Self.text("e"),
            Self.text("a"), Self.text("d"), Self.instant(1), [0xAC, 2], Self.instant(2), Self.instant(3), [1, 3],
            Self.text("s"), Self.instant(1), Self.instant(2),
        ]
        let expected = parts.flatMap(\.self)
        #expect(facts.encoded == expected)
        #expect(try CustomerFacts(decoding: expected) == facts)
        #expect(CustomerFacts().encoded == [1, 0, 0, 0, 0, 0, 0])
    }

    @Test func `each kind, platform and type of a customer's facts has its code`() {
        let kinds: [(AppProof.Kind, UInt8)] = [(.appTransaction, 1), (.serverAppTransaction, 2), (.receipt, 3)]
        let platforms: [(Platform, UInt8)] = [(.iOS, 1), (.macOS, 2), (.tvOS, 3), (.watchOS, 4), (.visionOS, 5)]
        for (kind, kindCode) in kinds {
            for (platform, code) in platforms {
                var facts = CustomerFacts()
                facts.add([AppProof(kind: kind, signedDate: nil, originalPlatform: platform)])
                #expect(facts.encoded == [1, 0, 1, 8, kindCode, code, 0, 0, 0, 0], "\(kind), \(platform)")
            }
        }
        let types: [(Purchase.ProductType, UInt8)] = [
            (.nonConsumable, 1), (.consumable, 2), (.nonRenewing, 3), (.autoRenewable, 4),
        ]
        for (type, code) in types {
            var facts = CustomerFacts()
            facts.add([Purchase(transactionID: "t", productID: "p", type: type, purchaseDate: nil, signedDate: nil)])
            #expect(facts.encoded == [1, 0, 0, 1, 2, 1, 116, 1, 112, code, 0, 0, 0], "\(type)")
        }
    }

    @Test func `kinds and environments keep their numbers`() {
        #expect(
            Identity.Kind.allCases.map { "\($0) \($0.rawValue)" } == [
                "appTransactionID 1", "downloadID 2", "originalTransactionID 3", "device 4", "artifact 5", "unbound 6",
                "userID 8", "appAccountToken 9", "transactionID 10", "webOrderLineItemID 11", "sharedPurchase 12",
            ])
        #expect(
            Artifact.Kind.allCases.map { "\($0) \($0.rawValue)" } == [
                "appTransaction 1", "transaction 2", "renewalInfo 3", "receipt 4",
            ])
        let realms: [(Realm, UInt8)] = [
            (Realm(.production), 0), (Realm(.sandbox), 1), (Realm(.xcode), 2), (Realm(.production, isTest: true), 16),
            (Realm(.sandbox, isTest: true), 17), (Realm(.xcode, isTest: true), 18),
        ]
        for (realm, code) in realms {
            #expect(realm.code == code)
            #expect(Realm(code: code) == realm)
        }
        for code: UInt8 in [3, 15, 19, 32, 255] { #expect(Realm(code: code) == nil, "\(code)") }
    }

    @Test func `kinds of messages, events and changes keep their names`() {
        #expect(
            Message.Kind.allCases.map(\.rawValue) == [
                "entitlement.granted", "entitlement.revoked", "entitlement.expiring", "customer.merged",
                "customer.erased", "customer.consentRescinded", "policy.published",
            ])
        #expect(
            StoredEvent.Kind.allCases.map(\.rawValue) == [
                "purchasesComplete", "merged", "unmerged", "linked", "unlinked", "transferred", "manyDevices",
                "promisesEnded", "promisesRestored",
            ])
        #expect(
            ChangeOutcome.Refusal.allCases.map(\.rawValue) == [
                "noSuchCustomer", "noSuchOther", "otherEnvironment", "unboundProof", "linkedToAnotherUser",
                "separated", "notLinked", "notMerged", "alreadyMerged", "tooManyMerged", "requestReused",
            ])
        #expect(StoredAdminKey.Scope.allCases.map(\.rawValue) == ["admin", "support", "link", "read", "policy"])
        #expect(StoredPublication.Action.allCases.map(\.rawValue) == ["start", "publish", "rollback"])
        #expect(Transfer.allCases.map(\.rawValue) == ["never", "newest", "share"])
        #expect(Identity.Lead.allCases.map(\.rawValue) == ["app", "receipt", "transactions"])
    }

    @Test func `a lock key has the same text in every process`() {
        let identity = Identity(.originalTransactionID, "9")
        let keys: [LockKey] = [
            .identity(identity, Realm(.sandbox, isTest: true)), .notification(uuid: "n", Realm(.sandbox)), .user("u"),
            .request("r", actor: "ada"), .merges, .adminKeys, .personas, .policies, .endpoints,
            .deliveries(endpoint: "e"), .progress("p"),
        ]
        #expect(
            keys.map(\.text) == [
                "17 3 9", "notification 1 n", "user u", "request ada r", "merges", "keys", "personas", "policies",
                "endpoints", "deliveries to e", "progress p",
            ])
    }

    @Test func `entitlements that webhooks reported, and the types of an endpoint, are stored as sorted text`() {
        let until = Date(timeIntervalSince1970: 1_700_000_000)
        let sent = SentEntitlements(rights: [
            "b": .init(until: nil), "a": .init(until: until, isExpiring: true), "c": .init(until: until),
        ])
        let text = #"{"a":{"isExpiring":true,"until":1700000000000},"b":{},"c":{"until":1700000000000}}"#
        #expect(sent.json == text)
        #expect(SentEntitlements().json == "{}")
        #expect(Endpoint(name: "a").types == "*")
        let kinds: Set<Message.Kind> = [.policyPublished, .customerErased]
        #expect(Endpoint(name: "a", kinds: kinds).types == "customer.erased policy.published")
    }

    @Test func `a publication that isn't finished is stored as three numbers, and other texts are damage`() throws {
        let whole = try UnfinishedPublication("7 5 9")
        #expect(whole.publication == 7 && whole.restoringAfter == 5 && whole.mark == 9)
        #expect(whole == UnfinishedPublication(publication: 7, restoringAfter: 5, mark: 9))
        // A publication that restores nothing has its own ID, and one that ends nothing has no mark.
        let other = UnfinishedPublication(publication: 7, restoringAfter: nil, mark: nil)
        #expect(other.restoringAfter == 7 && other.mark == 0)
        for text in ["", "7 5", "7 5 9 1", "7 x 9"] {
            #expect(throws: StoreError.damaged("the row `publication` of `progress` isn't three numbers"), "\(text)") {
                try UnfinishedPublication(text)
            }
        }
    }

    @Test func `an unbound customer's identity names its leading artifact, and then all artifacts`() {
        let named = Identity(unboundLedBy: .receipt, naming: Identity(.downloadID, "9"), digest: "abc")
        #expect(named == Identity(.unbound, "receipt 2 9 abc"))
        #expect(named.valuePrefix == "receipt 2 9")
        #expect(Identity(unboundLedBy: .transactions, naming: nil, digest: "abc").value == "transactions 0  abc")
        #expect(Identity(sharedPurchase: "9", of: 12) == Identity(.sharedPurchase, "9 12"))
        let token = Identity(appAccountToken: "9B2F0E52-6C0C-4A53-9A0F-5D1F4A0F7B11", of: "9")
        #expect(Identity(appAccountToken: nil, of: "9") == nil)
        #expect(token == Identity(.appAccountToken, "9b2f0e52-6c0c-4a53-9a0f-5d1f4a0f7b11 9"))
    }

    @Test func `a public ID has its prefix and 24 characters that can't be mistaken for each other`() {
        let letters = String(repeating: "2", count: 23)
        for (text, matches) in [
            ("cus_\(letters)a", true), ("cus_\(letters)z", true), ("cus_\(letters)", false),
            ("cus_\(letters)22", false), ("cus_\(letters)l", false), ("cus_\(letters)o", false),
            ("cus_\(letters)0", false), ("cus_\(letters)1", false), ("cus_\(letters)A", false),
            ("evt_\(letters)2", false), ("\(letters)22222", false), ("", false),
        ] as [(String, Bool)] { #expect(PublicID.customer.matches(text) == matches, "\(text)") }
    }

    @Test(
        arguments: [
            (0.0006, 1), (0.0004, 0), (-0.0016, -2), (1.2346, 1235), (.nan, 0), (1e300, 9_000_000_000_000_000),
            (-1e300, -9_000_000_000_000_000),
        ] as [(Double, Int64)])
    func `a stored instant is rounded to milliseconds, and is never out of range`(seconds: Double, expected: Int64) {
        #expect(Date(timeIntervalSince1970: seconds).millisecondsSince1970 == expected)
    }

    // Otherwise, a value differs from the same value that is read from the database.
    @Test func `values have their dates as the database stores them, in whole milliseconds`() {
        let (date, stored) = (
            Date(timeIntervalSince1970: 1_700_000_000.0006), Date(timeIntervalSince1970: 1_700_000_000.001)
        )
        let promise = StoredPromise(
            entitlement: "e",
            acquisition: AcquisitionKey(appTransactionID: "1", downloadID: nil, originalPurchaseDate: nil),
            policyVersion: 1, until: date, recordedAt: date)
        #expect(promise.until == stored && promise.recordedAt == stored)
        let persona = StoredPersona(
            persona: Persona(name: "early", proof: AppProof(kind: .appTransaction, signedDate: date)), createdAt: date,
            expiresAt: date, revokedAt: date)
        #expect([persona.createdAt, persona.expiresAt, persona.revokedAt] == [stored, stored, stored])
        let key = StoredAdminKey(name: "a", scope: .read, createdAt: date, revokedAt: date)
        #expect(key.createdAt == stored && key.revokedAt == stored)
        let notification = StoredNotification(
            realm: Realm(.production), uuid: "n", type: "REFUND", subtype: nil, signedDate: date, bytes: [])
        #expect(notification.signedDate == stored)
        #expect(AuditEntry(at: date, actor: "a", action: "look").at == stored)
        #expect(StoredEvent(.linked, at: date).at == stored)
        #expect(RequestedChange(.erase, actor: "a", at: date).at == stored)
        let publication = RequestedPublication(
            compiled: [], sha256: [], action: .publish, at: date, actor: "a", reason: nil, base: 0)
        #expect(publication.at == stored)
        let rehearsal = StoredRehearsal(
            base: 0, sha256: [], at: date, actor: "a", gaining: 0, losing: 0, losingWithPromises: 0, report: [])
        #expect(rehearsal.at == stored)
        let added = CustomerFacts().adding(SupportGrant(.grant, of: "e", date: date, until: date))
        let grant = SupportGrant(.grant, of: "e", date: stored, until: stored)
        #expect(added?.grant == grant && added?.facts.support == [grant])
    }

    @Test func `a persona is valid until the instant at which it expires, and never after it was revoked`() {
        let start = Date(timeIntervalSince1970: 1_700_000_000)
        func isValid(after seconds: Double, revokedAt: Date? = nil) -> Bool {
            StoredPersona(
                persona: Persona(name: "early", proof: AppProof(kind: .appTransaction, signedDate: start)),
                createdAt: start, expiresAt: start.addingTimeInterval(60), revokedAt: revokedAt
            ).isValid(at: start.addingTimeInterval(seconds))
        }
        #expect(isValid(after: 59.999))
        #expect(!isValid(after: 60))
        #expect(!isValid(after: 1, revokedAt: start))
    }
}
