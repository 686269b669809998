import CommandRunner
import Foundation
import TenureCore
import TenurePolicyFile
import TenureServer
import Testing

@testable import TenureCLI

/// The folders of the demo and of the local App Store, used twice in the process of the tests.
@Suite struct `folders that commands create` {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test func `the demo's folder gets a policy, a key and sounds, and a second run keeps what the user changed`()
        throws
    {
        let demo = DemoFolder(path: folder.url("var").path)
        try demo.prepare()
        let policy = try PolicyFile.read(try folder.text("var/policy.yaml"), named: "policy.yaml")
        #expect(policy.app.bundleID == "com.example.calculator" && policy.app.appleID == 828_838_134)
        #expect(policy.entitlements.map(\.name) == ["everything", "cloud"])
        for name in ["a3", "a4", "a5"] {
            let bytes = Array(try Data(contentsOf: folder.url("var/piano/samples/\(name).wav")))
            // PCM, one channel, 8,000 samples a second of one byte each.
            let header: [UInt8] =
                Array("RIFF".utf8) + [0x64, 0x1F, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0]
            let format: [UInt8] = [0x40, 0x1F, 0, 0, 0x40, 0x1F, 0, 0, 1, 0, 8, 0]
            let data: [UInt8] = Array("data".utf8) + [0x40, 0x1F, 0, 0]
            #expect(bytes.count == 8044 && Array(bytes.prefix(44)) == header + format + data, "\(name)")
            #expect(bytes[44] == 128 && Set(bytes.dropFirst(44)).count > 2, "\(name)")
        }
        let key = try demo.adminKey()
        #expect(KeySecret(key) != nil)
        let mode = try FileManager.default.attributesOfItem(atPath: demo.adminKeyPath)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        for name in ["policy.yaml", "content.yaml"] { try folder.write("changed", to: "var/" + name) }
        try folder.write("changed", to: "var/piano/samples/a3.wav")
        try demo.prepare()
        for name in ["policy.yaml", "content.yaml", "piano/samples/a3.wav"] {
            #expect(try folder.text("var/" + name) == "changed", "\(name)")
        }
        #expect(try demo.adminKey() == key)
    }

    @Test func `the demo publishes its packs at each run, with a higher counter and the key that it keeps`() throws {
        let demo = DemoFolder(path: folder.url("var").path)
        try demo.prepare()
        let policy = try PolicyFile.read(DemoFolder.samplePolicy, named: "policy.yaml")
        let settings = try DemoContent.publish(demo, for: policy)
        #expect(settings.folder == demo.publishedPacksPath)
        let key = try folder.text("var/policy-key.pem")
        _ = try DemoContent.publish(demo, for: policy)
        #expect(try folder.text("var/policy-key.pem") == key)
        let names = try FileManager.default.contentsOfDirectory(atPath: demo.publishedPacksPath + "/catalogs")
        #expect(names.count { $0.hasSuffix(".jws") } == 2, "\(names)")
    }

    @Test func `a folder of a local App Store is for one user at a time, and free again after its end`() async throws {
        let path = folder.url("store").path
        do {
            let first = try LocalStoreFolder(path: path)
            let error = #expect(throws: CommandError.self) { try LocalStoreFolder(path: path) }
            let words = "stop it, or choose another folder with --folder"
            #expect(error?.description == "another local App Store runs in `\(path)`; \(words)")
            #expect(first.clockPath == path + "/clock" && first.keyPath == path + "/SubscriptionKey.p8")
        }
        let second = try LocalStoreFolder(path: path)
        let error = await #expect(throws: CommandError.self) { try await second.open(scenario: nil) }
        let words = "has no local App Store yet; pass the scenario to begin with: --scenario FILE"
        #expect(error?.description == "the folder `\(path)` \(words)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["lock"])
        let file = try folder.write("x", to: "file")
        let refused = #expect(throws: CommandError.self) { try LocalStoreFolder(path: file) }
        let advice = "make it writable, or choose another one with --folder"
        #expect(refused?.description == "the folder `\(file)` can't be created; \(advice)")
    }
}
