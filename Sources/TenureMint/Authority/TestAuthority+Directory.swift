package import Foundation
import SwiftASN1
import TenureAppStore
import X509

/// The part of `TestAuthority` that saves an authority in a directory and reads it.
///
/// The directory has the anchors for verifiers in `roots.pem` and `xcode.pem`, and each certificate with its private
/// key. Only the user who owns a key's file can read it.
extension TestAuthority {
    /// The names of the files, each with its certificate.
    private static let names: [(String, any KeyPath<TestAuthority, IssuedCertificate> & Sendable)] = [
        ("jws-root", \.jws.root), ("jws-intermediate", \.jws.intermediate), ("jws-leaf", \.jws.leaf),
        ("receipt-root", \.receipts.root), ("receipt-intermediate", \.receipts.intermediate),
        ("receipt-leaf", \.receipts.leaf), ("xcode-jws", \.xcodeJWS), ("xcode-receipt", \.xcodeReceipts),
    ]

    /// Writes the authority into a directory, which is created if missing. Throws if the directory can't be written.
    package func save(to directory: URL) throws {
        let files = FileManager.default
        try files.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, path) in Self.names {
            let issued = self[keyPath: path]
            let key = directory.appendingPathComponent("\(name).key.pem")
            // Set the permissions when creating the file. Otherwise another user could open the file before the
            // permissions are set.
            try? files.removeItem(at: key)
            guard
                files.createFile(
                    atPath: key.path, contents: Data(issued.key.pem.utf8), attributes: [.posixPermissions: 0o600])
            else { throw MintingError("`\(key.path)` can't be written; check the folder and its permissions") }
            try write([issued], to: directory.appendingPathComponent("\(name).pem"))
        }
        try write([jws.root, receipts.root], to: directory.appendingPathComponent("roots.pem"))
        try write([xcodeJWS, xcodeReceipts], to: directory.appendingPathComponent("xcode.pem"))
    }

    /// Writes certificates in PEM.
    private func write(_ certificates: [IssuedCertificate], to file: URL) throws {
        let text = certificates.map { PEMDocument(type: "CERTIFICATE", derBytes: $0.der).pemString + "\n" }.joined()
        try Data(text.utf8).write(to: file)
    }

    /// Reads the authority in the directory, or creates one there. If several processes do this at the same time, they
    /// get the same authority. Throws if the directory can't be written, or has an incomplete authority.
    package init(readOrCreatedIn directory: URL) throws {
        let files = FileManager.default
        if !files.fileExists(atPath: directory.appendingPathComponent("roots.pem").path) {
            let new = directory.deletingLastPathComponent().appendingPathComponent(".authority-\(UUID().uuidString)")
            defer { try? files.removeItem(at: new) }
            try TestAuthority().save(to: new)
            // If another process was first, renaming fails, and that process's authority is read.
            _ = rename(new.path, directory.path)
        }
        try self.init(readFrom: directory)
    }

    /// Reads the authority that `save(to:)` wrote into the directory. Throws if it is missing or incomplete.
    package init(readFrom directory: URL) throws {
        func read(_ name: String) throws -> IssuedCertificate {
            let file = directory.appendingPathComponent("\(name).pem")
            let keyFile = directory.appendingPathComponent("\(name).key.pem")
            let anchors: TrustAnchors
            let key: AuthorityKey
            do {
                anchors = try TrustAnchors([UInt8](Data(contentsOf: file)))
                key = try AuthorityKey(pem: String(decoding: Data(contentsOf: keyFile), as: UTF8.self))
            } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
                throw MintingError(
                    "`\(directory.path)` isn't a test authority (no `\(name).pem` with its key); make one with `tenure mint authority \(directory.path)`"
                )
            } catch is CocoaError {
                throw MintingError(
                    """
                    `\(directory.path)` is an incomplete test authority: `\(name).pem` or its key isn't a readable \
                    file; restore it, or replace the authority with `tenure mint authority --force \(directory.path)`
                    """)
            } catch {
                throw MintingError(
                    """
                    `\(directory.path)` is an incomplete test authority: `\(name)` can't be read (\(error)); restore \
                    it, or replace the authority with `tenure mint authority --force \(directory.path)`
                    """)
            }
            guard let certificate = anchors.certificates.first, certificate.x509.publicKey == key.publicKey else {
                throw MintingError(
                    """
                    the key of `\(name)` in `\(directory.path)` doesn't belong to its certificate; restore both \
                    files, or replace the authority with `tenure mint authority --force \(directory.path)`
                    """)
            }
            return IssuedCertificate(certificate: certificate, key: key)
        }
        func chain(_ name: String) throws -> AuthorityChain {
            AuthorityChain(
                root: try read("\(name)-root"), intermediate: try read("\(name)-intermediate"),
                leaf: try read("\(name)-leaf"))
        }
        self.init(
            jws: try chain("jws"), receipts: try chain("receipt"), xcodeJWS: try read("xcode-jws"),
            xcodeReceipts: try read("xcode-receipt"))
    }
}
