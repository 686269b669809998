import CommandRunner
import Foundation
import TenurePolicyFile
import Testing

@testable import TenureCLI

/// The lines of a file that commands show below a mistake, and the file's name in SARIF.
@Suite struct `excerpts of files` {
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// The excerpt at a position of a file with this text.
    private func excerpt(_ text: String, _ line: Int, _ column: Int) throws -> [String] {
        let path = try folder.write(text, to: "file")
        var excerpts = SourceExcerpts()
        return excerpts.lines(of: path, at: SourcePosition(file: path, line: line, column: column))
    }

    private static func mark(after blanks: Int) -> String { "    | " + String(repeating: " ", count: blanks) + "^" }

    @Test func `an excerpt shows the line and marks the column, at most 120 characters around it`() throws {
        let digits = String(repeating: "0123456789", count: 20)
        func part(_ range: Range<Int>) -> String { String(Array(digits)[range]) }
        let cases: [(Int, Int, String, Int)] = [
            (120, 1, part(0..<120), 0), (120, 120, part(0..<120), 119), (121, 1, "\(part(0..<120))…", 0),
            (121, 121, "…\(part(1..<121))", 120), (200, 60, "\(part(0..<120))…", 59),
            (200, 61, "\(part(0..<120))…", 60), (200, 62, "…\(part(1..<121))…", 61),
            (200, 100, "…\(part(39..<159))…", 61), (200, 140, "…\(part(79..<199))…", 61),
            (200, 141, "…\(part(80..<200))", 61), (200, 200, "…\(part(80..<200))", 120),
            // A position after the end of the line, such as of a missing value.
            (5, 9, part(0..<5), 5),
        ]
        for (length, column, shown, blanks) in cases {
            let lines = try excerpt(String(digits.prefix(length)), 1, column)
            #expect(lines == ["  1 | \(shown)", Self.mark(after: blanks)], "\(length) characters, column \(column)")
        }
    }

    @Test func `an excerpt finds its line, whatever ends lines, and shows hidden characters as escapes`() throws {
        let text = "\u{FEFF}one\r\n\ttwo\r\n\u{1B}[2Jthree\r\n" + String(repeating: "\n", count: 6) + "ten"
        #expect(try excerpt(text, 1, 2) == ["  1 | one", Self.mark(after: 1)])
        #expect(try excerpt(text, 2, 2) == ["  2 |  two", Self.mark(after: 1)])
        let escaped = try excerpt(text, 3, 5)
        #expect(escaped.first?.hasSuffix("[2Jthree") == true && escaped.first?.contains("\u{1B}") == false)
        // The mark is below `t`, after the longer escape.
        let beforeMark = (escaped.first?.count ?? 0) - "three".count
        #expect(escaped.last?.count == beforeMark + 1)
        #expect(try excerpt(text, 10, 1) == ["  10 | ten", "     | ^"])
        for line in [0, 11] { #expect(try excerpt(text, line, 1).isEmpty) }
    }

    @Test func `an excerpt never shows a line with a credential, or the line after the credential's key`() throws {
        for key in ["password", "Secret", "\"accessToken\"", "client_secret "] {
            let text = "first\n\(key):\n  value\nlast"
            #expect(try excerpt(text, 1, 1).first == "  1 | first")
            for line in [2, 3] { #expect(try excerpt(text, line, 1).isEmpty, "\(key)") }
            #expect(try excerpt(text, 4, 1).first == "  4 | last")
        }
        // A private key hides every line of its file.
        let key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----"
        for line in 1...5 { #expect(try excerpt("first\n\(key)\nlast", line, 1).isEmpty) }
        #expect(try excerpt("url: postgres://ada:pa55@db/x", 1, 1).isEmpty)
        // JSON may escape the slashes.
        #expect(try excerpt(#"{"url": "postgres:\/\/ada:pa55@db\/x"}"#, 1, 1).isEmpty)
    }

    @Test func `SARIF names files by URIs`() {
        for (path, uri) in [
            ("policy.yaml", "policy.yaml"), ("./a b/policy.yaml", "a%20b/policy.yaml"), ("././x", "x"),
            ("../x", "../x"), ("/a/é#?%.yaml", "file:///a/%C3%A9%23%3F%25.yaml"), ("a:b", "a%3Ab"),
            ("a-b_c~1", "a-b_c~1"),
        ] {
            #expect(PolicyCheckReport.uri(path) == uri)
        }
    }
}
