import Crypto
import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenureContent

/// Each rule of a content catalog, and the reason that a broken rule gives.
@Suite struct `The rules of a content catalog` {
    private typealias Version = ContentCatalog.Version
    private typealias Pack = ContentCatalog.Pack

    private static let digest = ContentDigest(of: Data("archive".utf8))

    private func version(
        _ minimum: String? = nil, manifest: Int = 300, archive: Int64 = 3048, installed: Int64 = 1000
    ) -> Version {
        Version(
            minimumAppVersion: minimum.flatMap { AppVersion($0) }, manifest: Self.digest, manifestSize: manifest,
            archive: Self.digest, archiveSize: archive, installedSize: installed)
    }

    private func pack(_ name: String, _ versions: [Version]) -> Pack {
        Pack(name: name, unlock: .entitlement("e"), isPurgeable: false, versions: versions)
    }

    private func expect(
        _ packs: [Pack], bundleID: String = "com.example.a", toBreak reason: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: ContentError.invalidCatalog(reason), sourceLocation: sourceLocation) {
            try ContentCatalog(bundleID: bundleID, packs: packs)
        }
    }

    @Test func `a content catalog without a bundle ID, or with an invalid pack, says which rule it breaks`() {
        let valid = pack("loops", [version()])
        expect([valid], bundleID: "", toBreak: "its bundle ID is empty")
        let packs = (0...100).map { pack("pack-\($0)", [version()]) }
        expect(packs, toBreak: "it has 101 packs; an app has at most 100")
        expect(
            [valid, pack("Loops", [version()])],
            toBreak: "`Loops` isn't a valid name of a pack: 1 to 64 of the characters a–z, 0–9 and `-`")
        expect([valid, pack("bass", [version()]), valid], toBreak: "it has two packs named `loops`")
    }

    @Test func `a pack has 1 to 100 versions, each with a higher minimum than the one before`() throws {
        let count = "`bass` must have 1 to 100 versions"
        expect([pack("bass", [])], toBreak: count)
        let versions = (1...101).map { version("\($0)") }
        expect([pack("bass", versions)], toBreak: count)
        let catalog = try ContentCatalog(bundleID: "com.example.a", packs: [pack("bass", Array(versions.dropLast()))])
        #expect(catalog["bass"]?.versions.count == 100)
        let order = "the versions of `bass` aren't in order of `minimumAppVersion`"
        let unordered: [[String?]] = [["3", "2"], ["2", "2.0"], ["2", nil], [nil, nil], [nil, "2", "10", "9"]]
        for minimums in unordered {
            expect([pack("bass", minimums.map { version($0) })], toBreak: order)
        }
    }

    @Test func `each size of a pack's version has its own range, and the limits are valid`() throws {
        let reason = "`bass` has a `manifestSize`, `installedSize` or `archiveSize` that is out of range"
        let (manifest, archive) = (PackManifest.maximumTextSize, PackManifest.maximumArchiveSize)
        for invalid in [
            version(manifest: 0), version(manifest: manifest + 1), version(installed: -1),
            version(archive: archive, installed: 64_000_000_001), version(archive: 999),
            version(archive: archive + 1),
        ] {
            expect([pack("bass", [invalid])], toBreak: reason)
            // Also in the last of several versions.
            let last = Version(
                minimumAppVersion: AppVersion("2"), manifest: Self.digest, manifestSize: invalid.manifestSize,
                archive: Self.digest, archiveSize: invalid.archiveSize, installedSize: invalid.installedSize)
            expect([pack("bass", [version(), last])], toBreak: reason)
        }
        for valid in [
            version(manifest: 1, archive: 0, installed: 0),
            version(manifest: manifest, archive: archive, installed: 64_000_000_000), version(archive: 1000),
        ] {
            #expect(throws: Never.self) {
                try ContentCatalog(bundleID: "com.example.a", packs: [pack("bass", [valid])])
            }
        }
    }

    @Test func `the packs of a content catalog are sorted by name, and found by their whole name`() throws {
        let names = ["loops", "bass-2", "bass", "violin"]
        let catalog = try ContentCatalog(
            bundleID: "com.example.a", packs: names.map { pack($0, [version("\($0.utf8.count)")]) })
        #expect(catalog.packs.map(\.name) == ["bass", "bass-2", "loops", "violin"])
        #expect(catalog["bass-2"]?.versions.first?.minimumAppVersion?.description == "6")
        #expect(catalog["bass-"] == nil)
    }

    @Test func `the name of a pack has 1 to 64 lowercase letters, digits and hyphens`() {
        let valid = (0...127).map { String(UnicodeScalar(UInt8($0))) }.filter { ContentCatalog.isName($0) }
        #expect(valid.joined() == "-0123456789abcdefghijklmnopqrstuvwxyz")
        #expect(ContentCatalog.isName(String(repeating: "z", count: 64)))
        for invalid in ["", "é", "a b", "loopS", String(repeating: "z", count: 65)] {
            #expect(!ContentCatalog.isName(invalid), "\(invalid)")
        }
    }

    @Test func `an app without a readable version uses a pack's version only if every app can use it`() {
        let versions = [version(archive: 1), version("3.2", archive: 2), version("3.10", archive: 3)]
        func archive(_ versions: [Version], for app: String?) -> Int64? {
            pack("bass", versions).version(for: app.flatMap { AppVersion($0) })?.archiveSize
        }
        #expect(archive(versions, for: nil) == 1 && archive(versions, for: "3.1.9") == 1)
        #expect(archive(versions, for: "3.2") == 2 && archive(versions, for: "3.9.9") == 2)
        #expect(archive(versions, for: "3.10.0") == 3 && archive(versions, for: "4") == 3)
        #expect(archive(Array(versions.dropFirst()), for: nil) == nil)
    }
}

