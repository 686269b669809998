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
}
