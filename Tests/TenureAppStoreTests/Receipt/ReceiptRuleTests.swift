import Foundation
import TenureAppStore
import TenureMint
import Testing

/// How strictly each attribute of a receipt is read. The numbers are written here again, because a decision depends on
/// them.
@Suite struct ReceiptRuleTests {
    /// The attributes that may occur once: a parser could use either value.
    private static let single: Set<Int32> = [
        0, 2, 3, 4, 5, 12, 15, 18, 19, 21, 1702, 1703, 1704, 1705, 1707, 1708, 1712,
    ]
    /// The attributes that make a receipt malformed if they can't be read. Any bytes are a valid raw value.
    private static let readable: Set<Int32> = [0, 2, 3, 15, 18, 19, 21, 1702, 1703, 1704, 1705, 1707, 1708, 1712]

    private static let attributes = ReceiptAttribute.allCases.filter { $0 != .inAppPurchase }

    /// Changes the receipt, or the first purchase in it if the attribute is about a purchase. Returns the reason why
    /// the receipt can't be read; nil if it can.
    private func problem(
        of attribute: ReceiptAttribute, after change: (inout ReceiptDraft) -> Void
    ) throws -> String? {
        let receipt = try ReceiptTestBed.minter().mint { draft in
            guard attribute.isInApp else { return change(&draft) }
            var purchases = draft.purchases
            change(&purchases[0])
            draft.purchases = purchases
        }
        do {
            _ = try UnverifiedReceipt(receipt)
            return nil
        } catch {
            return error.detail
        }
    }

    private func value(of attribute: ReceiptAttribute) -> ReceiptDraft.Value {
        switch attribute.encoding {
        case .raw, .attributes: .octets([1])
        case .utf8String, .ia5String: .text("sample")
        case .date: .date(ReceiptTestBed.instant)
        case .integer: .number(1)
        case .boolean: .flag(true)
        }
    }

    @Test(arguments: attributes)
    func `an attribute of a receipt that a decision depends on can't occur twice`(attribute: ReceiptAttribute) throws {
        let type = UInt64(attribute.rawValue)
        let problem = try problem(of: attribute) { draft in
            let value = draft[attribute] ?? self.value(of: attribute)
            draft[attribute] = value
            draft.attributes.append(ReceiptDraft.Attribute(type: type, value: value))
        }
        let text = "the receipt can't be read: attribute \(type), `\(attribute.name)`, occurs twice"
        #expect(problem == (Self.single.contains(attribute.rawValue) ? text : nil))
    }

    @Test(arguments: attributes.filter { $0.encoding != .raw })
    func `an unreadable attribute makes a receipt malformed only if a decision depends on it`(
        attribute: ReceiptAttribute
    ) throws {
        let problem = try problem(of: attribute) { $0[attribute] = .octets([0xFF]) }
        let text = "the receipt can't be read: attribute \(attribute.rawValue), `\(attribute.name)`, can't be read"
        #expect(problem == (Self.readable.contains(attribute.rawValue) ? text : nil))
    }

    @Test(arguments: attributes)
    func `only a receipt's type and bundle ID, and a purchase's product and transaction, are required`(
        attribute: ReceiptAttribute
    ) throws {
        let problem = try problem(of: attribute) { $0[attribute] = nil }
        let required: [Int32: String] = [
            0: "receipt_type", 2: "bundle_id", 1702: "product_id", 1703: "transaction_id",
        ]
        let text = required[attribute.rawValue].map {
            "the receipt can't be read: attribute \(attribute.rawValue), `\($0)`, is missing"
        }
        #expect(problem == text)
    }
}
