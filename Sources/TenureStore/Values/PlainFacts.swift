package import Foundation
import TenureCore

/// A reader of plain facts, which nearly every customer has: one proof, non-consumable purchases, and promises.
///
/// Plain facts that differ only in IDs and in dates that don't matter to the policy lead to the same decisions. They
/// get equal keys, so a rehearsal over millions of customers decides once for each key.
package struct PlainFacts {
    /// The encoded facts.
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    /// The memory for the key.
    private let buffer: UnsafeMutableRawBufferPointer
    /// The number of bytes of the key so far.
    private var keySize = 0
    private var isTooLarge = false
    private var appTransactionID: UnsafeRawBufferPointer?
    /// The ID that a receipt gives to the download of the app.
    private var downloadID: UnsafeRawBufferPointer?
    /// The date of the app's acquisition.
    private var purchaseDate: Date?

    private init(_ bytes: UnsafeRawBufferPointer, _ buffer: UnsafeMutableRawBufferPointer) {
        self.bytes = bytes
        self.buffer = buffer
    }

    /// Writes the key into `buffer` and returns its length. Returns nil if the facts aren't plain or the key doesn't
    /// fit; the content of `buffer` is then undefined.
    ///
    /// - Parameters:
    ///   - realm: the customer's realm, which is part of the key.
    ///   - class: returns a number for the date of purchase. Two dates may have the same number only if no decision
    ///     depends on their difference.
    package static func writeKey(
        of bytes: UnsafeRawBufferPointer, in realm: UInt8, to buffer: UnsafeMutableRawBufferPointer,
        class: (Date?) -> UInt64
    ) -> Int? {
        var facts = PlainFacts(bytes, buffer)
        facts.write(realm)
        return facts.writeKey(class: `class`) && !facts.isTooLarge ? facts.keySize : nil
    }

    /// Reads the lists in the order of `FactsFormat`. Returns false if the facts aren't plain.
    private mutating func writeKey(class: (Date?) -> UInt64) -> Bool {
        guard byte() == FactsFormat.version, let flags = number() else { return false }
        let proofCount = number()
        guard proofCount == 1 else { return false }
        write(UInt8(truncatingIfNeeded: flags))
        guard writeProof(class: `class`), writePurchases() else { return false }
        let renewalCount = number()
        guard renewalCount == 0 else { return false }
        guard let promises = number(), promises < 64 else { return false }
        for _ in 0..<promises {
            guard writePromise() else { return false }
        }
        let supportGrantCount = number()
        return supportGrantCount == 0 && position == bytes.count
    }

    /// The only fields that a plain proof may have.
    private static let plainProof: FactsFormat.ProofFlags = [
        .signedDate, .appTransactionID, .downloadID, .platform, .version, .purchaseDate,
    ]

    /// Writes the proof without its IDs and signing date, and with the class of its date of purchase instead of the
    /// date.
    private mutating func writeProof(class: (Date?) -> UInt64) -> Bool {
        guard let raw = number() else { return false }
        let flags = FactsFormat.ProofFlags(rawValue: raw)
        guard flags.isSubset(of: Self.plainProof), let kind = byte() else { return false }
        if flags.contains(.signedDate) { guard date() != nil else { return false } }
        if flags.contains(.appTransactionID) {
            appTransactionID = text()
            guard appTransactionID != nil else { return false }
        }
        if flags.contains(.downloadID) {
            downloadID = text()
            guard downloadID != nil else { return false }
        }
        // The IDs are left out. They only decide which promises apply, and `writePromise` writes whether each one does.
        write(kind)
        write(flags.contains(.platform) ? byte() ?? 0xFF : 0)
        if flags.contains(.version) {
            guard let version = text(), version.count < 0xFF else { return false }
            write(version)
        } else {
            write(UInt8(0xFF))
        }
        if flags.contains(.purchaseDate) {
            purchaseDate = date()
            guard purchaseDate != nil else { return false }
        }
        write(`class`(purchaseDate))
        return true
    }

    /// The only fields that a plain purchase may have.
    private static let plainPurchase: FactsFormat.PurchaseFlags = [
        .originalTransactionID, .type, .purchaseDate, .signedDate, .isFamilyShared,
    ]
    private static let nonConsumable = FactsFormat.productTypes.first { $0.0 == .nonConsumable }?.1

    /// Writes the purchases without dates: a non-consumable purchase grants the same rights whenever it was made.
    private mutating func writePurchases() -> Bool {
        guard let count = number(), count < 64 else { return false }
        write(UInt8(count))
        for _ in 0..<count {
            guard let raw = number() else { return false }
            let flags = FactsFormat.PurchaseFlags(rawValue: raw)
            guard flags.isSubset(of: Self.plainPurchase), flags.contains(.type), text() != nil else { return false }
            if flags.contains(.originalTransactionID) { guard text() != nil else { return false } }
            guard let product = text(), product.count < 0xFF, byte() == Self.nonConsumable else { return false }
            if flags.contains(.purchaseDate) { guard date() != nil else { return false } }
            if flags.contains(.signedDate) { guard date() != nil else { return false } }
            write(product)
        }
        return true
    }

    /// Writes a promise, and whether it is for the customer's acquisition. The promise's IDs and date of purchase are
    /// left out.
    private mutating func writePromise() -> Bool {
        guard let raw = number(), let entitlement = text(), entitlement.count < 0xFF else { return false }
        let flags = FactsFormat.PromiseFlags(rawValue: raw)
        var appTransactionID: UnsafeRawBufferPointer?
        var downloadID: UnsafeRawBufferPointer?
        var purchaseDate: Date?
        if flags.contains(.appTransactionID) {
            appTransactionID = text()
            guard appTransactionID != nil else { return false }
        }
        if flags.contains(.downloadID) {
            downloadID = text()
            guard downloadID != nil else { return false }
        }
        if flags.contains(.purchaseDate) {
            purchaseDate = date()
            guard purchaseDate != nil else { return false }
        }
        write(entitlement)
        guard let version = number() else { return false }
        write(version)
        if flags.contains(.until) {
            guard let until = date() else { return false }
            write(UInt8(1))
            write(until.timeIntervalSinceReferenceDate.bitPattern)
        } else {
            write(UInt8(0))
        }
        write(UInt8(isPromised(to: appTransactionID, downloadID, at: purchaseDate) ? 1 : 0))
        return date() != nil
    }

    /// The same as `AcquisitionKey.matches`, for the customer's only acquisition.
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

    /// Writes a text of less than 255 bytes, preceded by its length.
    private mutating func write(_ text: UnsafeRawBufferPointer) {
        guard buffer.count - keySize > text.count else { return isTooLarge = true }
        write(UInt8(truncatingIfNeeded: text.count))
        UnsafeMutableRawBufferPointer(rebasing: buffer[keySize..<keySize + text.count]).copyMemory(from: text)
        keySize += text.count
    }

    // MARK: Parts

    private mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func number() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = byte(), shift < 63 {
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
        return nil
    }

    private mutating func text() -> UnsafeRawBufferPointer? {
        guard let count = number(), count <= UInt64(bytes.count - position) else { return nil }
        defer { position += Int(count) }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + Int(count)])
    }

    private mutating func date() -> Date? {
        guard bytes.count - position >= 8 else { return nil }
        defer { position += 8 }
        let bits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        let seconds = Double(bitPattern: bits)
        return seconds.isFinite ? Date(timeIntervalSinceReferenceDate: seconds) : nil
    }
}
