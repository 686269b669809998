import Foundation
import TenureMint
import TenureServer

/// The folder with all files of `tenure demo`. Missing files are created, and existing files are kept.
struct DemoFolder {
    let path: String

    var policyPath: String { path + "/policy.yaml" }
    var databasePath: String { path + "/tenure.sqlite" }
    var adminKeyPath: String { path + "/admin-key" }
    /// The folder of the test authority, which signs the customers' artifacts in place of Apple.
    var authorityPath: String { path + "/authority" }
    /// The file that describes the asset packs.
    var contentPath: String { path + "/content.yaml" }
    /// The folder of the published asset packs, from which the service sends them.
    var publishedPacksPath: String { path + "/published" }
    /// The key that signs the catalog of the asset packs.
    var policySigningKeyPath: String { path + "/policy-key.pem" }

    /// Creates the folder, with the policy and the files of the asset packs. Throws if the folder can't be written, or
    /// if it has a database without the demo's policy.
    func prepare() throws {
        let files = FileManager.default
        try makeFolder(path, or: "choose another one with --folder")
        guard files.isWritableFile(atPath: path) else {
            throw CommandError(
                "the folder `\(path)` can't be written; make it writable, or choose another one with --folder")
        }
        guard files.fileExists(atPath: policyPath) || !files.fileExists(atPath: databasePath) else {
            throw CommandError(
                "`\(databasePath)` isn't the database of a demonstration (there is no `\(policyPath)`); choose another folder with --folder"
            )
        }
        if !files.fileExists(atPath: policyPath) {
            try OutputFile(path: policyPath).write(Array(Self.samplePolicy.utf8))
        }
        if !files.fileExists(atPath: contentPath) { try DemoContent.write(to: self) }
    }

    /// Returns the admin key, with which users of the demo can try the admin API. The key is created at the first
    /// start.
    func adminKey() throws -> String {
        let key = try SecretFile(path: adminKeyPath).contents { Array(KeySecret().text.utf8) }
        return String(decoding: key, as: UTF8.self)
    }

    /// Returns the test authority. The authority is created at the first start and kept, so that artifacts of earlier
    /// starts stay valid.
    func authority() throws -> TestAuthority { try TestAuthority(readOrCreatedIn: URL(fileURLWithPath: authorityPath)) }

    /// The policy of an invented app, which was sold until October 1, 2026, and is free since then.
    static let samplePolicy = """
        # Calculator was sold until October 2026. Since then it is free, and `everything` is bought inside.
        # Edit this file and start again to see which answers change. It is published if no customer loses a right.
        app: { bundleID: com.example.calculator, appleID: 828838134 }

        eras:                                  # oldest first; each runs until the next begins
          - name: paid
            model: paid
          - name: freemium
            model: free
            begins:                            # inclusive: this build, this version, this instant belong to the new era
              iOS:   { build: "120",   at: 2026-10-01T16:00:00Z }
              macOS: { version: "2.0", at: 2026-10-02T16:00:00Z }
            changeover: { from: -24h, until: +48h }   # price, storefronts and binary rarely change together

        buildNumbers: increasing

        entitlements:
          everything:
            title: { en: All features }             # what customers read in the sentences
            products: [com.example.calculator.everything, com.example.calculator.yearly]
            honors: [paid]                    # bought in this era: theirs permanently
          cloud:
            title: { en: Cloud sync }
            products: [com.example.calculator.yearly]
            honors:
              - { era: paid, boughtSince: 2025-10-01, for: P1Y }   # recent buyers: a year from the change on

        inDoubt: favorCustomer
        testEnvironments: newCustomer

        """
}
