import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct VersionRightsTests {
    private static let now = Date(timeIntervalSince1970: 1_500_000_000)
    private static let day = Date(timeIntervalSince1970: 1_433_959_200)

    private func acquisition(
        _ version: String? = "37", purchased: Date? = day - 1, on platform: Platform? = .iOS, revoked: Date? = nil,
        expires: Date? = nil
    ) throws -> Acquisition {
        var proofs = [
            AppProof(
                kind: .appTransaction, signedDate: Self.now, originalPlatform: platform, originalAppVersion: version,
                originalPurchaseDate: purchased, revocationDate: revoked)
        ]
        // Only receipts contain the end of a license.
        if let expires {
            proofs.append(
                AppProof(
                    kind: .receipt, signedDate: Self.now, originalAppVersion: version,
                    originalPurchaseDate: purchased, expirationDate: expires))
        }
        let evidence = Evidence(environment: .production, app: proofs)
        try #require(evidence.acquisitions.count == 1)
        return evidence.acquisitions[0]
    }

    private func given(
        _ rights: Tenure.VersionRights, _ acquisition: Acquisition?, in environment: AppStoreEnvironment? = .production
    ) -> Set<String> {
        rights.rights(of: acquisition, in: environment, at: Self.now)
    }

    @Test(arguments: [
        ("37", true), ("37.0", true), (" 37 ", true), ("037", true), ("1.10", true), ("1.1", false), ("370", false),
        ("3", false), ("37b", false), (nil, false),
    ])
    func `a version list compares versions as numbers, not as strings`(_ version: String?, _ isListed: Bool) throws {
        var rights = Tenure.VersionRights()
        try rights.register(entitlement: "everything", versions: ["37", "1.10.0", "120"])
        #expect(given(rights, try acquisition(version)) == (isListed ? ["everything"] : []))
    }

    @Test func `a version list excludes purchases on its date, and with versions and a date it requires both`() throws {
        var rights = Tenure.VersionRights()
        try rights.register(entitlement: "cloud", purchasedBefore: Self.day)
        try rights.register(entitlement: "everything", versions: ["37"], purchasedBefore: Self.day)
        #expect(given(rights, try acquisition("99")) == ["cloud"])
        #expect(given(rights, try acquisition()) == ["cloud", "everything"])
        #expect(given(rights, try acquisition(purchased: Self.day)) == [])
        #expect(given(rights, try acquisition(purchased: nil)) == [])
    }

    @Test func `a version list gives nothing in test environments, after a refund or expiration, or without evidence`()
        throws
    {
        var rights = Tenure.VersionRights()
        try rights.register(entitlement: "everything", versions: ["1.0", "1", "37"], purchasedBefore: Self.now)
        #expect(given(rights, try acquisition()) == ["everything"])
        for environment in [AppStoreEnvironment.sandbox, .xcode, nil] {
            #expect(given(rights, try acquisition("1.0"), in: environment) == [])
        }
        #expect(given(rights, try acquisition(revoked: Self.day)) == [])
        #expect(given(rights, try acquisition(expires: Self.now - 1)) == [])
        #expect(given(rights, try acquisition(expires: Self.now)) == [])
        #expect(given(rights, try acquisition(expires: Self.now + 1)) == ["everything"])
        #expect(given(rights, nil) == [])
    }

    @Test func `a version list for one platform is ignored on other platforms`() throws {
        var rights = Tenure.VersionRights()
        try rights.register(entitlement: "everything", versions: ["1.9"], on: .macOS)
        #expect(given(rights, try acquisition("1.9", on: .macOS)) == ["everything"])
        #expect(given(rights, try acquisition("1.9", on: .iOS)) == [])
        #expect(given(rights, try acquisition("1.9", on: nil)) == [])
    }

    @Test func `registering adds a version list, and unregistering removes all lists of the entitlement`() throws {
        var rights = Tenure.VersionRights()
        try rights.register(entitlement: "everything", versions: ["36"])
        try rights.register(entitlement: "everything", versions: ["37"])
        try rights.register(entitlement: "cloud", versions: ["37"])
        #expect(given(rights, try acquisition()) == ["everything", "cloud"])
        rights.unregister(entitlement: "everything")
        #expect(given(rights, try acquisition()) == ["cloud"] && rights.entitlements == ["cloud"])
        rights.unregister(entitlement: "cloud")
        rights.unregister(entitlement: "nothing")
        #expect(rights.isEmpty && rights == Tenure.VersionRights())
    }

    @Test func `registering the same version list again changes nothing`() throws {
        var once = Tenure.VersionRights()
        try once.register(entitlement: "everything", versions: ["37"], purchasedBefore: Self.day, on: .iOS)
        var twice = once
        try twice.register(entitlement: "everything", versions: ["37.0"], purchasedBefore: Self.day, on: .iOS)
        #expect(twice == once)
        try twice.register(entitlement: "everything", versions: ["37"], purchasedBefore: Self.day, on: .macOS)
        #expect(twice != once)
    }

    @Test
    func `registering version rights throws for a malformed version, and if neither versions nor a date is given`()
        throws
    {
        var rights = Tenure.VersionRights()
        let malformed = #expect(throws: Tenure.InvalidVersionList.self) {
            try rights.register(entitlement: "everything", versions: ["1.0", "v2", "", "2.0b3"])
        }
        #expect(malformed == .malformed(["v2", "", "2.0b3"]))
        #expect(malformed?.description.contains("`v2`") == true)
        #expect(throws: Tenure.InvalidVersionList.noCriteria(entitlement: "everything")) {
            try rights.register(entitlement: "everything")
        }
        #expect(rights.isEmpty)
        // An empty list matches no customer.
        try rights.register(entitlement: "everything", versions: [])
        #expect(given(rights, try acquisition()) == [])
    }
}
