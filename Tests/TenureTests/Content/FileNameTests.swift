import Foundation
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(2))) struct `files of a pack` {
    /// A Mac's disk may spell the name with letters and marks apart. It is published in the composed form.
    @Test func `files of a pack are found by the composed or decomposed form of a name with umlauts`() async throws {
        let decomposed = "Kla\u{308}nge & To\u{308}ne/Flu\u{308}gel 1.wav"
        let testBed = try ContentTestBed([decomposed: Data("wing".utf8)])
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        for path in [decomposed, decomposed.precomposedStringWithCanonicalMapping] {
            let url = try await tenure.content["piano"].url(for: path)
            #expect(try Data(contentsOf: url) == Data("wing".utf8))
        }
    }
}
