import CommandRunner
import Crypto
import Foundation
import Testing

/// The certificates that `tenure inspect` shows.
@Suite struct `certificates of an inspected artifact` {
    /// The SHA-256 digests of the certificates in a PEM file, in hexadecimal.
    private static func digests(inPEMFile path: String) throws -> [String] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst().map { part in
            let body = part.components(separatedBy: "-----END")[0].filter { !$0.isWhitespace }
            let der = try #require(Data(base64Encoded: body))
            return SHA256.hash(data: der).map { String(format: "%02x", $0) }.joined()
        }
    }

    @Test func `tenure inspect shows certificates from the signer's to the root, in text as in JSON`() async throws {
        let testBed = try await TestBed()
        let command = ["inspect", "--trust", testBed.authority, try await testBed.mint("transaction")]
        let json = try await Command.run(command + ["--json"]).json()
        let verification = ["status": "verified", "environment": "Production", "anchor": "named"]
        #expect(json["verification"] as? [String: String] == verification)
        let certificates = try #require(json["certificates"] as? [[String: String]])
        try #require(certificates.count == 3)
        #expect(Set(certificates.compactMap { $0["subject"] }).count == 3)
        // The root signs itself.
        let issuers = certificates.dropFirst() + certificates.suffix(1)
        for (certificate, issuer) in zip(certificates, issuers) {
            #expect(certificate["issuer"] == issuer["subject"])
            let (start, end) = (try #require(certificate["notBefore"]), try #require(certificate["notAfter"]))
            #expect(start < end)
        }
        let roots = try Self.digests(inPEMFile: testBed.authority + "/roots.pem")
        #expect(roots.contains(certificates[2]["sha256"]?.lowercased() ?? ""), "\(certificates[2])")

        var lines = ["", "certificates"]
        for certificate in certificates {
            func field(_ name: String) throws -> String { try #require(certificate[name]) }
            lines.append("  \(try field("subject"))")
            let period = "valid \(try field("notBefore")) to \(try field("notAfter"))"
            lines.append("    \(period), serial \(try field("serialNumber"))")
            lines.append("    SHA-256 \(try field("sha256"))")
        }
        let text = try await Command.run(command)
        #expect(text.status == 0 && text.output.hasSuffix("\n\(lines.joined(separator: "\n"))\n"), "\(text.output)")
    }
}
