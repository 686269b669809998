import CommandRunner
import Foundation
import TenureContent
import Testing

/// Packs at each limit, and above it. The tests use sparse files, which have a size but use no disk space.
@Suite(.timeLimit(.minutes(5))) struct `the limits of tenure content` {
    private static let piano = "app: x.y\npacks: { piano: { entitlement: a, files: piano } }"

    @Test func `tenure content publish accepts a hundred packs, and no more`() async throws {
        func text(_ count: Int) -> String {
            "app: x.y\npacks:\n"
                + (0..<count).map { "  pack-\($0): { entitlement: a, files: piano }\n" }.joined()
        }
        let testBed = try await ContentTestBed(text(101))
        let refused = try await testBed.publish()
        #expect(refused.status == 2 && refused.errors.contains("100"), "\(refused.errors)")
        try testBed.folder.write(text(100), to: "content.yaml")
        let result = try await testBed.publish()
        #expect(result.status == 0, "\(result.errors)")
        let catalog = try SignedCatalog.verify(
            Data(contentsOf: testBed.folder.url("published/catalog.jws")), keys: [testBed.pin], bundleID: "x.y")
        #expect(catalog.catalog.packs.count == 100)
        // All packs have the same files.
        #expect(try testBed.names().count { ContentDigest($0) != nil } == 2)
    }

    @Test func `tenure content publish accepts ten thousand files in a pack, and no more`() async throws {
        let testBed = try await ContentTestBed(Self.piano)
        try FileManager.default.removeItem(at: testBed.folder.url("piano"))
        for number in 0..<10_000 { try testBed.write("\(number % 7)", to: "piano/\(number / 1000)/\(number).txt") }
        let result = try await testBed.publish()
        #expect(result.status == 0 && result.output.contains("10000 files"), "\(result.errors)\(result.output)")
        try testBed.write("", to: "piano/one-more")
        let refused = try await testBed.run("check")
        #expect(refused.status == 2 && refused.output.contains("more than 10000 files"), "\(refused.output)")
    }

    @Test func `tenure content publish accepts files below 8 GiB, and packs up to 64 GB`() async throws {
        let testBed = try await ContentTestBed(Self.piano)
        try testBed.writeSparse(8 << 30, to: "piano/large")
        let large = try await testBed.run("check")
        #expect(large.status == 2 && large.output.contains("smaller than 8 GiB"), "\(large.output)")
        try testBed.writeSparse((8 << 30) - 1, to: "piano/large")
        #expect(try await testBed.run("check").status == 0)
        for number in 0..<6 { try testBed.writeSparse((8 << 30) - 1, to: "piano/large-\(number)") }
        // 64 GB with the two files of two bytes that are there already.
        let rest = 64_000_000_000 - 7 * ((8 << 30) - 1) - 4
        try testBed.writeSparse(Int64(rest), to: "piano/rest")
        let full = try await testBed.run("check")
        #expect(full.status == 0 && full.output.contains("10 files, 64.0 GB"), "\(full.output)")
        try testBed.writeSparse(Int64(rest + 1), to: "piano/rest")
        let more = try await testBed.run("check")
        #expect(more.status == 2 && more.output.contains("64000000001 bytes"), "\(more.output)")
    }

    @Test func `tenure content publish accepts the longest path that tar allows, and check rejects longer ones`()
        async throws
    {
        let folder = Array(repeating: String(repeating: "f", count: 30), count: 5).joined(separator: "/")
        let name = String(repeating: "n", count: 100)
        let testBed = try await ContentTestBed(Self.piano)
        try testBed.write("deep", to: "piano/\(folder)/\(name)")
        try testBed.write("name", to: "piano/\(name)")
        let result = try await testBed.publish()
        #expect(result.status == 0, "\(result.errors)")
        let catalog = try SignedCatalog.verify(
            Data(contentsOf: testBed.folder.url("published/catalog.jws")), keys: [testBed.pin], bundleID: "x.y")
        let archive = try #require(catalog.catalog.packs.first?.versions.first?.archive)
        let unpacked = testBed.folder.url("unpacked").path
        try FileManager.default.createDirectory(atPath: unpacked, withIntermediateDirectories: true)
        #expect(
            try Tool.run("/usr/bin/env", ["tar", "-xf", "\(testBed.published)/\(archive)", "-C", unpacked]).status == 0)
        #expect(try testBed.folder.text("unpacked/\(folder)/\(name)") == "deep")
        #expect(try testBed.folder.text("unpacked/\(name)") == "name")
        try testBed.write("", to: "piano/\(folder)/ff/\(name)")
        try testBed.write("", to: "piano/\(name)n")
        let refused = try await testBed.run("check")
        #expect(refused.status == 2 && refused.output.contains("2 mistakes"), "\(refused.output)")
        #expect(refused.output.contains("is too long: the name may have 100 bytes"))
    }

    /// Runs in a separate namespace, where the test may mount a small disk in memory.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare"), "needs Linux's `unshare`"))
    func `tenure content publish on a full disk keeps the earlier catalog, and the next run succeeds`() async throws {
        let testBed = try await ContentTestBed(Self.piano)
        try FileManager.default.createDirectory(atPath: testBed.published, withIntermediateDirectories: true)
        let large = Data((0..<12_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try testBed.folder.write(
            """
            publish() {
                "$1" content publish content.yaml --key policy-key.pem --to published --counter "$2" >out-"$2" 2>&1
                echo "publish $2: $?"
            }
            mount -t tmpfs -o size=8m tmpfs published || exit 9
            publish "$1" 1
            cp published/catalog.jws before.jws
            cp large piano/large
            publish "$1" 2
            cmp before.jws published/catalog.jws && echo "catalog unchanged"
            ls -A published | grep -c unfinished
            cat out-2
            rm piano/large
            echo changed >piano/samples/c4.wav
            publish "$1" 3
            cmp -s before.jws published/catalog.jws || echo "catalog new"
            embed() { "$1" content embed content.yaml --to published/embedded >out-embed 2>&1; echo "embed: $?"; }
            embed "$1"
            cp large piano/large
            embed "$1"
            cat out-embed
            cat published/embedded/piano/samples/c4.wav
            ls -A published | grep -c unfinished
            """, to: "fill.sh")
        try testBed.write(large, to: "large")
        let result = try Tool.run(
            "/usr/bin/unshare",
            ["-Urm", "sh", "-c", "cd \"$0\" && sh fill.sh \"$1\"", testBed.folder.path, Command.executable.path])
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines.filter { !$0.contains("disk is full") } == [
                "publish 1: 0", "publish 2: 1", "catalog unchanged", "0", "publish 3: 0", "catalog new", "embed: 0",
                "embed: 1", "changed", "0",
            ], "\(result.output)\(result.errors)")
        #expect(lines.count { $0.contains("the disk is full") } == 2, "\(result.output)")
    }
}
