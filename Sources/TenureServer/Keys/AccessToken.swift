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

    /// From bytes that begin with a body whose MAC was checked.
    init?(body bytes: [UInt8]) {
        guard bytes.count >= Self.bodySize, bytes[0] == Self.version, let realm = Realm(code: bytes[1]) else {
            return nil
        }
        func number(at offset: Int) -> Int64 {
            Int64(bitPattern: bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) })
        }
        self.init(
            customer: number(at: 2), realm: realm,
            expiresAt: Date(timeIntervalSince1970: TimeInterval(number(at: 10))))
    }

    init(customer: Int64, realm: Realm, expiresAt: Date) {
        self.customer = customer
        self.realm = realm
        // Whole seconds, so that what is said of its end is what it says.
        self.expiresAt = Date(timeIntervalSince1970: expiresAt.timeIntervalSince1970.rounded(.down))
    }
}
