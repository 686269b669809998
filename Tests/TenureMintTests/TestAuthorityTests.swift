import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@Suite struct TestAuthorityTests {
    private static let instant = Date(timeIntervalSince1970: 1_795_176_000)

    /// One for all tests: making RSA keys takes seconds.
    private static let authority: TestAuthority = {
        do {
            return try TestAuthority()
        } catch {
            fatalError("no test authority can be made: \(error)")
        }
    }()

    private func header(_ jws: [UInt8]) -> [UInt8] { Array(jws.prefix { $0 != UInt8(ascii: ".") }) }

    private func payload(_ jws: [UInt8]) throws -> JSONObject { try UnverifiedJWS(jws).payload }

    @Test func `with a seed keys, headers and payloads are reproducible`() throws {
        func minter(_ seed: String) throws -> JWSMinter {
            let authority = try TestAuthority(seed: seed, receiptsOf: Self.authority)
            return JWSMinter(authority: authority, signedAt: Self.instant)
        }
        let (first, again, other) = (try minter("one"), try minter("one"), try minter("two"))
        for kind in [JWSKind.appTransaction, .transaction, .renewalInfo] {
            #expect(try header(first.mint(kind)) == header(again.mint(kind)))
            #expect(try payload(first.mint(kind)) == payload(again.mint(kind)))
            #expect(try header(first.mint(kind)) != header(other.mint(kind)))
        }
        #expect(first.authority.xcodeJWS.der == again.authority.xcodeJWS.der)
    }

    @Test func `with a seed receipts are the same to the byte, since RSA signs without a random number`() throws {
        let (first, again, other) = (try TestAuthority(seed: "one"), try TestAuthority(seed: "one"), Self.authority)
        #expect(first.receipts.certificates == again.receipts.certificates)
        #expect(first.receipts.leaf.key.pem == again.receipts.leaf.key.pem)
        #expect(first.xcodeReceipts.der == again.xcodeReceipts.der)
        #expect(Set(first.receipts.certificates).isDisjoint(with: other.receipts.certificates))

        func minter(_ authority: TestAuthority) -> ReceiptMinter {
            ReceiptMinter(authority: authority, signedAt: Self.instant)
        }
        for style in [ReceiptStyle(), ReceiptStyle(form: .ber, digest: .sha1), ReceiptStyle(hasSignedAttributes: true)]
        {
            let receipt = try minter(first).mint(minter(first).draft, style: style)
            #expect(try minter(again).mint(minter(again).draft, style: style) == receipt)
            #expect(try minter(other).mint(minter(other).draft, style: style) != receipt)
        }
        for defect in ReceiptDefect.allCases {
            let minted = Result { try minter(first).mint(with: defect) }
            #expect(try minter(again).mint(with: defect) == minted.get(), "\(defect)")
        }
        #expect(throws: Never.self) {
            try AppStoreVerifier(
                app: AppIdentity(), trust: TrustConfiguration(anchors: [.production: first.anchors])
            ).verifyReceipt(minter(first).mint(), now: nil)
        }
    }

    @Test func `keys of different seeds and roles are different`() throws {
        let (one, two) = (try TestAuthority(seed: "one"), try TestAuthority(seed: "two"))
        let keys = [one, two].flatMap { authority in
            [
                authority.receipts.root, authority.receipts.intermediate, authority.receipts.leaf,
                authority.xcodeReceipts,
            ]
            .map(\.key.pem)
        }
        #expect(Set(keys).count == 8)
    }

    @Test func `a saved authority is read again with the same keys, which only its owner can read`() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("authority-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let authority = Self.authority
        try authority.save(to: directory)
        let again = try TestAuthority(directory: directory)
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

    @Test func `a folder without an authority is an error with its path`() {
        let directory = URL(fileURLWithPath: "/nonexistent/authority")
        #expect { try TestAuthority(directory: directory) } throws: { "\($0)".contains("/nonexistent/authority") }
    }

    @Test func `a key that does not belong to its certificate is refused`() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("authority-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try Self.authority.save(to: directory)
        let key = directory.appendingPathComponent("jws-leaf.key.pem")
        try FileManager.default.removeItem(at: key)
        try FileManager.default.copyItem(at: directory.appendingPathComponent("xcode-jws.key.pem"), to: key)
        #expect(throws: MintingError.self) { try TestAuthority(directory: directory) }
    }
}
