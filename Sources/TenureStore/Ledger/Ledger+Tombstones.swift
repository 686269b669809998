import Crypto
import Foundation
import TenureCore
import TenureJSON

extension Ledger {
    /// Remembers that whoever these name was erased, without saying whom.
    func bury(_ identities: [Identity], in realm: Realm) throws(StoreError) {
        for identity in identities where identity.kind.isAppStores {
            try session.execute(
                """
                INSERT INTO erasures (digest, erased_at) VALUES ($1, $2)
                ON CONFLICT (digest) DO UPDATE SET erased_at = excluded.erased_at
                """, [.text(digest(of: identity, in: realm, salt: try newSalt())), milliseconds])
        }
    }

    /// Whether these name somebody who was erased, and nobody who is there: who uses the app again is somebody, whatever
    /// was erased before.
    func areErased(
        _ identities: [Identity], in realm: Realm, forUpdate isForUpdate: Bool = true
    ) throws(StoreError) -> Bool {
        guard let salt = try mark(Self.salt) else { return false }
        // Nobody erases them before this transaction is over. Without what is known of them, which may be much.
        for identity in identities {
            if let number = try member(by: identity, in: realm),
                try member(.number(number), forUpdate: isForUpdate) != nil
            {
                return false
            }
        }
        for identity in identities where identity.kind.isAppStores {
            let row = try session.row(
                "SELECT 1 FROM erasures WHERE digest = $1", [.text(digest(of: identity, in: realm, salt: salt))])
            if row != nil { return true }
        }
        return false
    }

    private static let salt = "salt of erasures"

    /// Made with the first erasure, and the record's for good.
    private func newSalt() throws(StoreError) -> String {
        if let salt = try mark(Self.salt) { return salt }
        let salt = (0..<32).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
        try setMark(Self.salt, to: salt)
        return salt
    }

    private func digest(of identity: Identity, in realm: Realm, salt: String) -> String {
        SHA256.hash(data: Array("\(salt) \(identity.key(in: realm))".utf8)).hexadecimal
    }
}
