import CommandRunner
import Crypto
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureJSON
import TenurePolicyFile
import Testing

@testable import Tenure

/// All manifests and catalogs here have valid signatures: the publisher may have made a mistake, or the key may have
/// been stolen.
@Suite(.timeLimit(.minutes(5))) struct `Hostile manifests and content catalogs` {
    /// Publishes a manifest for a pack with one small file.
    private func offer(_ manifest: Data, in testBed: ContentTestBed) throws {
        let publication = try testBed.publish(["a.txt": Data("abc".utf8)])
        let version = try #require(publication.packs.first?.version)
        let digest = ContentDigest(of: manifest)
        let hostile = ContentCatalog.Version(
            minimumAppVersion: nil, manifest: digest, manifestSize: manifest.count, archive: version.archive,
            archiveSize: version.archiveSize, installedSize: version.installedSize)
        let catalog = try SignedCatalog(
            try ContentCatalog(
                bundleID: InventedApp.bundleID,
                packs: [
                    .init(name: "piano", unlock: .entitlement("everything"), isPurgeable: false, versions: [hostile])
                ]), counter: publication.catalog.counter + 1, issuedAt: Date(), by: testBed.key)
        try manifest.write(to: testBed.folder.url("public/\(digest)"))
        try Data(catalog.text.utf8).write(to: testBed.folder.url("public/catalog.jws"))
    }

    /// The unexpected files in the device's folder and beside it.
    private func strangers(in testBed: ContentTestBed) -> [String] {
        let files = FileManager.default
        let device = testBed.folder.path + "/device"
        let names = (try? files.subpathsOfDirectory(atPath: device)) ?? []
        let known = ["content", "content/packs", "content/packs/piano", "content/packs.lock", "content/requests.json"]
        let own = names.filter { name in
            // A manifest that can be read stays, although its archive has other bytes.
            let isManifest = name.hasPrefix("content/packs/piano/") && name.count == "content/packs/piano/".count + 69
            return !known.contains(name) && !name.hasPrefix("content/catalogs") && !isManifest
        }
        let beside = (try? files.contentsOfDirectory(atPath: testBed.folder.path)) ?? []
        return own + beside.filter { !["device", "public"].contains($0) && !$0.hasPrefix("source") }
    }

    private static let paths = [
        "../a.txt", "/a.txt", "a/../../b", "a\\\\b", "./a", "a//b", "", ".", "..", "a/", "a/.", "a/..", "C:a", "a:b",
        "a\\u0000.txt", "\\u0000", "a\\u001b[2J", "a\\n", "a\\u007f", "a\\u0085", "e\\u0301.txt",
        "../../../../../../../../../../tmp/tenure-escaped", "..\\\\..\\\\a", "a/../b", "~/../a",
        String(repeating: "a", count: 101), String(repeating: "b/", count: 200) + "c",
        String(repeating: "../", count: 40) + "etc/passwd",
    ]

    private static let numbers = [
        "-1", "0", "511", "513", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e999", "null",
        "512.5", "\\\"512\\\"", "true", "[]", "18446744073709551616",
    ]

    /// Manifests that a client must not install, whatever its parser accepts.
    private static func forgeries(of manifest: Data) -> [Data] {
        let text = String(decoding: manifest, as: UTF8.self)
        func replacing(_ old: String, _ new: String) -> Data {
            Data(text.replacingOccurrences(of: old, with: new).utf8)
        }
        var forgeries = paths.map { replacing("\"a.txt\"", "\"\($0)\"") }
        for number in numbers {
            forgeries.append(replacing("\"offset\":512", "\"offset\":\(number)"))
            forgeries.append(replacing("\"size\":3,", "\"size\":\(number),"))
            forgeries.append(replacing("\"format\":1", "\"format\":\(number)"))
        }
        return forgeries + structures(text)
    }

    /// Truncated manifests, and those with a flipped bit that makes them unreadable.
    private static func damaged(_ manifest: Data) -> [Data] {
        stride(from: 0, to: manifest.count - 1, by: 3).flatMap { place in
            var flipped = manifest
            flipped[place] ^= UInt8(1 << (place % 8))
            return (try? PackManifest(json: flipped)) == nil ? [flipped, manifest.prefix(place + 1)] : []
        }
    }

    /// Manifests with contradictory entries.
    private static func structures(_ text: String) -> [Data] {
        guard let start = text.range(of: "{\"path\""), let end = text.range(of: "}]}", options: .backwards) else {
            return []
        }
        let entry = String(text[start.lowerBound..<end.lowerBound]) + "}"
        func manifest(_ entries: [String]) -> Data {
            Data((text[..<start.lowerBound] + entries.joined(separator: ",") + "]}").utf8)
        }
        func named(_ path: String, offset: Int = 1536) -> String {
            entry.replacingOccurrences(of: "\"a.txt\"", with: "\"\(path)\"")
                .replacingOccurrences(of: "\"offset\":512", with: "\"offset\":\(offset)")
        }
        let digest = ContentDigest(of: Data("abc".utf8)).description
        func chunks(_ count: Int) -> String {
            let list = Array(repeating: "\"\(digest)\"", count: count).joined(separator: ",")
            return String(entry.dropLast()) + ",\"chunks\":[\(list)]}"
        }
        return [
            // The same name, once in capitals, once composed in another way, and a file that is a folder.
            manifest([entry, named("a.txt")]), manifest([entry, named("A.TXT")]), manifest([entry, named("a.txt/b")]),
            manifest([named("straße", offset: 512), named("STRASSE")]),
            // Overlapping contents, in each order.
            manifest([entry, named("b.txt", offset: 512)]), manifest([entry, named("b.txt", offset: 514)]),
            manifest([named("b.txt"), entry]),
            manifest([]), manifest(["null"]), manifest(["[]"]), manifest(["{}"]),
            manifest([chunks(0)]), manifest([chunks(2)]), manifest([chunks(1000)]),
            // More files than a pack may have.
            manifest((0...10_000).map { named("\($0)", offset: 512 + $0 * 1024) }),
            // Sizes with a sum that overflows 64 bits.
            manifest(
                (0..<4).map {
                    named("\($0)").replacingOccurrences(of: "\"size\":3", with: "\"size\":4611686018427387904")
                }),
            Data(String(repeating: "[", count: 100_000).utf8), Data("{\"files\":".utf8), Data("null".utf8),
            Data(("\u{FEFF}" + text).utf8.reversed()),
        ]
    }

    @Test func `a download with a hostile manifest fails, and writes nothing outside of the pack's folder`()
        async throws
    {
        let testBed = try ContentTestBed(["a.txt": Data("abc".utf8)])
        let good = try #require(
            try testBed.publish(["a.txt": Data("abc".utf8)]).packs.first?.manifest.json)
        let forgeries = Self.forgeries(of: good)
        #expect(!forgeries.contains(good), "each differs")
        let mutants = forgeries + Self.damaged(good)
        #expect(mutants.count >= 200, "\(mutants.count)")
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        for mutant in mutants {
            try offer(mutant, in: testBed)
            await tenure.content.refresh()
            let text = String(decoding: mutant.prefix(1000), as: UTF8.self)
            await #expect(throws: Tenure.AssetPackError.corrupted("piano"), "\(text)") { try await piano.download() }
            await piano.cancel()
        }
        #expect(strangers(in: testBed) == [])
        #expect(!FileManager.default.fileExists(atPath: "/tmp/tenure-escaped"))
    }

    @Test(arguments: ["a\u{202E}txt.exe", "\u{200F}a", "name\u{2066}", "💥"])
    func `pack files with unusual but valid names are written into the pack's folder`(name: String) async throws {
        let testBed = try ContentTestBed([name: Data("abc".utf8)])
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == [name: Data("abc".utf8)])
        let error = Tenure.AssetPackError.missingFile(path: "\u{202E}")
        await #expect(throws: error) { try await tenure.content["piano"].url(for: "\u{202E}") }
    }

    @Test(arguments: ["../../catalogs", "..", "/etc", "a.txt/..", "./a.txt", "a.txt/", "a\0.txt"])
    func `paths that the app passes open only files inside of the pack`(path: String) async throws {
        let testBed = try ContentTestBed(["a.txt": Data("abc".utf8)])
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        await #expect(throws: Tenure.AssetPackError.missingFile(path: path)) {
            try await tenure.content["piano"].url(for: path)
        }
    }

    @Test func `a link in place of the pack's folder is replaced by a folder`() async throws {
        let testBed = try ContentTestBed(["a.txt": Data("abc".utf8)])
        let outside = testBed.folder.path + "/outside"
        let packs = testBed.folder.path + "/device/content/packs"
        for folder in [outside, packs] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(atPath: packs + "/piano", withDestinationPath: outside)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == ["a.txt": Data("abc".utf8)])
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
    }

    @Test func `an edited record of an installed pack can't lead to files outside of the pack's folder`() async throws {
        let testBed = try ContentTestBed(["a.txt": Data("abc".utf8)])
        let first = testBed.device.start()
        try await first.content["piano"].download()
        let outside = testBed.folder.path + "/outside"
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
        try Data("xyz".utf8).write(to: testBed.folder.url("outside/a.txt"))
        let record = testBed.folder.url("device/content/packs/piano/installed.json")
        let text = try String(contentsOf: record, encoding: .utf8)
        let folder = try #require(text.range(of: "\"folder\":\"[^\"]*\"", options: .regularExpression))
        let changed = text.replacingCharacters(in: folder, with: "\"folder\":\"../../../../../outside\"")
        try Data(changed.utf8).write(to: record)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        let state = await piano.reaches { $0 != .unknown && $0 != .notEntitled }
        guard case .available = state else { return #expect(Bool(false), "\(state)") }
        await #expect(throws: Tenure.AssetPackError.notInstalled("piano")) { try await piano.url(for: "a.txt") }
    }

    // MARK: Catalogs

    /// Catalogs that a client must not use, whatever its parser accepts.
    private static func catalogs(like payload: String) -> [String] {
        func replacing(_ old: String, _ new: String) -> String { payload.replacingOccurrences(of: old, with: new) }
        var catalogs = [
            "..", "../piano", "/piano", "Piano", "pi ano", "", "piano\\u0000", "piano\\u202e", ".", "pïano",
            String(repeating: "a", count: 65), "piano/../../x",
        ].map { replacing("\"piano\":", "\"\($0)\":") }
        catalogs += [
            replacing("\"entitlement\":\"everything\"", "\"entitlement\":\"everything\",\"product\":\"x\""),
            replacing("\"entitlement\":\"everything\",", ""), replacing("\"versions\":[", "\"versions\":[],\"x\":["),
            replacing("\"packs\":{", "\"packs\":[{"),
            replacing("\"bundleID\":\"com.example", "\"bundleID\":\"com.other"),
            replacing("\"manifest\":\"", "\"manifest\":\"../"), replacing("\"archive\":\"", "\"archive\":\"0"),
        ]
        // More packs than a catalog may have.
        if let start = payload.range(of: "\"piano\":"), let end = payload.range(of: "]}}", options: .backwards) {
            let pack = payload[start.upperBound..<end.lowerBound] + "]}"
            let packs = (0...100).map { "\"pack-\($0)\":\(pack)" }.joined(separator: ",")
            catalogs.append(payload[..<start.lowerBound] + packs + "}" + payload[end.upperBound...])
        }
        return catalogs
    }

    /// Truncated catalogs, and unreadable ones with another number or a flipped bit.
    private static func damagedCatalogs(like payload: String) -> [String] {
        var catalogs: [String] = []
        for number in numbers {
            for key in ["counter", "iat", "manifestSize", "archiveSize", "installedSize"] {
                guard let range = payload.range(of: "\"\(key)\":[0-9]+", options: .regularExpression) else { continue }
                catalogs.append(payload.replacingCharacters(in: range, with: "\"\(key)\":\(number)"))
            }
        }
        let bytes = Array(payload.utf8)
        for place in stride(from: 0, to: bytes.count, by: 9) {
            var flipped = bytes
            flipped[place] ^= UInt8(1 << (place % 7))
            catalogs += [String(decoding: flipped, as: UTF8.self), String(decoding: bytes[..<place], as: UTF8.self)]
        }
        return catalogs.filter { (try? SignedCatalog(payload: Data($0.utf8), text: $0)) == nil }
    }

    @Test func `hostile content catalogs change no stored state, crash nothing and write nothing`() async throws {
        let testBed = try ContentTestBed(["a.txt": Data("abc".utf8)])
        let file = testBed.folder.url("public/catalog.jws")
        let parts = try String(contentsOf: file, encoding: .utf8).split(separator: ".")
        let payload = try #require(Base64.urlSafe.decode(Array(String(parts[1]).utf8)[...]))
        let good = String(decoding: payload, as: UTF8.self)
        let forgeries = Self.catalogs(like: good)
        #expect(!forgeries.contains(good), "each differs")
        let catalogs = forgeries + Self.damagedCatalogs(like: good)
        #expect(catalogs.count >= 100, "\(catalogs.count)")
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        _ = await piano.reaches { if case .available = $0 { true } else { false } }
        let before = await tenure.content.packs
        for catalog in catalogs {
            let text = try SignedPayload.sign(Array(catalog.utf8), type: "tenure-content+jwt", by: testBed.key)
            try Data(text.utf8).write(to: file)
            await tenure.content.refresh()
        }
        #expect(await tenure.content.packs == before)
        #expect(strangers(in: testBed) == [])
        try await piano.download()
        #expect(try await ContentTestBed.contents(of: tenure) == ["a.txt": Data("abc".utf8)])
    }
}
