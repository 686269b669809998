import Foundation
import Testing

@testable import TenurePolicyFile

/// Files that an attacker made to use much time or memory. Each is refused quickly.
@Suite struct HostileFileTests {
    private func refusal(_ bytes: [UInt8], named name: String = "policy.yaml") -> String? {
        do throws(PolicyFileError) {
            _ = try PolicyFile.read(bytes, named: name)
            return nil
        } catch {
            return error.description
        }
    }

    private func refusal(_ text: String, named name: String = "policy.yaml") -> String? {
        refusal(Array(text.utf8), named: name)
    }

    @Test func `YAML aliases that expand to billions of items are refused before they expand`() {
        var bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
        for (name, before) in zip("bcdefghij", "abcdefghi") {
            bomb += "\(name): &\(name) [" + Array(repeating: "*\(before)", count: 9).joined(separator: ", ") + "]\n"
        }
        #expect(refusal(bomb)?.contains("anchors") == true)
        #expect(refusal(bomb + "? *j\n: 1\n")?.contains("anchors") == true)
        // An anchor behind a text that looks like a comment or a quoted text.
        #expect(refusal("a: \"x\n  # \" \nb: &b 1\n? *b\n: 2")?.contains("anchors") == true)
        #expect(refusal("{\"a\":&b 1, c: *b}")?.contains("anchors") == true)
        #expect(refusal("- !!str &b x\n- *b")?.contains("anchors") == true)
        #expect(refusal("{\"a # b\": &b 1}")?.contains("anchors") == true)
    }

    @Test func `a secret in a policy file isn't repeated in the error about it, even if it is cut off`() {
        let secret = "postgres://ada:canary" + String(repeating: "x", count: 80) + "@db.example.com"
        let error = refusal("buildNumbers: \(secret)\n")
        #expect(error?.contains("postgres://<redacted>@db.example.com") == true, "\(error ?? "")")
        #expect(error?.contains("canary") == false)
    }

    @Test(arguments: ["policy.yaml", "policy.json"])
    func `a password in a repeated key isn't shown in the error about the key`(name: String) throws {
        let error = try #require(refusal(#"{"app":{"password=canary":1,"password=canary":2}}"#, named: name))
        #expect(error.contains("`password=<redacted>`") && !error.contains("canary"))
    }

    @Test(arguments: [
        "[", "{", "- ", "? ", "{a: ", "[[]", "a: [", "\"", "|\n", "# ", "- - ", "&", "*", "!", "%", "---\n", "a\n",
        "a: b\n", ",", "'", ": ",
    ])
    func `a policy file that repeats a few characters is refused quickly`(_ piece: String) {
        let size = piece == "[" ? 1 << 20 : 1 << 17
        let text = String(repeating: piece, count: size / piece.utf8.count)
        let start = Date()
        #expect(refusal(text) != nil)
        #expect(refusal(text, named: "policy.json") != nil)
        #expect(Date().timeIntervalSince(start) < 60)
    }

    @Test func `a policy file that is nested too deeply is refused`() {
        #expect(
            refusal(String(repeating: "[", count: 70) + String(repeating: "]", count: 70))?.contains("nested deeper")
                == true)
        #expect(
            refusal(String(repeating: "[", count: 70) + String(repeating: "]", count: 70), named: "x.json")?
                .contains("nested deeper") == true)
    }

    @Test func `a policy file with deep nesting and many items is refused quickly`() {
        let start = Date()
        #expect(refusal(String(repeating: "[", count: 990) + String(repeating: "a,", count: 100_000)) != nil)
        #expect(Date().timeIntervalSince(start) < 60)
    }

    @Test func `a policy file of more than a mebibyte is refused before it is read`() {
        #expect(
            refusal([UInt8](repeating: 0x20, count: (1 << 20) + 1))
                == "policy.yaml:1:1: the file has 1048577 bytes, and may have at most 1048576; check that it is the right file, or leave out what it doesn't need"
        )
        #expect(refusal([UInt8](repeating: 0x20, count: 1 << 20))?.contains("the file has") == false)
    }

    @Test func `a release list may have 16 MiB, more than a policy`() throws {
        let list = "platform,build,releasedAt\niOS,37,2014-01-10\n" + String(repeating: "\n", count: 1 << 20)
        #expect(try ReleaseListFile.listed(Array(list.utf8), named: "list.csv").count == 1)
        let error = #expect(throws: PolicyFileError.self) {
            try ReleaseListFile.listed([UInt8](repeating: 0x20, count: (16 << 20) + 1), named: "list.csv")
        }
        #expect(
            error?.description
                == "list.csv:1:1: the file has 16777217 bytes, and may have at most 16777216; check that it is the right file, or leave out what it doesn't need"
        )
    }

    @Test func `a policy file with bytes that aren't UTF-8 is refused with their place`() {
        #expect(
            refusal([0x61, 0x3A, 0x0A, 0x62, 0xFF, 0x63])
                == "policy.yaml:2:2: these bytes aren't UTF-8; save the file as UTF-8")
        #expect(refusal([0xC0, 0x80]) == "policy.yaml:1:1: these bytes aren't UTF-8; save the file as UTF-8")
    }

    @Test func `a policy file with a thousand repeated keys is refused quickly`() {
        #expect(refusal(String(repeating: "a: 1\n", count: 1000))?.contains("is written twice") == true)
        #expect(refusal(String(repeating: "a: 1\n", count: 50_000))?.contains("is written twice") == true)
    }
}
