import Foundation
import TenureMint
import Testing

@testable import TenureCore

@Suite struct AcquisitionTests {
    @Test func `artifacts with one ID are one acquisition, with original fields from the earliest-signed artifact`()
        throws
    {
        let later = Calculator.app("120", "2015-06-20", signed: "2016-01-01")
        let earlier = Calculator.app("37", "2014-05-01", platform: nil, signed: "2015-01-01")
        let found = acquisitions(in: [later, earlier])
        #expect(found.count == 1)
        #expect(found.first?.originalAppVersion == "37")
        #expect(found.first?.originalPurchaseDate == date("2014-05-01"))
        #expect(found.first?.originalPlatform == .iOS)
    }

    @Test func `purchase dates within two seconds join a receipt and an app transaction into one acquisition`() {
        let app = Calculator.app("37", "2014-05-01T10:00:00Z")
        let near = Calculator.app("37", "2014-05-01T10:00:02Z", platform: nil, id: .download("9"), kind: .receipt)
        let far = Calculator.app("37", "2014-05-01T10:00:03Z", platform: nil, id: nil, kind: .receipt)
        #expect(acquisitions(in: [app, near]).count == 1)
        #expect(acquisitions(in: [app, far]).count == 2)
    }

    @Test func `artifacts with different IDs of one kind are different acquisitions`() {
        let one = Calculator.app("37", "2014-05-01", id: .appTransaction("1"))
        let other = Calculator.app("37", "2014-05-01", id: .appTransaction("2"))
        #expect(acquisitions(in: [one, other]).count == 2)
        // An artifact without an ID joins one of the two acquisitions, and never both of them.
        let without = Calculator.app("37", "2014-05-01", id: nil)
        #expect(acquisitions(in: [one, other, without]).count == 2)
    }

    @Test func `acquisition keys match by a common ID, or by equal dates if they have no different IDs`() {
        func key(app: String? = nil, download: String? = nil, _ bought: String? = nil) -> AcquisitionKey {
            AcquisitionKey(appTransactionID: app, downloadID: download, originalPurchaseDate: bought.map { date($0) })
        }
        let same = [
            (key(app: "1", "2014-05-01"), key(app: "1", "2015-05-01")), (key(app: "1"), key(app: "1", download: "2")),
            (key(download: "1", "2014-05-01"), key(download: "1", "2015-05-01")),
            (key(app: "1", "2014-05-01"), key(download: "1", "2014-05-01")), (key("2014-05-01"), key("2014-05-01")),
        ]
        let different = [
            (key("2014-05-01"), key("2015-05-01")), (key(app: "1", "2014-05-01"), key("2015-05-01")),
            (key(download: "1", "2014-05-01"), key("2015-05-01")), (key(app: "1"), key(download: "1")), (key(), key()),
            (key(app: "1", "2014-05-01"), key(app: "2", "2014-05-01")),
            (key(download: "1", "2014-05-01"), key(download: "2", "2014-05-01")),
            (key(app: "1", download: "3"), key(app: "2", download: "3")),
            (key(app: "3", download: "1"), key(app: "3", download: "2")),
        ]
        for (pairs, match) in [(same, true), (different, false)] {
            for (one, other) in pairs {
                #expect(one.matches(other) == match, "\(one) \(other)")
                #expect(other.matches(one) == match, "\(other) \(one)")
            }
        }
    }

    @Test func `an acquisition's version comes from the earliest-signed artifact with a readable version`() {
        let malformed = Calculator.app("1.x", "2014-05-01", signed: "2014-06-01")
        let readable = Calculator.app("37", "2014-05-01", signed: "2015-01-01")
        #expect(acquisitions(in: [malformed, readable]).map(\.originalAppVersion) == ["37"])
        #expect(acquisitions(in: [malformed]).map(\.originalAppVersion) == ["1.x"])
    }

    @Test func `app transactions with neither an ID nor a purchase date are separate acquisitions`() {
        let proofs = [Calculator.app("37", nil, id: nil), Calculator.app("38", nil, id: nil)]
        #expect(acquisitions(in: proofs).count == 2)
    }

    @Test func `artifacts give the same acquisitions in any order`() {
        var random = SeededRandom(seed: 11)
        for _ in 0..<300 {
            let proofs = (0..<Int.random(in: 2...6, using: &random)).map { _ in RandomEvidence.proof(using: &random) }
            let expected = acquisitions(in: proofs)
            #expect(acquisitions(in: proofs.shuffled(using: &random)) == expected)
            #expect(acquisitions(in: proofs + proofs) == expected)
        }
    }

    @Test func `the key that identifies an acquisition contains the purchase date that decides its eras`() {
        let undated = Calculator.app("37", nil, signed: "2014-06-01")
        let later = Calculator.app("37", "2014-05-01T10:00:00Z", signed: "2016-01-01")
        let receipt = Calculator.app(
            "37", "2014-05-01T10:00:02Z", platform: nil, signed: "2015-01-01", id: .download("9"), kind: .receipt)
        let found = acquisitions(in: [undated, later, receipt])
        #expect(found.map(\.originalPurchaseDate) == [date("2014-05-01T10:00:02Z")])
        #expect(found.map(\.key.originalPurchaseDate) == [date("2014-05-01T10:00:02Z")])
    }
}
