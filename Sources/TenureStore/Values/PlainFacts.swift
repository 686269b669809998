package import Foundation
import TenureCore

/// A reader of *plain* facts, which nearly every customer has: one proof of how they got the app, non-consumable
/// purchases, and promises (`StoredPromise`), but no subscriptions and no support grants.
///
/// Plain facts that differ only in IDs and in dates that don't matter to the policy lead to the same decisions. They
/// get equal keys, so a rehearsal (dry run of a policy) over millions of customers decides once for each key.
package struct PlainFacts {
    private var reader: FactsReader
    /// The memory for the key.
    private let buffer: UnsafeMutableRawBufferPointer
    /// The number of bytes of the key so far.
    private var keySize = 0
    /// Whether the key doesn't fit into `buffer`.
    private var isTooLarge = false
    /// The ID of the app transaction in the proof; nil if it has none.
    private var appTransactionID: UnsafeRawBufferPointer?
    /// The ID that a receipt gives to the download of the app; nil if the proof has none.
    private var downloadID: UnsafeRawBufferPointer?
    /// When the customer first got the app; nil if the proof doesn't say.
    private var purchaseDate: Date?

    private init(_ bytes: UnsafeRawBufferPointer, _ buffer: UnsafeMutableRawBufferPointer) {
        reader = FactsReader(bytes)
        self.buffer = buffer
    }

    /// Writes the key of encoded facts into `buffer` and returns its length. Returns nil if the facts aren't plain, are
    /// invalid, or have a key that doesn't fit. The content of `buffer` is then undefined.
    ///
    /// - Parameters:
    ///   - realm: the code of the customer's `Realm`, which is part of the key.
    ///   - class: returns a number for the date when the customer first got the app. Two dates may have the same number
    ///     only if no decision depends on their difference.
    package static func writeKey(
        of bytes: UnsafeRawBufferPointer, in realm: UInt8, to buffer: UnsafeMutableRawBufferPointer,
        class: (Date?) -> UInt64
    ) -> Int? {
        var facts = PlainFacts(bytes, buffer)
        facts.write(realm)
        let isPlain = (try? facts.writeKey(class: `class`)) ?? false
        return isPlain && !facts.isTooLarge ? facts.keySize : nil
    }

    /// Reads the lists in the order of `FactsFormat`, and writes the key. Returns false if the facts aren't plain;
    /// otherwise true.
    private mutating func writeKey(class: (Date?) -> UInt64) throws(FactsReader.Malformed) -> Bool {
        guard try reader.byte() == FactsFormat.version else { return false }
        write(UInt8(truncatingIfNeeded: try reader.number()))  // The flags of the facts.
        let proofCount = try reader.number()
        guard proofCount == 1, try writeProof(class: `class`), try writePurchases() else { return false }
        let (renewalCount, promiseCount) = (try reader.number(), try reader.number())
        guard renewalCount == 0, promiseCount <= Self.maximumListSize else { return false }
        for _ in 0..<promiseCount {
            guard try writePromise() else { return false }
        }
        let supportGrantCount = try reader.number()
        return supportGrantCount == 0 && reader.isAtEnd
    }

    /// The maximum number of purchases, and of promises. Facts with more aren't plain.
    private static let maximumListSize: UInt64 = 63

    /// The only fields that a plain proof may have.
    private static let plainProof: FactsFormat.Flags<FactsFormat.ProofField> = [
        .signedDate, .appTransactionID, .downloadID, .platform, .version, .purchaseDate,
    ]

    /// Writes the proof without its IDs and signing date, and with the number that `class` returns instead of the date.
    /// Returns false if the proof isn't plain; otherwise true.
    private mutating func writeProof(class: (Date?) -> UInt64) throws(FactsReader.Malformed) -> Bool {
        let flags = FactsFormat.Flags<FactsFormat.ProofField>(rawValue: try reader.number())
        guard flags.isSubset(of: Self.plainProof) else { return false }
        write(try reader.byte())  // The kind of proof.
        _ = try reader.date(if: flags.contains(.signedDate))
        // The key leaves out the IDs. A decision needs the IDs only to know which promises are for this customer, and
        // `writePromise` writes that for each promise.
        appTransactionID = try reader.utf8(if: flags.contains(.appTransactionID))
        downloadID = try reader.utf8(if: flags.contains(.downloadID))
        write(flags.contains(.platform) ? try reader.byte() : 0)
        if flags.contains(.version) {
            let version = try reader.utf8()
            guard version.count < 0xFF else { return false }
            write(version)
        } else {
            write(UInt8(0xFF))  // No version. A version is shorter than 255 bytes, so its length is never 0xFF.
        }
        purchaseDate = try reader.date(if: flags.contains(.purchaseDate))
        write(`class`(purchaseDate))
        return true
    }

    /// The only fields that a plain purchase may have.
    private static let plainPurchase: FactsFormat.Flags<FactsFormat.PurchaseField> = [
        .originalTransactionID, .type, .purchaseDate, .signedDate, .isFamilyShared,
    ]
    /// The number that encodes a non-consumable product.
    private static let nonConsumable = FactsFormat.productTypes.first { type, _ in type == .nonConsumable }?.1

    /// Writes the purchases without dates: a non-consumable purchase grants the same rights whenever it was made.
    /// Returns false if one of them isn't plain; otherwise true.
    private mutating func writePurchases() throws(FactsReader.Malformed) -> Bool {
        let count = try reader.number()
        guard count <= Self.maximumListSize else { return false }
        write(UInt8(count))
        for _ in 0..<count {
            let flags = FactsFormat.Flags<FactsFormat.PurchaseField>(rawValue: try reader.number())
            guard flags.isSubset(of: Self.plainPurchase), flags.contains(.type) else { return false }
            _ = try reader.utf8()  // The transaction ID.
            _ = try reader.utf8(if: flags.contains(.originalTransactionID))
            let product = try reader.utf8()
            let type = try reader.byte()
            guard product.count < 0xFF, type == Self.nonConsumable else { return false }
            _ = try reader.date(if: flags.contains(.purchaseDate))
            _ = try reader.date(if: flags.contains(.signedDate))
            write(product)
        }
        return true
    }

    /// Writes a promise, without its IDs and date of purchase, and whether it was made for the customer's only
    /// acquisition of the app. Returns false if the name of the promise's entitlement is too long for a key; otherwise
    /// true.
    private mutating func writePromise() throws(FactsReader.Malformed) -> Bool {
        let flags = FactsFormat.Flags<FactsFormat.PromiseField>(rawValue: try reader.number())
        let entitlement = try reader.utf8()
        guard entitlement.count < 0xFF else { return false }
        let appTransactionID = try reader.utf8(if: flags.contains(.appTransactionID))
        let downloadID = try reader.utf8(if: flags.contains(.downloadID))
        let purchaseDate = try reader.date(if: flags.contains(.purchaseDate))
        write(entitlement)
        write(try reader.number())  // The version of the policy.
        let until = try reader.date(if: flags.contains(.until))
        write(UInt8(until == nil ? 0 : 1))
        if let until { write(until.timeIntervalSinceReferenceDate.bitPattern) }
        write(UInt8(isPromised(to: appTransactionID, downloadID, at: purchaseDate) ? 1 : 0))
        _ = try reader.date()  // The time when the promise was recorded.
        return true
    }

    /// Whether a promise with these IDs and date was made for the customer's only acquisition of the app. The rule is
    /// that of `AcquisitionKey.matches`.
    private func isPromised(
        to appTransactionID: UnsafeRawBufferPointer?, _ downloadID: UnsafeRawBufferPointer?, at date: Date?
    ) -> Bool {
        var isSame = false
        if let appTransactionID, let mine = self.appTransactionID {
            guard appTransactionID.hasSameBytes(as: mine) else { return false }
            isSame = true
        }
        if let downloadID, let mine = self.downloadID {
            guard downloadID.hasSameBytes(as: mine) else { return false }
            isSame = true
        }
        if isSame { return true }
        guard let date, let purchaseDate else { return false }
        return abs(date.timeIntervalSince(purchaseDate)) <= Tolerance.seconds
    }

    // MARK: The key

    private mutating func write(_ byte: UInt8) {
        guard keySize < buffer.count else { return isTooLarge = true }
        buffer[keySize] = byte
        keySize += 1
    }

    private mutating func write(_ number: UInt64) {
        guard buffer.count - keySize >= 8 else { return isTooLarge = true }
        buffer.storeBytes(of: number, toByteOffset: keySize, as: UInt64.self)
        keySize += 8
    }

    /// Writes a string of less than 255 bytes, preceded by its length.
    private mutating func write(_ text: UnsafeRawBufferPointer) {
        guard buffer.count - keySize > text.count else { return isTooLarge = true }
        write(UInt8(truncatingIfNeeded: text.count))
        UnsafeMutableRawBufferPointer(rebasing: buffer[keySize..<keySize + text.count]).copyMemory(from: text)
        keySize += text.count
    }
}
