import Foundation
import TenureCore

/// Reads `CustomerFacts` from `FactsFormat`. Truncated, unknown or remaining bytes are an error, never a crash.
struct FactsReader {
    /// An error at the first invalid byte.
    struct Malformed: Error { let offset: Int }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// - Parameter bytes: the encoded facts, which must stay valid as long as the reader.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Reads all facts. Throws if bytes are left at the end.
    mutating func facts() throws(Malformed) -> CustomerFacts {
        guard try byte() == FactsFormat.version else { throw malformed }
        let flags = FactsFormat.Flags<FactsFormat.FactsField>(rawValue: try number())
        var facts = CustomerFacts()
        facts.purchasesAreComplete = flags.contains(.purchasesAreComplete)
        facts.isUnbound = flags.contains(.isUnbound)
        facts.proofs = try list { (reader) throws(Malformed) in try reader.proof() }
        facts.purchases = try list { (reader) throws(Malformed) in try reader.purchase() }
        facts.renewals = try list { (reader) throws(Malformed) in try reader.renewal() }
        facts.promises = try list { (reader) throws(Malformed) in try reader.promise() }
        facts.support = try list { (reader) throws(Malformed) in try reader.supportGrant() }
        guard isAtEnd else { throw malformed }
        return facts
    }

    /// Reads the length of a list, and its entries with the function `entry`.
    private mutating func list<Entry>(_ entry: (inout Self) throws(Malformed) -> Entry) throws(Malformed) -> [Entry] {
        let count = try number()
        // Every entry takes at least a byte. So a wrong length can't reserve much memory.
        guard count <= UInt64(bytes.count - position) else { throw malformed }
        var entries: [Entry] = []
        entries.reserveCapacity(min(Int(count), 64))
        for _ in 0..<count { entries.append(try entry(&self)) }
        return entries
    }

    private mutating func proof() throws(Malformed) -> AppProof {
        let flags = FactsFormat.Flags<FactsFormat.ProofField>(rawValue: try number())
        let kind = try code(in: FactsFormat.proofKinds)
        let signedDate = try date(if: flags.contains(.signedDate))
        var id: AcquisitionID?
        if flags.contains(.appTransactionID) { id = .appTransaction(try text()) }
        if flags.contains(.downloadID) { id = .download(try text()) }
        return AppProof(
            kind: kind, signedDate: signedDate, id: id,
            originalPlatform: flags.contains(.platform) ? try code(in: FactsFormat.platforms) : nil,
            originalAppVersion: flags.contains(.version) ? try text() : nil,
            originalPurchaseDate: try date(if: flags.contains(.purchaseDate)),
            preorderDate: try date(if: flags.contains(.preorderDate)),
            revocationDate: try date(if: flags.contains(.revocationDate)),
            expirationDate: try date(if: flags.contains(.expirationDate)))
    }

    private mutating func purchase() throws(Malformed) -> Purchase {
        let flags = FactsFormat.Flags<FactsFormat.PurchaseField>(rawValue: try number())
        return Purchase(
            transactionID: try text(), originalTransactionID: flags.contains(.originalTransactionID) ? try text() : nil,
            productID: try text(), type: flags.contains(.type) ? try productType() : nil,
            purchaseDate: try date(if: flags.contains(.purchaseDate)),
            expiresDate: try date(if: flags.contains(.expiresDate)),
            revocationDate: try date(if: flags.contains(.revocationDate)), isUpgraded: flags.contains(.isUpgraded),
            isFamilyShared: flags.contains(.isFamilyShared), signedDate: try date(if: flags.contains(.signedDate)))
    }

    private mutating func productType() throws(Malformed) -> Purchase.ProductType {
        if position < bytes.count, bytes[position] == FactsFormat.unknownProductType {
            position += 1
            return .unknown(try text())
        }
        return try code(in: FactsFormat.productTypes)
    }

