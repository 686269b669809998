import CommandRunner
import Foundation
import Testing

/// How `tenure inspect` and `tenure decide` read a file with one JWS per line.
@Suite struct `files with one JWS per line` {
    private let testBed: TestBed
    private let jws: String
    /// A JWS without its end.
    private let cutOff: String

    init() async throws {
        testBed = try await TestBed()
        let file = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01")
        jws = try Self.text(of: file)
        cutOff = String(jws.prefix(100))
    }

    private static func text(of file: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self).filter { !$0.isWhitespace }
    }

    private func inspect(_ arguments: String...) async throws -> Command.Result {
        try await Command.run(["inspect", "--trust", testBed.authority] + arguments)
    }

    @Test func `an unreadable line doesn't hide other lines, and each line keeps its number`() async throws {
        let rejected = try Self.text(
            of: try await testBed.mint("app-transaction", options: ["--defect", "flippedSignatureBit"]))
        let file = try testBed.folder.write(
            "\(jws)\r\n\n  \(cutOff)\n \t\r\n \(rejected) \n", to: "mixed.jws")
        let text = try await inspect(file)
        #expect(text.status == 1)
        #expect(text.output.hasPrefix("\(file):1:\napp transaction\nverified: "), "\(text.output)")
        #expect(text.output.contains("\n\n\(file):5:\napp transaction\nrejected: "), "\(text.output)")
        #expect(text.errors.hasPrefix("error: `\(file):3` can't be read: "), "\(text.errors)")
        #expect(text.errors.split(separator: "\n").count == 1, "\(text.errors)")

        let json = try await inspect("--json", file)
        #expect(json.status == 1 && json.errors == text.errors)
        let files = try json.output.split(separator: "\n").map { line in
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        }
        #expect(files.map { $0?["file"] as? String } == ["\(file):1", "\(file):5"])

        let decision = try await testBed.decide(file)
        #expect(decision.status == 0, "\(decision.errors)")
        let ignored = try #require(try decision.json()["rejected"] as? [[String: Any]])
        #expect(ignored.map { $0["file"] as? String } == ["\(file):3", "\(file):5"])
        #expect(ignored.map { $0["code"] as? String } == ["malformed", "badSignature"])
    }

    @Test func `a rejected line sets the exit code 2 of tenure inspect if each line can be read`() async throws {
        let rejected = try Self.text(
            of: try await testBed.mint("app-transaction", options: ["--defect", "flippedSignatureBit"]))
        let file = try testBed.folder.write("\(rejected)\n\(jws)\n", to: "rejected.jws")
        let result = try await inspect(file)
        #expect(result.status == 2 && result.errors.isEmpty, "\(result.errors)")
        #expect(result.output.contains("\n\n\(file):2:\napp transaction\nverified: "), "\(result.output)")
    }

    @Test func `a first line that is cut off is reported by its number`() async throws {
        let file = try testBed.folder.write("\(cutOff)\n\(jws)\n", to: "first.jws")
        let result = try await inspect(file)
        #expect(result.status == 1 && result.output.hasPrefix("\(file):2:\napp transaction\n"), "\(result.output)")
        #expect(result.errors.hasPrefix("error: `\(file):1` can't be read: "), "\(result.errors)")
    }

    @Test func `a single JWS has no number of a line, also among blank lines or wrapped`() async throws {
        let single = try testBed.folder.write("\n \(jws)\r\n\n", to: "single.jws")
        let json = try await inspect("--json", single)
        #expect(json.status == 0, "\(json.errors)")
        let object = try json.json()
        #expect(object["kind"] as? String == "appTransaction" && object["file"] == nil)
        let characters = jws.enumerated().flatMap { index, character -> [Character] in
            index % 76 == 75 ? ["\n", character] : [character]
        }
        let wrapped = try testBed.folder.write(String(characters), to: "wrapped.jws")
        let result = try await inspect(wrapped)
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.hasPrefix("error: `\(wrapped)` can't be read: "), "\(result.errors)")
    }
}
