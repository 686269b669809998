import Crypto
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@testable import TenureServer

@Suite struct `the App Store key` {
    private func object(_ segment: Substring) throws -> JSONObject {
        let bytes = try #require(Base64.urlSafe.decode(Array(segment.utf8)[...]))
        guard case .object(let object) = try JSONValue(parsing: bytes) else {
            throw CocoaError(.coderInvalidValue)
        }
        return object
    }

    @Test func `the App Store key signs tokens in the format that Apple documents`() throws {
        let token = try AppStoreClientTestBed.credentials.token(issuedAt: Date(timeIntervalSince1970: 1_795_176_000.9))
        let parts = token.split(separator: ".")
        try #require(parts.count == 3)
        #expect(
            try object(parts[0])
                == JSONObject(members: [
                    .init(name: "alg", value: .string("ES256")),
                    .init(name: "kid", value: .string(AppStoreClientTestBed.keyID)),
                    .init(name: "typ", value: .string("JWT")),
                ]))
        #expect(
            try object(parts[1])
                == JSONObject(members: [
                    .init(name: "iss", value: .string(AppStoreClientTestBed.issuerID)),
                    .init(name: "iat", value: .number("1795176000")),
                    .init(name: "exp", value: .number("1795176300")),
                    .init(name: "aud", value: .string("appstoreconnect-v1")),
                    .init(name: "bid", value: .string("com.example.calculator")),
                ]))
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: #require(Base64.urlSafe.decode(Array(parts[2].utf8)[...])))
        #expect(
            AppStoreClientTestBed.key.publicKey.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test func `an App Store token is reused until shortly before it expires`() async throws {
        let tokens = AppStoreTokens(AppStoreClientTestBed.credentials)
        let first = try await tokens.token(at: Calculator.now)
        #expect(try await tokens.token(at: Calculator.now.addingTimeInterval(239)) == first)
        #expect(try await tokens.token(at: Calculator.now.addingTimeInterval(240)) != first)
    }

    @Test func `a new App Store token is signed after the clock was set back`() async throws {
        let tokens = AppStoreTokens(AppStoreClientTestBed.credentials)
        let first = try await tokens.token(at: Calculator.now)
        let second = try await tokens.token(at: Calculator.now.addingTimeInterval(-86_400))
        #expect(try object(second.split(separator: ".")[1])["iat"] == .number("1795089600"))
        #expect(first != second)
    }

    @Test func `discarding a refused App Store token doesn't discard its replacement`() async throws {
        let tokens = AppStoreTokens(AppStoreClientTestBed.credentials)
        let first = try await tokens.token(at: Calculator.now)
        await tokens.discard(first)
        let second = try await tokens.token(at: Calculator.now)
        #expect(first != second)
        await tokens.discard(first)
        #expect(try await tokens.token(at: Calculator.now) == second)
    }

    @Test func `descriptions and dumps of the App Store credentials don't contain the private key`() throws {
        let credentials = AppStoreClientTestBed.credentials
        var dumped = ""
        dump(credentials, to: &dumped)
        let shown = "\(credentials)" + String(reflecting: credentials) + dumped
        let base64 = AppStoreClientTestBed.key.rawRepresentation.base64EncodedString()
        let bytes = "\(Array(AppStoreClientTestBed.key.rawRepresentation))"
        #expect(!shown.contains(base64) && !shown.contains(bytes) && !shown.contains("PrivateKey"))
        #expect(shown.contains(AppStoreClientTestBed.keyID))
    }

    private func mistake(_ contents: String?, _ change: (URL) throws -> Void = { _ in }) async throws -> String {
        try await withFolder { folder in
            let file = URL(fileURLWithPath: folder).appendingPathComponent("key.p8")
            if let contents { try writeSecret(contents, to: file.path) }
            try change(file)
            let error = #expect(throws: ServiceError.self) { try AppStoreKeyFile(path: file.path).key() }
            guard case .keyFile(file.path, let detail)? = error else {
                Issue.record("\(String(describing: error))")
                return ""
            }
            return detail
        }
    }

    @Test func `the App Store key is read from App Store Connect's file, with LF or CRLF line endings`() async throws {
        try await withFolder { folder in
            let path = folder + "/key.p8"
            for end in ["\n", "\r\n"] {
                let pem = AppStoreClientTestBed.key.pemRepresentation.replacingOccurrences(of: "\n", with: end) + end
                try writeSecret(pem, to: path)
                let key = try AppStoreKeyFile(path: path).key()
                #expect(key.rawRepresentation == AppStoreClientTestBed.key.rawRepresentation)
            }
        }
    }

    @Test func `the error about an App Store key file says what is wrong with the file`() async throws {
        #expect(try await mistake(nil).contains("no such file"))
        #expect(try await mistake("").contains("no private key"))
        #expect(try await mistake(AppStoreClientTestBed.key.publicKey.pemRepresentation).contains("no private key"))
        let encrypted = AppStoreClientTestBed.key.pemRepresentation
            .replacingOccurrences(of: "PRIVATE KEY", with: "ENCRYPTED PRIVATE KEY")
        #expect(try await mistake(encrypted).contains("openssl pkcs8"))
        #expect(try await mistake(P384.Signing.PrivateKey().pemRepresentation).contains("P-384"))
        #expect(try await mistake(P521.Signing.PrivateKey().pemRepresentation).contains("P-521"))
        #expect(try await mistake(String(repeating: "k", count: 20_000)).contains("more than"))
        let cut = String(AppStoreClientTestBed.key.pemRepresentation.dropFirst(40))
        #expect(try await mistake("-----BEGIN PRIVATE KEY-----\n" + cut).contains("a damaged key"))
        let folder = try await mistake(nil) {
            try FileManager.default.createDirectory(at: $0, withIntermediateDirectories: false)
        }
        #expect(folder.contains("read"))
    }

    @Test func `an error about an App Store key file never quotes the key`() async throws {
        let pem = AppStoreClientTestBed.key.pemRepresentation
        let secret = pem.split(separator: "\n")[1]
        let detail = try await mistake(pem.replacingOccurrences(of: "MIG", with: "MIH"))
        #expect(!detail.contains(secret.dropFirst(3)))
    }

    @Test func `the settings of the App Store key are checked before its file is read`() {
        var settings = AppStoreSettings(issuerID: "i", keyID: "k", privateKeyFile: "/no/such/key.p8")
        #expect(settings.mistake == nil)
        settings.keyID = ""
        #expect(settings.mistake?.description.contains("`appStore.keyID`") == true)
        settings.issuerID = ""
        #expect(settings.mistake?.description.contains("`appStore.issuerID`") == true)
    }

    @Test(arguments: [
        "https://api.storekit.apple.com", "https://api.storekit.apple.com/", "http://127.0.0.1:8081/production",
        "http://localhost:8081", "http://[::1]:8081", "https://store.example.com:8443/sandbox",
    ])
    func `an App Store host with TLS, or on loopback, is accepted`(host: String) {
        var hosts = AppStoreHosts()
        hosts.production = host
        #expect(hosts.mistake == nil)
        hosts.sandbox = host
        #expect(hosts.url(of: .sandbox)?.hasSuffix("/") == false)
        #expect(hosts.url(of: .xcode) == nil)
    }

    @Test(arguments: [
        "", "api.storekit.apple.com", "http://store.example.com", "ftp://127.0.0.1", "https://name:word@example.com",
        "https://example.com?x=1", "https://example.com#x", "http://127.0.0.1.example.com", "https://",
    ])
    func `an App Store host without TLS, or with a password, query or fragment, is refused`(host: String) {
        var hosts = AppStoreHosts()
        hosts.sandbox = host
        #expect(hosts.mistake?.description.contains("sandbox") == true)
    }
}
