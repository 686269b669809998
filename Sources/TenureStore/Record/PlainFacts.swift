package import Foundation
import TenureCore

/// Facts of the kind that nearly every customer has: one proof, non-consumable purchases, promises.
///
/// Two of them that differ only in ids, and in dates between which no policy tells a difference, decide alike. `key`
/// says by which bytes they are the same; whoever goes through millions of customers decides each key once.
package struct PlainFacts {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var account: Slice<UnsafeRawBufferPointer>?
    private var download: Slice<UnsafeRawBufferPointer>?
    /// When the app was got.
    private var purchaseDate: Date?

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Appends the key to `key`; false where the facts are not plain: then `key` holds nothing that means anything.
    ///
    /// `class`: a number for the date of purchase, equal for two dates only where nothing that is asked tells them apart.
    package static func appendKey(
        of bytes: UnsafeRawBufferPointer, to key: inout [UInt8], class: (Date?) -> UInt64
    ) -> Bool {
        var facts = PlainFacts(bytes)
        return facts.appendKey(to: &key, class: `class`)
    }

    private mutating func appendKey(to key: inout [UInt8], class: (Date?) -> UInt64) -> Bool {
        guard byte() == FactsFormat.version, let flags = number(), number() == 1 else { return false }
        key.append(UInt8(truncatingIfNeeded: flags))
        guard appendProof(to: &key, class: `class`), appendPurchases(to: &key), number() == 0 else { return false }
        guard let promises = number(), promises < 64 else { return false }
        for _ in 0..<promises {
            guard appendPromise(to: &key) else { return false }
        }
        return number() == 0 && position == bytes.count
    }

    private static let plainProof: FactsFormat.ProofFlags = [
        .signedDate, .appTransactionID, .downloadID, .platform, .version, .purchaseDate,
    ]

    private mutating func appendProof(to key: inout [UInt8], class: (Date?) -> UInt64) -> Bool {
        guard let raw = number() else { return false }
        let flags = FactsFormat.ProofFlags(rawValue: raw)
        guard flags.isSubset(of: Self.plainProof), let kind = byte() else { return false }
        if flags.contains(.signedDate) { guard date() != nil else { return false } }
        if flags.contains(.appTransactionID) {
            account = text()
            guard account != nil else { return false }
        }
        if flags.contains(.downloadID) {
            download = text()
            guard download != nil else { return false }
        }
        // Whether there is an id, and none of them, decides nothing but to which promise it belongs.
        key.append(kind)
        key.append(flags.contains(.platform) ? byte() ?? 0xFF : 0)
        if flags.contains(.version) {
            guard let version = text(), version.count < 0xFF else { return false }
            key.append(UInt8(version.count))
            key.append(contentsOf: version)
        } else {
            key.append(0xFF)
        }
        if flags.contains(.purchaseDate) {
            purchaseDate = date()
            guard purchaseDate != nil else { return false }
        }
        append(`class`(purchaseDate), to: &key)
        return true
    }

    private static let plainPurchase: FactsFormat.PurchaseFlags = [
        .originalTransactionID, .type, .purchaseDate, .signedDate, .isFamilyShared,
    ]
    private static let nonConsumable = FactsFormat.productTypes.first { $0.0 == .nonConsumable }?.1

    /// What is bought for good gives the same whenever it was bought.
    private mutating func appendPurchases(to key: inout [UInt8]) -> Bool {
        guard let count = number(), count < 64 else { return false }
        key.append(UInt8(count))
        for _ in 0..<count {
            guard let raw = number() else { return false }
            let flags = FactsFormat.PurchaseFlags(rawValue: raw)
            guard flags.isSubset(of: Self.plainPurchase), flags.contains(.type), text() != nil else { return false }
            if flags.contains(.originalTransactionID) { guard text() != nil else { return false } }
            guard let product = text(), product.count < 0xFF, byte() == Self.nonConsumable else { return false }
            if flags.contains(.purchaseDate) { guard date() != nil else { return false } }
            if flags.contains(.signedDate) { guard date() != nil else { return false } }
            key.append(UInt8(product.count))
            key.append(contentsOf: product)
        }
        return true
    }

    private mutating func appendPromise(to key: inout [UInt8]) -> Bool {
        guard let raw = number(), let entitlement = text(), entitlement.count < 0xFF else { return false }
        let flags = FactsFormat.PromiseFlags(rawValue: raw)
        var account: Slice<UnsafeRawBufferPointer>?
        var download: Slice<UnsafeRawBufferPointer>?
        var purchaseDate: Date?
        if flags.contains(.appTransactionID) {
            account = text()
            guard account != nil else { return false }
        }
        if flags.contains(.downloadID) {
            download = text()
            guard download != nil else { return false }
        }
        if flags.contains(.purchaseDate) {
            purchaseDate = date()
            guard purchaseDate != nil else { return false }
        }
        key.append(UInt8(entitlement.count))
        key.append(contentsOf: entitlement)
        guard let version = number() else { return false }
        append(version, to: &key)
        if flags.contains(.until) {
            guard let until = date() else { return false }
            key.append(1)
            append(until.timeIntervalSinceReferenceDate.bitPattern, to: &key)
        } else {
            key.append(0)
        }
        key.append(isPromised(to: account, download, at: purchaseDate) ? 1 : 0)
        return date() != nil
    }

    /// `AcquisitionKey.matches`, of the customer's one acquisition.
    private func isPromised(
        to account: Slice<UnsafeRawBufferPointer>?, _ download: Slice<UnsafeRawBufferPointer>?, at date: Date?
    ) -> Bool {
        var isSame = false
        if let account, let mine = self.account {
            guard account.elementsEqual(mine) else { return false }
            isSame = true
        }
        if let download, let mine = self.download {
            guard download.elementsEqual(mine) else { return false }
            isSame = true
        }
        if isSame { return true }
        guard let date, let purchaseDate else { return false }
        return abs(date.timeIntervalSince(purchaseDate)) <= Slack.seconds
    }

    // MARK: Parts

    private func append(_ number: UInt64, to key: inout [UInt8]) {
        withUnsafeBytes(of: number) { key.append(contentsOf: $0) }
    }

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

    private mutating func text() -> Slice<UnsafeRawBufferPointer>? {
        guard let count = number(), count <= UInt64(bytes.count - position) else { return nil }
        defer { position += Int(count) }
        return bytes[position..<position + Int(count)]
    }

    private mutating func date() -> Date? {
        guard bytes.count - position >= 8 else { return nil }
        defer { position += 8 }
        let bits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        let seconds = Double(bitPattern: bits)
        return seconds.isFinite ? Date(timeIntervalSinceReferenceDate: seconds) : nil
    }
}
