import Foundation
import TenureContentPublishing
import TenureCore
import TenurePolicyFile
import TenureServer

/// The asset packs (files that a purchase unlocks) of `tenure demo`, which are published at each start.
enum DemoContent {
    /// Writes `content.yaml`, which describes one pack, and the pack's sound files: the note A in three octaves.
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
        // In this order: PCM, one channel, samples a second, bytes a second, bytes a sample, bits a sample.
        let format =
            littleEndian(1, 2) + littleEndian(1, 2) + littleEndian(rate, 4) + littleEndian(rate, 4)
            + littleEndian(1, 2) + littleEndian(8, 2)
        let data = Array("data".utf8) + littleEndian(rate, 4) + samples
        let body = Array("WAVEfmt ".utf8) + littleEndian(UInt32(format.count), 4) + format + data
        return Array("RIFF".utf8) + littleEndian(UInt32(body.count), 4) + body
    }
}
