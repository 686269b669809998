import Foundation
import TenureAppStore
import TenureJSON
import TenureMint
import Testing

@Suite struct AppStoreArtifactTests {
    @Test(arguments: [("", "\n"), (" \t", "\r\n"), ("\n\n", " ")])
    func `blanks before and after the text of an artifact are ignored`(_ before: String, _ after: String) throws {
        let jws = try Minted.minter.mint(.transaction)
        let artifact = try AppStoreArtifact(recognizing: Array(before.utf8) + jws + Array(after.utf8))
        #expect(try Minted.verifier().verify(artifact, now: Minted.instant) != nil)
        let body = Array("{\"signedPayload\":\"".utf8) + (try Minted.minter.mint(.notification)) + Array("\"}".utf8)
        let notification = try AppStoreArtifact(recognizing: Array(before.utf8) + body + Array(after.utf8))
        #expect(try Minted.verifier().verify(notification, now: Minted.instant) != nil)
    }

    @Test func `a notification's body that can't be read is rejected with the error in its JSON`() {
        for (body, reason) in [
            (#"{"signedPayload":"a","signedPayload":"b"}"#, "`signedPayload` is repeated in one object"),
            (#"{"signedPayload":"a.b.c"#, "a string isn't closed; write `\"` where it ends"),
        ] {
            let found = #expect(throws: Rejection.self) { try AppStoreArtifact(recognizing: Array(body.utf8)) }
            #expect(found?.code == .malformed)
            let detail = found?.detail ?? ""
            #expect(detail.hasPrefix("the body of the notification can't be read: invalid JSON at byte "), "\(detail)")
            #expect(detail.hasSuffix(": " + reason), "\(detail)")
        }
    }

    @Test(arguments: [
        ("", "the file is empty"), (" \n", "the file is empty"),
        (
            #"{"signed":1}"#,
            "this JSON is neither a notification (`signedPayload`) nor a response of verifyReceipt (`status`, `receipt`)"
        ),
        ("hello", neither), ("a.b", neither), ("a b.c.d", neither), ("eyJ9.e30", neither),
    ])
    func `the text for a file that isn't an artifact says what it lacks`(text: String, detail: String) {
        let found = rejection { try AppStoreArtifact(recognizing: Array(text.utf8)) }
        #expect(found?.code == .malformed)
        #expect(found?.detail == detail)
    }

    private static let neither =
        """
        the file is neither a JWS, which has three parts separated by periods, nor a receipt in binary form or Base64; \
        pass what the App Store signed, unchanged
        """

    @Test func `a file above 16 MiB is too large for an artifact`() {
        let found = rejection { try AppStoreArtifact(recognizing: [UInt8](repeating: 0x20, count: 16_777_217)) }
        #expect(found?.code == .tooLarge)
        #expect(
            found?.detail == "the file has 16777217 bytes; an artifact of the App Store has at most 16777216")
    }

    @Test func `each kind of artifact has a name, and only a signed artifact of a known kind is verified`() throws {
        let verifier = try Minted.verifier()
        let names: [(JWSKind, String)] = [
            (.appTransaction, "appTransaction"), (.transaction, "transaction"), (.renewalInfo, "renewalInfo"),
            (.notification, "notification"),
        ]
        for (kind, name) in names {
            #expect(try AppStoreArtifact(recognizing: Minted.minter.mint(kind)).kindName == name)
        }
        #expect(try AppStoreArtifact(recognizing: ReceiptTestBed.minter().mint()).kindName == "receipt")
        let response = try AppStoreArtifact(recognizing: Array(#"{"status":0,"receipt":{}}"#.utf8))
        #expect(response.kindName == "verifyReceipt")
        #expect(try verifier.verify(response, now: Minted.instant) == nil)
        let unknown = try AppStoreArtifact(
            recognizing: Minted.minter.mint(payload: ["bundleId": .string("com.example.calculator")]))
        #expect(unknown.kindName == nil)
        let found = rejection { try verifier.verify(unknown, now: Minted.instant) }
        #expect(found?.code == .wrongKind)
        #expect(
            found?.detail == """
                the artifact's fields aren't those of an app transaction, a transaction, renewal info or a notification
                """)
    }

    @Test func `a long text that begins like an artifact is probably one, although it was passed as a path`() {
        for (prefix, length, isProbable) in [
            ("ey", 201, true), ("MI", 201, true), ("ey", 200, false), ("MI", 200, false), ("/ey", 201, false),
            ("Mi", 201, false),
        ] {
            let text = prefix + String(repeating: "A", count: length - prefix.count)
            #expect(AppStoreArtifact.isProbable(inPlaceOfPath: text) == isProbable, "\(prefix) \(length)")
        }
    }
}