/// The payload of a signed catalog, and what signing and reading do with the counter, the date and the size.
@Suite struct `The payload of a signed content catalog` {
    private static let digest = ContentDigest(of: Data("archive".utf8))
    private static let key = P256.Signing.PrivateKey()

    private func read(counter: String = "1", iat: String = "1", pack: String? = nil) throws -> SignedCatalog {
        let packs = pack.map { "\"a\":{\($0)}" } ?? ""
        let json = #"{"counter":\#(counter),"iat":\#(iat),"bundleID":"com.example.a","packs":{\#(packs)}}"#
        return try SignedCatalog(payload: Data(json.utf8), text: "signed")
    }

    @Test func `a pack in the payload of a content catalog says which of its fields is invalid`() throws {
        func pack(_ fields: String, archive: String? = nil, minimum: String = "") -> String {
            let archive = archive ?? Self.digest.description
            return """
                \(fields)"versions":[{\(minimum)"manifest":"\(Self.digest)","manifestSize":1,"archive":"\(archive)",
                "archiveSize":2048,"installedSize":0}]
                """
        }
        let unlock = "the pack `a` must have either `entitlement` or `product`"
        let storage = "the pack `a` has an unknown value of `storage`; this version of Tenure reads only `purgeable`"
        let cases: [(String, String)] = [
            (pack(#""entitlement":"e","product":"p","#), unlock), (pack(""), unlock),
            (pack(#""product":"p","storage":"kept","#), storage), (pack(#""product":"p","storage":"","#), storage),
            (
                pack(#""product":"p","#, minimum: #""minimumAppVersion":"v3","#),
                "the pack `a` has a `minimumAppVersion` that isn't a dotted number"
            ),
            (pack(#""product":"p","#, archive: "00"), "its payload can't be read"),
        ]
        for (pack, reason) in cases {
            #expect(throws: ContentError.invalidCatalog(reason), "\(pack)") { try read(pack: pack) }
        }
        let json = pack(#""product":"p","storage":"purgeable","#, minimum: #""minimumAppVersion":"3","#)
        let valid = try #require(try read(pack: json).catalog["a"])
        #expect(valid.unlock == .product("p") && valid.isPurgeable)
        #expect(valid.versions.first?.minimumAppVersion?.description == "3")
        #expect(valid.versions.first?.archiveSize == 2048 && valid.versions.first?.installedSize == 0)
    }

    @Test func `the counter of a content catalog is at least 1, its date at least 0, and both at most 2 to the 53rd`()
        throws
    {
        let maximum = "9007199254740992"
        let largest = try read(counter: maximum, iat: maximum)
        #expect(largest.counter == 1 << 53 && largest.issuedAt.timeIntervalSince1970 == 9_007_199_254_740_992)
        #expect(largest.text == "signed")
        #expect(try read(iat: "0").issuedAt.timeIntervalSince1970 == 0)
        for (counter, iat) in [("0", "1"), ("-1", "1"), ("7", "-1")] {
            let reason = "its `counter` (\(counter)) or `iat` (\(iat)) is out of range"
            #expect(throws: ContentError.invalidCatalog(reason)) { try read(counter: counter, iat: iat) }
        }
        for (counter, iat) in [("9007199254740994", "1"), ("1", "9007199254740994")] {
            #expect(throws: ContentError.self) { try read(counter: counter, iat: iat) }
        }
    }

    @Test func `signing a content catalog refuses a counter below 1 and more than a mebibyte, and keeps whole seconds`()
        throws
    {
        let catalog = try ContentCatalog(bundleID: "com.example.a", packs: [])
        func issued(at seconds: TimeInterval, counter: Int64 = 1) throws -> TimeInterval {
            try SignedCatalog(
                catalog, counter: counter, issuedAt: Date(timeIntervalSince1970: seconds), by: Self.key
            ).issuedAt.timeIntervalSince1970
        }
        #expect(try [5.9, -5, 1e13].map { try issued(at: $0) } == [5, 0, 1e12])
        #expect(throws: ContentError.invalidCatalog("its `counter` (0) or `iat` (5) is out of range")) {
            try issued(at: 5, counter: 0)
        }
        let versions = (1...100).map { number in
            ContentCatalog.Version(
                minimumAppVersion: AppVersion("\(number)"), manifest: Self.digest, manifestSize: 1,
                archive: Self.digest, archiveSize: 2048, installedSize: 0)
        }
        let packs = (1...100).map { number in
            ContentCatalog.Pack(
                name: "pack-\(number)", unlock: .entitlement("e"), isPurgeable: false, versions: versions)
        }
        let large = try ContentCatalog(bundleID: "com.example.a", packs: packs)
        #expect(throws: ContentError.invalidCatalog("it has more than 1048576 bytes")) {
            try SignedCatalog(large, counter: 1, issuedAt: Date(timeIntervalSince1970: 5), by: Self.key)
        }
    }

    @Test func `reading a content catalog without verifying it accepts any signer, but not another app or any size`()
        throws
    {
        let catalog = try ContentCatalog(bundleID: "com.example.a", packs: [])
        let signed = try SignedCatalog(catalog, counter: 7, issuedAt: Date(timeIntervalSince1970: 5), by: Self.key)
        let read = try SignedCatalog.unverified((signed.text + "\r\n").utf8)
        #expect(read == signed && read.text == signed.text && read.counter == 7)
        #expect(try SignedCatalog.unverified(signed.text.utf8, bundleID: "com.example.a") == signed)
        #expect(throws: ContentError.wrongApp(found: "com.example.a", wanted: "com.example.b")) {
            try SignedCatalog.unverified(signed.text.utf8, bundleID: "com.example.b")
        }
        let size = 1_399_124
        #expect(SignedCatalog.maximumTextSize == size)
        for (count, reason) in [
            (size, "it isn't a compact JWS, which has three parts"),
            (size + 1, "it has \(size + 1) bytes; a catalog has at most \(size)"),
        ] {
            #expect(throws: ContentError.invalidCatalog(reason)) {
                try SignedCatalog.unverified([UInt8](repeating: 0x61, count: count))
            }
        }
    }

    @Test func `the message about invalid content names the file, the reason and the command that writes it again`() {
        let messages: [(ContentError, String)] = [
            (
                .invalidManifest("it can't be read"),
                "the manifest of an asset pack is invalid: it can't be read; publish the pack again with `tenure content publish`"
            ),
            (
                .invalidCatalog("it can't be read"),
                "the content catalog is invalid: it can't be read; publish it again with `tenure content publish`"
            ),
            (
                .invalidEmbeddedContent("it can't be read"),
                "`content.json` is invalid: it can't be read; write it again with `tenure content embed`"
            ),
            (
                .wrongSignature,
                "none of the pinned keys signed the content catalog; sign it with the key that the app pins"
            ),
        ]
        for (error, message) in messages { #expect(error.description == message) }
    }
}
