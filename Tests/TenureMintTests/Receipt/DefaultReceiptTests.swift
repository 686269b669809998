import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@testable import TenureMint

/// Every attribute of the receipts that are minted without `--set`.
@Suite struct DefaultReceiptTests {
    private static let instant = Date(timeIntervalSince1970: 1_795_176_000)
    private static let purchaseDate = Date(timeIntervalSince1970: 1_435_744_800)
    /// Shared by all tests here, because creating RSA keys takes time.
    private static let authority = Result { try TestAuthority() }

    private func draft(in environment: AppStoreEnvironment) throws -> ReceiptDraft {
        ReceiptMinter(
            authority: try Self.authority.get(), app: MintedApp(environment: environment), signedAt: Self.instant
        ).defaultReceipt
    }

    private func draft(_ values: [(UInt64, ReceiptDraft.Value)]) -> ReceiptDraft {
        var draft = ReceiptDraft()
        draft.attributes = values.map { ReceiptDraft.Attribute(type: $0.0, value: $0.1) }
        return draft
    }

    private var everything: ReceiptDraft {
        draft([
            (1701, .number(1)), (1702, .text("com.example.calculator.everything")), (1703, .text("410000000000001")),
            (1704, .date(Self.purchaseDate)), (1705, .text("410000000000001")), (1706, .date(Self.purchaseDate)),
            (1708, .text("")), (1709, .text("")), (1710, .number(1_010_101_010)), (1711, .number(0)),
            (1712, .text("")), (1713, .flag(false)), (1714, .text("")), (1715, .text("")), (1716, .text("")),
            (1717, .text("")), (1718, .text("")), (1719, .flag(false)), (1707, .number(0)),
        ])
    }

    private var production: [(UInt64, ReceiptDraft.Value)] {
        [
            (0, .text("Production")), (1, .number(828_838_134)), (2, .text("com.example.calculator")),
            (3, .text("310")), (4, .octets(Array(0xA0...0xAF))), (6, .octets(Array(repeating: 0x66, count: 62))),
            (7, .octets(Array(repeating: 0x77, count: 58))), (8, .date(Self.instant)), (9, .number(1_345_531_957)),
            (10, .text("4+")), (11, .number(304_050_607)), (12, .date(Self.instant)), (13, .number(180_602)),
            (14, .number(378)), (15, .number(500_000_000_000_037)), (16, .number(861_000_310)),
            (18, .date(Date(timeIntervalSince1970: 1_409_997_600))), (19, .text("37")), (20, .text("")),
            (25, .number(3)), (17, .purchase(everything)),
        ]
    }

    private static let device: [UInt8] = [0xD1, 0xCE, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1]

    @Test func `a minted production receipt has every attribute of Apple's receipts`() throws {
        let found = try draft(in: .production)
        #expect(found.attributes == draft(production).attributes)
        #expect(found.deviceIdentifier == Self.device)
    }

    @Test func `a minted sandbox receipt has the fixed values of the sandbox`() throws {
        var expected = draft(production)
        let fixed: [(UInt64, ReceiptDraft.Value)] = [
            (0, .text("ProductionSandbox")), (1, .number(0)), (8, .text("")), (11, .number(0)), (15, .number(0)),
            (16, .number(0)), (18, .date(Date(timeIntervalSince1970: 1_375_340_400))), (19, .text("1.0")),
        ]
        for (type, value) in fixed { expected[type] = value }
        #expect(try draft(in: .sandbox).attributes == expected.attributes)
    }

    @Test func `a minted receipt of Xcode has only the attributes that Xcode writes`() throws {
        let purchase = draft([
            (1701, .number(1)), (1702, .text("com.example.calculator.everything")), (1703, .text("0")),
            (1704, .date(Self.purchaseDate)), (1708, .text("")), (1719, .flag(false)),
        ])
        let expected = draft([
            (0, .text("Xcode")), (1, .number(0)), (2, .text("com.example.calculator")), (3, .text("1")),
            (4, .octets(Array(0xA0...0xA7))), (8, .text("")), (12, .date(Self.instant)),
            (21, .text("4001-01-01T00:00:00+0000")), (17, .purchase(purchase)),
        ])
        let found = try draft(in: .xcode)
        #expect(found.attributes == expected.attributes)
        #expect(found.deviceIdentifier == Self.device)
    }

