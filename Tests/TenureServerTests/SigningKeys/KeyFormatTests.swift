import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore
import Testing

@testable import TenureServer

/// The formats of keys and tokens that an update of the service must keep. Python computed the expected values, with
/// `hashlib` and `hmac`.
@Suite struct `the formats of keys and tokens` {
    @Test func `an access token is derived from the secret, the database's ID and the token's fields`() async throws {
        try await withFolder { folder in
            let path = folder + "/access-token.secret"
            try Data((0..<32).map { UInt8($0) }).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let key = try AccessTokenKey(folder: folder, databaseID: [1, 2, 3])
            #expect(key.fingerprint == "LeNsUmIG-Vn9MOfA1gSkjA")
            func token(persona: Int64?) -> AccessToken {
                AccessToken(
                    customer: 0x0102_0304_0506_0708, realm: Realm(.sandbox),
                    expiresAt: Date(timeIntervalSince1970: 1_800_000_000), persona: persona)
            }
            let texts = [
                (token(persona: nil), "AQEBAgMEBQYHCAAAAABrSdIADZc3A6re2UpHeF4MgpAs3bDSbJr0H7bByb4W2SS9PuE"),
                (
                    token(persona: 9),
                    "AgEBAgMEBQYHCAAAAABrSdIAAAAAAAAAAAlAr8kS4dQq74oXZQMVhbew88ovgNDIacYySvTCFWfgPg"
                ),
            ]
            for (token, text) in texts {
                #expect(key.text(of: token) == text)
                #expect(key.token(in: text.utf8) == token)
            }
            // The fingerprint identifies the secret, not the database.
            let other = try AccessTokenKey(folder: folder, databaseID: [1, 2, 4])
            #expect(other.fingerprint == key.fingerprint && other.token(in: texts[0].1.utf8) == nil)
            for count in [0, 31, 33] {
                try Data(repeating: 1, count: count).write(to: URL(fileURLWithPath: path))
                let damaged = ServiceError.keyFile(
                    path: path,
                    detail: """
                        the file doesn't have 32 bytes; restore it from your backup, or remove it, and run `tenure \
                        database accept-keys` (devices sync again)
                        """)
                #expect(throws: damaged) { try AccessTokenKey(folder: folder, databaseID: [1]) }
            }
        }
    }

    @Test func `an admin key has a prefix, 256 bits and a checksum, and its hash is the SHA-256 of the text`() throws {
        let key = try #require(KeySecret("tenure_key_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh-G9kPJ"))
        #expect(key.hash.hexadecimal == "6373cfb1f726c88f68d0f1b20e559e88d75ff89e9a7c151527097d9bf69f5363")
        let admin = try #require(AdminKey(key.text))
        #expect(admin.matches(key) && !admin.matches(KeySecret()))
    }

    @Test func `the file of signing keys and the file of an offline root have these fields`() throws {
        var file = SigningKeyFile(at: Calculator.now)
        try file.rotate(at: Calculator.now + 1)
        _ = try file.prepareNextKey(at: Calculator.now + 2)
        file.keys[0].revokedAt = 3
        file.root = file.keys[0].key
        file.rootStatement = "statement"
        file.revocations = "list"
        file.tokenLife = 4
        let bytes = try file.bytes
        #expect(bytes.last == UInt8(ascii: "\n"))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(
            json.keys.sorted() == [
                "chain", "keys", "next", "privateKey", "revocations", "root", "rootStatement", "tokenLife",
            ])
        let keys = try #require(json["keys"] as? [[String: Any]])
        #expect(
            keys.map { $0.keys.sorted() } == [["createdAt", "key", "retiredAt", "revokedAt"], ["createdAt", "key"]])
        #expect(keys.map { $0["createdAt"] as? Int } == [1_795_176_000, 1_795_176_001])
        #expect(keys[0]["retiredAt"] as? Int == 1_795_176_001 && keys[0]["revokedAt"] as? Int == 3)
        let next = try #require(json["next"] as? [String: Any])
        #expect(next.keys.sorted() == ["createdAt", "privateKey"] && next["createdAt"] as? Int == 1_795_176_002)
        #expect((json["privateKey"] as? String)?.hasPrefix("-----BEGIN PRIVATE KEY-----\n") == true)
        #expect(try SigningKeyFile(bytes) == file)

        let root = OfflineRoot.Contents(privateKey: file.privateKey, counter: 5, revoked: ["a"])
        let written = try JSONSerialization.jsonObject(with: Data(try JSONEncoder.keyFile(of: root))) as? [String: Any]
        #expect(written?.keys.sorted() == ["counter", "privateKey", "revoked"])
        #expect(written?["counter"] as? Int == 5 && written?["revoked"] as? [String] == ["a"])
    }

    @Test func `the statements of an offline root have the key, the period and the time of signing in seconds`()
        async throws
    {
        try await withFolder { folder in
            let root = OfflineRoot(path: folder + "/root.json")
            let publicRoot = try JSONDecoder().decode(JSONWebKey.self, from: Data(try root.create().utf8))
            let key = SigningKeyFile(at: Calculator.now).keys[0].key
            let end = Calculator.now + 100.9
            let statement = try OpenedJWS(try root.sign(key.text, until: end, at: Calculator.now + 1))
            #expect(statement.header["typ"] as? String == "tenure-root+jwt")
            #expect(statement.header["kid"] as? String == publicRoot.id)
            #expect(Set(statement.claims.keys) == ["iat", "key", "signUntil"])
            #expect(statement.claims["iat"] as? Int == 1_795_176_001)
            #expect(statement.claims["signUntil"] as? Int == 1_795_176_100)
            let signed = try JSONSerialization.data(withJSONObject: statement.claims["key"] as? [String: String] ?? [:])
            #expect(try JSONDecoder().decode(JSONWebKey.self, from: signed) == key)
            let list = try OpenedJWS(try root.revoke(["b", "a", "b"], at: Calculator.now + 2))
            #expect(list.header["typ"] as? String == "tenure-revocations+jwt")
            #expect(Set(list.claims.keys) == ["counter", "iat", "revoked"])
            #expect(list.claims["counter"] as? Int == 1 && list.claims["iat"] as? Int == 1_795_176_002)
            #expect(list.claims["revoked"] as? [String] == ["b", "a"])
        }
    }
}
