import Foundation
import TenureAppStore
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
}
