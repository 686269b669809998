import Crypto
import Foundation
import TenureCore

/// The IDs of the local App Store, all made from the seed and a count, so that they are the same in every run.
struct AppStoreIDs: Sendable {
    private let seed: String
    /// The ID of the first transaction: 15 digits in production; in the sandbox 16, beginning with a 2.
    private let firstTransaction: Int
    /// The first IDs of the other kinds.
    private let firstAppTransaction: Int
    private let firstDownload: Int
    private let firstGroup: Int

    init(seed: String, environment: AppStoreEnvironment) {
        self.seed = seed
        // The seed selects one of 256 ranges of IDs, a billion apart, so different seeds rarely share IDs.
        let offset = Int(Self.hash("ids \(seed)")[0]) * 1_000_000_000
        firstTransaction = (environment.isProduction ? 410_000_000_000_000 : 2_000_000_000_000_000) + offset + 1
        firstAppTransaction = 704_000_000_000_000_000 + offset + 1
        firstDownload = 500_000_000_000_000 + offset + 1
        firstGroup = 20_000_000 + Int(Self.hash("ids \(seed)")[1]) * 100_000
    }

    // Each method returns the ID of the element with this index in the list of `AppStoreState`.
    func transaction(_ index: Int) -> String { String(firstTransaction + index) }
    func appTransaction(_ index: Int) -> String { String(firstAppTransaction + index) }
    func download(_ index: Int) -> Int { firstDownload + index }
    /// The ID of the subscription group with this first product.
    func group(_ product: Int) -> String { String(firstGroup + product) }
    func webOrderLineItem(_ index: Int) -> String { String(firstTransaction + 50_000_000_000_000 + index) }

    /// Returns the order ID of a transaction: `M` and nine letters and digits.
    func order(_ transaction: Int) -> String {
        let digits = String(transaction, radix: 36, uppercase: true)
        return "M" + String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    }

    // The reverse: each method returns the index that belongs to an ID. Nil if the text can't be such an ID.
    func transactionIndex(_ id: some StringProtocol) -> Int? { Self.index(id, from: firstTransaction) }
    func appTransactionIndex(_ id: some StringProtocol) -> Int? { Self.index(id, from: firstAppTransaction) }

    /// Returns the index of the transaction with this order ID. Nil if the text can't be an order ID.
    func transactionIndex(order id: some StringProtocol) -> Int? {
        // Accepts only the canonical spelling, without lowercase letters or a sign.
        guard id.utf8.count == 10, let index = Int(id.dropFirst(), radix: 36), index >= 0, order(index) == id else {
            return nil
        }
        return index
    }

    /// Returns how far an ID is after the first ID of its kind. Nil if the text can't be such an ID.
    private static func index(_ id: some StringProtocol, from first: Int) -> Int? {
        guard id.utf8.count <= 18, id.hasOnlyDigits, let number = Int(id) else { return nil }
        return (0..<1_000_000_000).contains(number - first) ? number - first : nil
    }

    /// Returns a UUID for the label: the same UUID in every run.
    func uuid(_ label: String) -> UUID {
        var bytes = Array(Self.hash("\(seed) \(label)").prefix(16))
        // The bits of a UUID of version 4 (RFC 9562, section 5.4).
        bytes[6] = (bytes[6] & 0x0F) | 0x40
        bytes[8] = (bytes[8] & 0x3F) | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private static func hash(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}

extension StringProtocol {
    /// Whether all characters are the digits 0 to 9. True for an empty text.
    var hasOnlyDigits: Bool { utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) }
}
