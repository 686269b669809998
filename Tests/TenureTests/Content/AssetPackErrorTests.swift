import Foundation
import Tenure
import Testing

@Suite struct `Errors of asset packs` {
    private static let errors: [(error: Tenure.AssetPackError, isRetryable: Bool)] = [
        (.unknownPack("organ"), false), (.notEntitled("organ"), false), (.needsAppUpdate("organ"), false),
        (.canceled("organ"), true), (.refused("organ"), true), (.corrupted("organ"), true),
        (.notInstalled("organ"), true), (.missingFile(path: "a.wav"), false), (.storage("the disk is read-only"), true),
    ]

    @Test func `each error of an asset pack has a sentence for the customer and advice`() {
        var sentences: Set<String> = []
        for (error, _) in Self.errors {
            let sentence = error.localizedDescription
            #expect(sentence.hasSuffix(".") && sentence.contains(" ") && !sentence.contains("Error"), "\(sentence)")
            #expect(error.recoverySuggestion?.hasSuffix(".") == true, "\(error)")
            sentences.insert(sentence)
        }
        #expect(sentences.count == Self.errors.count)
    }

    @Test func `an error of an asset pack is retryable unless the same call would fail again`() {
        for (error, isRetryable) in Self.errors { #expect(error.isRetryable == isRetryable, "\(error)") }
    }
}
