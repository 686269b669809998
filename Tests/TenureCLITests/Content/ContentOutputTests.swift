import CommandRunner
import Foundation
import TenureContent
import TenureCore
import TenureJSON
import Testing

/// What the commands for asset packs print, as whole texts.
@Suite struct `the output of tenure content` {
    private static let otherVersion = "on keep the version published for them; to replace it, write `minimumAppVersion:"

    @Test func `tenure content publish prints each pack with its size, and whether its archive is new`() async throws {
        let testBed = try await ContentTestBed()
        let first = try await testBed.publish("--counter", "7")
        #expect(first.status == 0 && first.errors.isEmpty, "\(first.errors)")
        #expect(
            first.output == """
                grand-piano: 2 files, 4 bytes, new
                loops: 1 file, 4 bytes, new
                published `\(testBed.published)` with the counter 7

                """)
        try testBed.write("louder", to: "loops/beat.caf")
        #expect(
            try await testBed.publish("--counter", "8").output == """
                grand-piano: 2 files, 4 bytes, unchanged
                loops: 1 file, 6 bytes, new
                published `\(testBed.published)` with the counter 8

                """)
    }

    @Test func `tenure content publish names each version that newer apps keep, and orders versions by their minimum`()
        async throws
    {
        let testBed = try await ContentTestBed()
        // The first content has the minimum 3.2.
        let steps: [(minimum: String?, kept: [String])] = [
            ("3.2", []), ("3.1", ["3.2"]), ("3.3", []), ("3.2", ["3.3"]), (nil, ["3.1", "3.2", "3.3"]),
        ]
        for (index, step) in steps.enumerated() {
            let minimum = step.minimum.map { ", minimumAppVersion: \"\($0)\"" } ?? ""
            try testBed.folder.write(
                "app: com.example.calculator\npacks: { piano: { entitlement: everything, files: piano\(minimum) } }",
                to: "content.yaml")
            let result = try await testBed.publish("--counter", "\(index + 1)")
            let lines = step.kept.map { "  apps from \($0) \(Self.otherVersion) \"\($0)\"`\n" }.joined()
            #expect(
                result.output == """
                    piano: 2 files, 4 bytes, \(index == 0 ? "new" : "unchanged")
                    \(lines)published `\(testBed.published)` with the counter \(index + 1)

                    """, "\(result.errors)")
        }
        let versions = try #require(try testBed.catalog().catalog["piano"]?.versions)
        #expect(versions.map { $0.minimumAppVersion?.description } == [nil, "3.1", "3.2", "3.3"])
    }

    @Test func `tenure content list shows the catalog as text and as JSON, and says whether its signature was checked`()
        async throws
    {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish("--counter", "7").status == 0)
        let catalog = try testBed.catalog()
        let piano = try #require(catalog.catalog["grand-piano"]?.versions.first)
        let loops = try #require(catalog.catalog["loops"]?.versions.first)
        let signatures: [([String], String)] = [
            ([], "signature not checked; pass --key to check it"), (["--key", testBed.key], "signature verified"),
        ]
        for (options, signature) in signatures {
            let listed = try await Command.run(["content", "list", testBed.published] + options)
            #expect(listed.status == 0 && listed.errors.isEmpty, "\(listed.errors)")
            let lines = [
                "com.example.calculator, counter 7, issued \(catalog.issuedAt.rfc3339), \(signature)",
                "grand-piano: entitlement everything",
                "  apps from 3.2: 4 bytes",
                "    manifest \(piano.manifest)  \(piano.manifestSize) bytes",
                "    archive  \(piano.archive)  3.1 kB",
                "loops: product com.example.calculator.yearly, purgeable",
                "  all apps: 4 bytes",
                "    manifest \(loops.manifest)  \(loops.manifestSize) bytes",
                "    archive  \(loops.archive)  2.0 kB",
            ]
            #expect(listed.output.split(separator: "\n").map(String.init) == lines)
            let json = try await Command.run(["content", "list", testBed.published, "--json"] + options).json()
            #expect(json["bundleID"] as? String == "com.example.calculator" && json["counter"] as? Int == 7)
            #expect(json["issuedAt"] as? String == catalog.issuedAt.rfc3339)
            #expect(json["verified"] as? Bool == !options.isEmpty)
            let packs = try #require(json["packs"] as? [[String: Any]])
            #expect(packs.map { $0["name"] as? String } == ["grand-piano", "loops"])
            #expect(packs.map { $0["entitlement"] as? String } == ["everything", nil])
            #expect(packs.map { $0["product"] as? String } == [nil, "com.example.calculator.yearly"])
            #expect(packs.map { $0["purgeable"] as? Bool } == [false, true])
            for (pack, version) in zip(packs, [piano, loops]) {
                let shown = try #require((pack["versions"] as? [[String: Any]])?.first)
                #expect(shown["minimumAppVersion"] as? String == version.minimumAppVersion?.description)
                #expect(shown["manifest"] as? String == version.manifest.description)
                #expect(shown["manifestSize"] as? Int == version.manifestSize)
                #expect(shown["archive"] as? String == version.archive.description)
                #expect(shown["archiveSize"] as? Int == Int(version.archiveSize))
                #expect(shown["installedSize"] as? Int == 4)
            }
        }
    }

    @Test func `tenure content list exits with 2 only for a signature by another key, otherwise with 1`() async throws {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish().status == 0)
        let catalog = testBed.published + "/catalog.jws"
        let other = testBed.folder.url("other.pem").path
        try #require(try await Command.run("policy", "signing-key", other).status == 0)
        let list = ["content", "list", testBed.published, "--key", other]
        let foreign = try await Command.run(list)
        #expect(foreign.status == 2 && foreign.output.isEmpty)
        #expect(
            foreign.errors
                == "error: none of these keys signed `\(catalog)`; pass the key that signs its catalog with --key\n")
        let second = try await Command.run(list + ["--key", testBed.key])
        #expect(second.status == 0, "one of several keys is enough: \(second.errors)")
        try testBed.folder.write("nonsense", to: "published/catalog.jws")
        for command in [list, ["content", "list", testBed.published]] {
            let damaged = try await Command.run(command)
            #expect(damaged.status == 1 && damaged.output.isEmpty && damaged.errors.hasPrefix("error: "))
        }
        let none = testBed.folder.url("loops").path
        let unpublished = try await Command.run("content", "list", none)
        #expect(
            unpublished.errors
                == "error: `\(none)` has no `catalog.jws`; publish to it with `tenure content publish`\n")
        #expect(unpublished.status == 1)
    }

    @Test func `tenure content publish refuses a folder with the catalog of another app, and names both apps`()
        async throws
    {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish().status == 0)
        let path = testBed.published + "/catalog.jws"
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let content = ContentTestBed.content.replacing("app: com.example.calculator", with: "app: com.example.notes")
        try testBed.folder.write(content, to: "content.yaml")
        let refused = try await testBed.publish()
        #expect(refused.status == 1 && refused.output.isEmpty)
        let found = "the content catalog is for the app `com.example.calculator`"
        let fix = "but this app is `com.example.notes`; publish each app's content to its own folder"
        let message = "the existing catalog `\(path)` can't be used (\(found), \(fix)); "
        #expect(refused.errors.contains(message), "\(refused.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func `tenure content embed prints each pack with its size, and the file that it wrote`() async throws {
        let testBed = try await ContentTestBed()
        let out = testBed.folder.url("embedded").path
        let result = try await testBed.run("embed", "--to", out)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(
            result.output == """
                grand-piano: 2 files, 4 bytes
                loops: 1 file, 4 bytes
                wrote `\(out)/content.json`

                """)
    }

    @Test func `sizes are shown in decimal units, rounded to tenths`() async throws {
        let sizes: [(Int64, String)] = [
            (0, "0 bytes"), (1, "1 byte"), (2, "2 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (1049, "1.0 kB"),
            (1050, "1.1 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"), (999_949_999, "999.9 MB"),
            (999_950_000, "1.0 GB"),
        ]
        let packs = sizes.indices.map { "  pack-\($0): { entitlement: a, files: pack-\($0) }\n" }.joined()
        let testBed = try await ContentTestBed("app: x.y\npacks:\n" + packs)
        for (index, size) in sizes.enumerated() { try testBed.writeSparse(size.0, to: "pack-\(index)/file") }
        let result = try await testBed.run("check")
        let lines = sizes.enumerated().map { "pack-\($0.offset): 1 file, \($0.element.1)\n" }.joined()
        #expect(result.output == "\(lines)\(testBed.folder.url("content.yaml").path): no mistakes\n")
        #expect(result.status == 0 && result.errors.isEmpty)
    }

    @Test func `tenure content check says what is wrong with each field, and what to write`() async throws {
        let cases = [
            (
                "packs: {a: {entitlement: b, files: loops}}",
                "error: `app` is missing; write `app: com.example.calculator`, or name the policy with `--policy`"
            ),
            (
                "app: ''\npacks: {a: {entitlement: b, files: loops}}",
                "1:6: error: `app` is empty; write the app's bundle ID"
            ),
            (
                "app: x\npacks: {a: {entitlement: b, files: ./}}",
                "2:36: error: `./` is the folder of this file; put the files of each pack into a separate folder"
            ),
            (
                "app: x\npacks: {a: {entitlement: '', files: loops}}",
                "2:26: error: `entitlement` is empty; write its name, such as `piano`"
            ),
            (
                "app: x\npacks: {a: {product: '', files: loops}}",
                "2:22: error: `product` is empty; write its name, such as `com.example.loops`"
            ),
            (
                "app: x\npacks: {a: {files: loops}}",
                "`entitlement` or `product` is missing; write what unlocks the pack, such as `entitlement: piano`"
            ),
            (
                "app: x\npacks: {a: {entitlement: b, files: content.yaml}}",
                "2:36: error: `content.yaml`: isn't a folder; name the folder with the files of the pack"
            ),
            (
                "app: x\npacks: {a: {entitlement: b, files: none}}",
                "2:36: error: `none`: can't be read (no such file or directory)"
            ),
        ]
        for (text, message) in cases {
            let testBed = try await ContentTestBed(text)
            let result = try await testBed.run("check")
            #expect(result.status == 2 && result.output.contains("\(message)\n"), "\(result.output)")
            let file = testBed.folder.url("content.yaml").path
            #expect(result.output.hasSuffix("\n\(file): 1 mistake\n"), "\(result.output)")
        }
    }

    @Test func `a publication continues the counters of a damaged catalog, and removes unpublished catalogs`()
        async throws
    {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish("--counter", "99999999998").status == 0)
        // A killed publication wrote this catalog, and didn't publish it.
        let catalogs = testBed.published + "/catalogs"
        try FileManager.default.copyItem(
            atPath: testBed.published + "/catalog.jws", toPath: catalogs + "/100000000000.jws")
        #expect(try await testBed.publish("--counter", "99999999999").status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: catalogs).filter { $0.hasSuffix(".jws") }
        #expect(names.sorted() == ["99999999998.jws", "99999999999.jws"])
        try testBed.folder.write("nonsense", to: "published/catalog.jws")
        let refused = try await testBed.publish()
        #expect(
            refused.status == 1 && refused.errors.contains("or replace the catalog with `--replace`"),
            "\(refused.errors)")
        #expect(try await testBed.publish("--replace").status == 0)
        #expect(try testBed.catalog().counter == 100_000_000_000)
    }
}
