import Foundation
import TenureContentPublishing
import TenureCore
import TenureMint
import TenurePolicyFile
import TenureServer

/// The folder with all files of a demonstration. Missing files are created, and existing files are kept.
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

    /// Creates the folder, with the policy and the asset packs. Throws if the folder can't be written.
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

/// The asset packs of the demonstration, which are published at each start.
enum DemoContent {
    /// Writes `content.yaml`, which describes one pack, and the pack's sound files.
    static func write(to folder: DemoFolder) throws {
        let samples = folder.path + "/piano/samples"
        try FileManager.default.createDirectory(atPath: samples, withIntermediateDirectories: true)
        for (name, frequency) in [("a3", 220.0), ("a4", 440), ("a5", 880)] {
            try Data(tone(frequency)).write(to: URL(fileURLWithPath: "\(samples)/\(name).wav"))
        }
        try OutputFile(path: folder.contentPath).write(Array(description.utf8))
    }

    private static let description = """
        # What a purchase unlocks. Change the files, start again, and customers get the new version.
        packs:
          grand-piano: { entitlement: everything, files: piano/ }

        """

    /// Publishes the packs that `content.yaml` in the folder describes.
    static func publish(_ folder: DemoFolder, for policy: Policy) throws -> ContentSettings {
        let key = try policySigningKey(at: folder.policySigningKeyPath, makingIfMissing: true)
        let bytes = try InputFile(path: folder.contentPath).bytes(limit: PolicyFile.maximumSize)
        let content = try ContentFile.read(bytes, named: folder.contentPath, policy: policy)
        _ = try ContentPublisher(folder: folder.publishedPacksPath, key: key).publish(
            bundleID: content.bundleID, packs: content.packs)
        return ContentSettings(folder: folder.publishedPacksPath)
    }

    /// A second of a tone: a WAV file with one channel, 8 bits and 8,000 samples a second.
    ///
    /// - Parameter frequency: the frequency in hertz.
    private static func tone(_ frequency: Double) -> [UInt8] {
        let rate: UInt32 = 8000
        func littleEndian(_ value: UInt32, _ size: Int) -> [UInt8] {
            (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let samples = (0..<rate).map { index in
            UInt8(clamping: Int(128 + 100 * sin(2 * .pi * frequency * Double(index) / Double(rate))))
        }
        // PCM, one channel, samples a second, bytes a second, bytes a sample, bits a sample.
        let format =
            littleEndian(1, 2) + littleEndian(1, 2) + littleEndian(rate, 4) + littleEndian(rate, 4)
            + littleEndian(1, 2) + littleEndian(8, 2)
        let data = Array("data".utf8) + littleEndian(rate, 4) + samples
        let body = Array("WAVEfmt ".utf8) + littleEndian(UInt32(format.count), 4) + format + data
        return Array("RIFF".utf8) + littleEndian(UInt32(body.count), 4) + body
    }
}