    @Test(
        arguments: [
            (0, [2, 1, 0]), (127, [2, 1, 0x7F]), (128, [2, 2, 0, 0x80]), (255, [2, 2, 0, 0xFF]), (256, [2, 2, 1, 0]),
            (0xFFFF, [2, 3, 0, 0xFF, 0xFF]),
        ] as [(UInt64, [UInt8])])
    func `an integer in a minted receipt has the fewest bytes, and is never negative`(value: UInt64, bytes: [UInt8]) {
        #expect(DERWriter.integer(value) == bytes)
    }

    @Test(
        arguments: [
            (0, [4, 0]), (127, [4, 0x7F]), (128, [4, 0x81, 0x80]), (255, [4, 0x81, 0xFF]), (256, [4, 0x82, 1, 0]),
            (65_536, [4, 0x83, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func `a length in a minted receipt has the fewest bytes`(count: Int, header: [UInt8]) {
        let octets = DERWriter.octetString(Array(repeating: 7, count: count))
        #expect(Array(octets.prefix(header.count)) == header && octets.count == header.count + count)
    }

    @Test func `a receipt is set from the fields that verifyReceipt writes, with each date only once`() throws {
        var draft = ReceiptDraft()
        try draft.set([
            "bundle_id": .string("com.example.calculator"), "download_id": .number("7"), "age_rating": .null,
            "original_purchase_date": .string("2014-09-06 10:00:00 Etc/GMT"),
            "original_purchase_date_ms": .string("1"),
            "original_purchase_date_pst": .string("2014-09-06 03:00:00 America/Los_Angeles"),
            "in_app": .array([
                .object(["product_id": .string("a"), "is_trial_period": .boolean(true)]),
                .object(["product_id": .string("b")]),
            ]),
        ])
        #expect(draft[2] == .text("com.example.calculator") && draft[15] == .number(7))
        #expect(draft[18] == .date(Date(timeIntervalSince1970: 1_409_997_600)))
        #expect(draft.attributes.count == 5)
        #expect(draft.purchases.map { $0[1702] } == [.text("a"), .text("b")])
        #expect(draft.purchases[0][1713] == .flag(true))
        let mistakes: [(JSONObject, String)] = [
            (["in_app": .array([.string("a")])], "`in_app` must be a list of objects"),
            (["bundle_id": .array([])], "`bundle_id` must be a single value"),
        ]
        for (fields, message) in mistakes {
            #expect(throws: MintingError(message)) { try draft.set(fields) }
        }
    }

    @Test func `the periods of a minted subscription have one original transaction and different IDs`() throws {
        let minter = ReceiptMinter(
            authority: try Self.authority.get(), app: MintedApp(bundleID: "com.example.notes"), signedAt: Self.instant)
        let period = minter.subscriptionPeriod(2, from: Self.purchaseDate, length: 86_400)
        let expected: [(UInt64, ReceiptDraft.Value)] = [
            (1702, .text("com.example.notes.yearly")), (1703, .text("410000000000102")),
            (1704, .date(Self.purchaseDate)),
            (1705, .text("410000000000100")), (1706, .date(Self.purchaseDate)), (1707, .number(3)),
            (1708, .date(Self.purchaseDate.addingTimeInterval(86_400))), (1711, .number(410_000_000_000_902)),
        ]
        for (type, value) in expected { #expect(period[type] == value, "\(type)") }
        // Keys of other kinds can't sign.
        let key = try Self.authority.get().receipts.leaf.key
        #expect(throws: MintingError("an RSA key can't sign a JWS; use a P-256 or P-384 key")) {
            try key.rawSignature(of: [1])
        }
        #expect(throws: MintingError("the key that signs a JWS must be a P-256 key")) {
            try CorpusSigner(certificates: [], key: key)
        }
        #expect(throws: MintingError("the certificate chain is empty; a receipt needs a signer's certificate")) {
            try ReceiptAssembly(content: [], chain: [], style: ReceiptStyle())
        }
    }
}
