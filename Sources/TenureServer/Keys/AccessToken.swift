import Foundation
import TenureAppStore
import TenureStore

/// What an access token says: whose record it opens, and until when.
///
/// 50 bytes in Base64: a version, the realm, the customer's number, the second of its end, and a MAC over all of it.
struct AccessToken: Sendable, Hashable {
    let customer: Int64
    let realm: Realm
    let expiresAt: Date

    static let version: UInt8 = 1
    static let bodySize = 18
    static let size = bodySize + 32

    var body: [UInt8] {
        var bytes: [UInt8] = [Self.version, realm.code]
        bytes.reserveCapacity(Self.size)
        withUnsafeBytes(of: customer.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: Int64(expiresAt.timeIntervalSince1970).bigEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// `bytes` holds `size` bytes whose MAC was checked.
    init?(body bytes: some Collection<UInt8>) {
        var rest = bytes.makeIterator()
        guard rest.next() == Self.version, let code = rest.next(), let realm = Realm(code: code) else { return nil }
        func number() -> Int64? {
            var value: UInt64 = 0
            for _ in 0..<8 {
                guard let byte = rest.next() else { return nil }
                value = value << 8 | UInt64(byte)
            }
            return Int64(bitPattern: value)
        }
        guard let customer = number(), let end = number() else { return nil }
        self.init(customer: customer, realm: realm, expiresAt: Date(timeIntervalSince1970: TimeInterval(end)))
    }

    init(customer: Int64, realm: Realm, expiresAt: Date) {
        self.customer = customer
        self.realm = realm
        // Whole seconds, so that what is said of its end is what it says.
        self.expiresAt = Date(timeIntervalSince1970: expiresAt.timeIntervalSince1970.rounded(.down))
    }
}
