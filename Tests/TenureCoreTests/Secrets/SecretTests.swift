import Foundation
import TenureJSON
import Testing

@testable import TenureCore

@Suite struct `a secret` {
    /// A value with secrets in several properties, as a library might log it.
    private struct Holder: Encodable, Error {
        let name = "holder"
        let key = Secret("canary-4711")
        let more = [Secret(Array("canary-4711".utf8))]
        let maybe: Secret<String>? = Secret("canary-4711")
    }

    private enum Failure: Error {
        case failed(Holder)
    }

    @Test func `no text, dump, mirror, error or encoding shows the content of a Secret`() throws {
        let holder = Holder()
        var dumped = ""
        dump(holder, to: &dumped)
        dump(Failure.failed(holder), to: &dumped)
        dump(holder.key, to: &dumped)
        var printed = ""
        print(holder, [holder.key], Failure.failed(holder), to: &printed)
        debugPrint(holder, holder.more, to: &printed)
        let encoded = String(decoding: try JSONEncoder().encode(holder), as: UTF8.self)
        let shown = [
            dumped, printed, encoded, "\(holder)", "\(holder.key)", String(reflecting: holder.key),
            String(describing: holder.more), "\(Failure.failed(holder))", "\(Mirror(reflecting: holder).children)",
            (Failure.failed(holder) as any Error).localizedDescription,
        ]
        for text in shown {
            #expect(!text.contains("canary"), "\(text)")
            #expect(!text.contains("99, 97, 110"), "\(text)")
        }
        #expect(Mirror(reflecting: holder.key).children.isEmpty)
        #expect(encoded.contains(#""key":"<redacted>""#) && encoded.contains(#""more":["<redacted>"]"#), "\(encoded)")
        #expect("\(holder)".contains("<redacted>") && holder.key.revealed == "canary-4711")
    }

    @Test(arguments: [
        ("no secret", "no secret"), ("postgres://host/name", "postgres://host/name"),
        ("at `postgres://ada:pa@ss@host/name`, see", "at `postgres://<redacted>@host/name`, see"),
        ("https://ada@host https://b:c@d", "https://<redacted>@host https://<redacted>@d"),
        ("there is no file `ada:pa/ss@127.0.0.1/db`; see", "there is no file `<redacted>@127.0.0.1/db`; see"),
        ("postgres:/ada:pass@host/db", "<redacted>@host/db"), ("postgres//ada:p@ss@host", "<redacted>@host"),
        (#"eras: "postgres://ada:pa ss@host/db""#, #"eras: "postgres://<redacted>@host/db""#),
        ("https://host:8080 of ada@example.com", "https://host:8080 of ada@example.com"),
        ("mail: ada@example.com, ben@example.com", "mail: ada@example.com, ben@example.com"),
        ("postgres://host/name?password=x&a=b", "postgres://host/name?password=<redacted>&a=b"),
        ("no file `tenure_key_AbC-_9`", "no file `tenure_key_<redacted>`"),
        ("found `whsec_Ab+c/9==`", "found `whsec_<redacted>`"),
        ("at `user=ada password=x/y host=db`", "at `user=ada password=<redacted> host=db`"),
        ("there is no option `password=x`; see", "there is no option `password=<redacted>`; see"),
        ("host=db password='two words' user=ada", "host=db password=<redacted> user=ada"),
        (#"password='it\'s \\' port=1"#, "password=<redacted> port=1"),
        ("password='never closed", "password=<redacted>"),
        ("postgresql://db/shop?password='ab'cd&a=b", "postgresql://db/shop?password=<redacted>&a=b"),
        ("host=db password=se&cret user=ada", "host=db password=<redacted> user=ada"),
        ("host=db password=ab/cd+ef== user=ada", "host=db password=<redacted> user=ada"),
        (#"password=two\ words port=1"#, "password=<redacted> port=1"),
        (#"sslpassword="two words" port=1"#, "sslpassword=<redacted> port=1"),
        ("host=db password = x user=ada", "host=db password = <redacted> user=ada"),
        ("PASSWORD=x PGPASSWORD=y\nrest", "PASSWORD=<redacted> PGPASSWORD=<redacted>\nrest"),
        ("`password=` is missing", "`password=` is missing"),
        ("passwords = 2, password: x", "passwords = 2, password: x"),
        ("TENURE_KEY_FILE=x", "TENURE_KEY_FILE=x"),
        (
            "-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----\nrest",
            "-----BEGIN <redacted>-----END PRIVATE KEY-----\nrest"
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIG", "-----BEGIN <redacted>"),
    ])
    func `secrets are redacted where they are recognized in a string that an operator wrote`(
        text: String, shown: String
    ) {
        #expect(text.hidingCredentials == shown)
        #expect(shown.hidingCredentials == shown)
    }

    @Test func `control characters that alter how text is shown are replaced by visible escapes`() {
        let text = "a\u{202E}b\u{1B}[31m\u{9B}c\nd\u{2066}\u{200F}\u{61C}\u{2028}\u{7F}é👩‍💻"
        let escaped = "a\\u{202E}b\\u{1B}[31m\\u{9B}c\\u{A}d\\u{2066}\\u{200F}\\u{61C}\\u{2028}\\u{7F}é👩‍💻"
        #expect(text.escapedForDisplay == escaped)
        #expect("a\r\nb\nc".escapedLinesForDisplay == "a\\u{D}\nb\nc")
        let json = #"{"a":"x\#u{202E}\#u{9B}é"}"#
        #expect(json.escapedJSONForDisplay == #"{"a":"x\u202e\u009bé"}"#)
    }

    @Test func `invisible characters are replaced by visible escapes, except joiners within emoji and scripts`() throws
    {
        let invisible: [ClosedRange<UInt32>] = [
            0xAD...0xAD, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFEFF...0xFEFF, 0xE0000...0xE007F,
        ]
        for scalar in invisible.joined().compactMap(Unicode.Scalar.init) {
            let escape = "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            #expect("a\(scalar)b".escapedForDisplay == "a\(escape)b")
            #expect("\(scalar)".escapedForDisplay == escape)
            #expect("\u{6CC}\(scalar)".escapedForDisplay == "\u{6CC}\(escape)")
            // The value of JSON text stays the same.
            let json = "[\"a\(scalar)b\"]"
            let shown = Array(json.escapedJSONForDisplay.utf8)
            #expect(!shown.contains { $0 >= 0x80 }, "\(escape)")
            let value = try JSONValue(parsing: shown)
            #expect(value == .array([.string("a\(scalar)b")]))
        }
        for text in ["👩‍💻", "❤️‍🔥", "می\u{200C}خواهم", "क्\u{200D}ष"] { #expect(text.escapedForDisplay == text) }
    }
}