    private mutating func renewal() throws(Malformed) -> Renewal {
        let flags = FactsFormat.Flags<FactsFormat.RenewalField>(rawValue: try number())
        return Renewal(
            originalTransactionID: try text(), productID: flags.contains(.productID) ? try text() : nil,
            gracePeriodExpiresDate: try date(if: flags.contains(.gracePeriodExpiresDate)),
            isInBillingRetryPeriod: flags.contains(.isInBillingRetryPeriod),
            signedDate: try date(if: flags.contains(.signedDate)))
    }

    private mutating func promise() throws(Malformed) -> StoredPromise {
        let flags = FactsFormat.Flags<FactsFormat.PromiseField>(rawValue: try number())
        return StoredPromise(
            entitlement: try text(),
            acquisition: AcquisitionKey(
                appTransactionID: flags.contains(.appTransactionID) ? try text() : nil,
                downloadID: flags.contains(.downloadID) ? try text() : nil,
                originalPurchaseDate: try date(if: flags.contains(.purchaseDate))),
            policyVersion: Int64(bitPattern: try number()), until: try date(if: flags.contains(.until)),
            recordedAt: try date())
    }

    private mutating func supportGrant() throws(Malformed) -> SupportGrant {
        let flags = FactsFormat.Flags<FactsFormat.SupportField>(rawValue: try number())
        return SupportGrant(
            flags.contains(.isRevocation) ? .revocation : .grant,
            of: try text(), date: try date(), until: try date(if: flags.contains(.until)))
    }

    // MARK: Parts

    private var malformed: Malformed { Malformed(offset: position) }

    /// Whether all bytes were read.
    var isAtEnd: Bool { position == bytes.count }

    mutating func byte() throws(Malformed) -> UInt8 {
        guard position < bytes.count else { throw malformed }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads a number in base 128, the lowest digit first.
    mutating func number() throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            // The tenth byte holds the last bit of 64.
            guard shift < 63 || byte <= 1 else { throw malformed }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
    }

    private mutating func text() throws(Malformed) -> String { String(decoding: try utf8(), as: UTF8.self) }

    /// Reads a string without copying it. The result is valid as long as the encoded facts.
    mutating func utf8() throws(Malformed) -> UnsafeRawBufferPointer {
        let count = try number()
        guard count <= UInt64(bytes.count - position) else { throw malformed }
        let end = position + Int(count)
        defer { position = end }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<end])
    }

    /// Reads a string if its flag is set.
    mutating func utf8(if isPresent: Bool) throws(Malformed) -> UnsafeRawBufferPointer? { isPresent ? try utf8() : nil }

    mutating func date() throws(Malformed) -> Date {
        guard bytes.count - position >= 8 else { throw malformed }
        let bits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        let seconds = Double(bitPattern: bits)
        guard seconds.isFinite else { throw malformed }
        position += 8
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// Reads a date if its flag is set.
    mutating func date(if isPresent: Bool) throws(Malformed) -> Date? { isPresent ? try date() : nil }

    /// Reads a byte, and returns the value that has this number in the table.
    private mutating func code<Value>(in table: [(Value, UInt8)]) throws(Malformed) -> Value {
        let code = try byte()
        for (value, known) in table where known == code { return value }
        throw malformed
    }
}

extension CustomerFacts {
    /// Decodes facts as the database stores them. Throws `StoreError.damaged` if the bytes are invalid.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(StoreError) {
        var reader = FactsReader(bytes)
        do {
            self = try reader.facts()
            if entryCount > DatabaseTransaction.maximumEntriesInOnePiece { Self.entryCounter?(entryCount) }
        } catch {
            throw StoreError.damaged("the stored facts of a customer are invalid at byte \(error.offset)")
        }
    }

    package init(decoding bytes: [UInt8]) throws(StoreError) {
        self = try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
            try CustomerFacts(decoding: UnsafeRawBufferPointer(bytes))
        }
    }
}
