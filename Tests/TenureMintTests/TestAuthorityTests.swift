import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import TenureMint

@Suite struct TestAuthorityTests {
    private static let instant = Date(timeIntervalSince1970: 1_795_176_000)

    /// A test authority for all tests here, because creating RSA keys takes time.
    private static let authority: TestAuthority = {
        do {
            return try TestAuthority()
        } catch {
            fatalError("no test authority can be made: \(error)")
        }
    }()

    @Test func `every role in every test authority has its own key`() throws {
        let authorities = [Self.authority, try TestAuthority()]
        let keys = authorities.flatMap { authority in
            [
                authority.jws.root, authority.jws.intermediate, authority.jws.leaf, authority.xcodeJWS,
                authority.receipts.root, authority.receipts.intermediate, authority.receipts.leaf,
                authority.xcodeReceipts,
            ]
            .map(\.key.pem)
        }
        #expect(Set(keys).count == 16)
    }

    // RFC 5280, sections 4.2.1.1 and 4.2.1.2: an extension with the SHA-1 hash of the issuer's key, and an extension
    // with that of the certificate's own key. Both prefixes are the extension's ID and the tags before the hash.
    @Test func `each certificate of a test authority identifies the key of its issuer`() throws {
        let ownKey: [UInt8] = [0x06, 0x03, 0x55, 0x1D, 0x0E, 0x04, 0x16, 0x04, 0x14]
        let issuerKey: [UInt8] = [0x06, 0x03, 0x55, 0x1D, 0x23, 0x04, 0x18, 0x30, 0x16, 0x80, 0x14]
        for chain in [Self.authority.jws, Self.authority.receipts] {
            let certificates = chain.certificates
            for (certificate, issuer) in zip(certificates, certificates.dropFirst()) {
                let start = try #require(issuer.firstRange(of: ownKey)?.upperBound)
                let expected = issuerKey + Array(issuer[start..<start + 20])
                #expect(certificate.firstRange(of: expected) != nil)
            }
        }
    }

    @Test func `threads that create a test authority in one folder at the same time get the same authority`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let directory = folder.appendingPathComponent("authority")
        let roots = try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
            for _ in 0..<3 {
                group.addTask { try TestAuthority(readOrCreatedIn: directory).jws.certificates }
            }
            return try await group.reduce(into: Set<[[UInt8]]>()) { $0.insert($1) }
        }
        #expect(roots.count == 1)
        #expect(try roots == [TestAuthority(readOrCreatedIn: directory).jws.certificates])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["authority"])
    }

    @Test func `a saved test authority is read with its original keys, and only their owner can read the key files`()
        throws
    {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("authority-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let authority = Self.authority
        try authority.save(to: directory)
        let again = try TestAuthority(readFrom: directory)
        #expect(again.jws.certificates == authority.jws.certificates)
        #expect(again.receipts.certificates == authority.receipts.certificates)
        #expect(again.receipts.leaf.key.pem == authority.receipts.leaf.key.pem)

        let roots = try TrustAnchors([UInt8](Data(contentsOf: directory.appendingPathComponent("roots.pem"))))
        let verifier = AppStoreVerifier(
            app: AppIdentity(), trust: try TrustConfiguration(anchors: [.production: roots]))
        let jws = try JWSMinter(authority: again, signedAt: Self.instant).mint(.transaction)
        #expect(throws: Never.self) { try verifier.verifyTransaction(jws, now: nil) }

        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(files.filter { $0.hasSuffix(".key.pem") }.count == 8)
        for file in files where file.hasSuffix(".key.pem") {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: directory.appendingPathComponent(file).path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `reading a test authority from a missing folder is an error with the folder's path`() {
        let directory = URL(fileURLWithPath: "/nonexistent/authority")
        #expect { try TestAuthority(readFrom: directory) } throws: { "\($0)".contains("/nonexistent/authority") }
    }

    @Test func `a test authority with a key that doesn't belong to its certificate is rejected`() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("authority-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try Self.authority.save(to: directory)
        let key = directory.appendingPathComponent("jws-leaf.key.pem")
        try FileManager.default.removeItem(at: key)
        try FileManager.default.copyItem(at: directory.appendingPathComponent("xcode-jws.key.pem"), to: key)
        #expect(throws: MintingError.self) { try TestAuthority(readFrom: directory) }
    }

    @Test func `saving a test authority over other files leaves no key that others can read`() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("authority-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let key = directory.appendingPathComponent("jws-root.key.pem")
        try #require(
            FileManager.default.createFile(
                atPath: key.path, contents: Data("old".utf8), attributes: [.posixPermissions: 0o644]))
        try Self.authority.save(to: directory)
        let attributes = try FileManager.default.attributesOfItem(atPath: key.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try String(contentsOf: key, encoding: .utf8) == Self.authority.jws.root.key.pem)
    }

    @Test func `the error about an incomplete test authority names the file, and how to replace the authority`() throws
    {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("authority-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try Self.authority.save(to: directory)
        let path = directory.path
        let key = directory.appendingPathComponent("jws-leaf.key.pem")
        func message() -> String? {
            let error = #expect(throws: MintingError.self) { try TestAuthority(readFrom: directory) }
            return error?.description
        }
        let replacement = "or replace the authority with `tenure mint authority --force \(path)`"
        try Data(Self.authority.xcodeJWS.key.pem.utf8).write(to: key)
        #expect(
            message()
                == "the key of `jws-leaf` in `\(path)` doesn't belong to its certificate; restore both files, \(replacement)"
        )
        try Data("no key".utf8).write(to: key)
        let reason = "its key isn't a private key in PEM of a supported kind (P-256, P-384, RSA)"
        #expect(
            message()
                == "`\(path)` is an incomplete test authority: `jws-leaf` can't be read (\(reason)); restore it, \(replacement)"
        )
        try FileManager.default.removeItem(at: key)
        #expect(
            message()
                == "`\(path)` isn't a test authority (no `jws-leaf.pem` with its key); make one with `tenure mint authority \(path)`"
        )
    }
}
