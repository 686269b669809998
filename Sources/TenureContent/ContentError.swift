/// Why a manifest, a catalog or an embedded folder is rejected.
package enum ContentError: Error, Sendable, Hashable {
    case invalidManifest(String)
    case invalidCatalog(String)
    case invalidEmbeddedContent(String)
    /// None of the app's keys made the signature.
    case wrongSignature
    case wrongApp(found: String, wanted: String)
    /// The catalog is older than the known catalog.
    case older(counter: Int64, known: Int64)
    /// Another catalog has the same counter.
    case sameCounter(Int64)
}

extension ContentError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalidManifest(let reason):
            "the manifest of an asset pack is invalid: \(reason); publish the pack again with `tenure content publish`"
        case .invalidCatalog(let reason):
            "the content catalog is invalid: \(reason); publish it again with `tenure content publish`"
        case .invalidEmbeddedContent(let reason):
            "`content.json` is invalid: \(reason); write it again with `tenure content embed`"
        case .wrongSignature:
            "none of the pinned keys signed the content catalog; sign it with the key that the app pins"
        case .wrongApp(let found, let wanted):
            "the content catalog is for the app `\(found)`, but this app is `\(wanted)`; publish each app's content to its own folder"
        case .older(let counter, let known):
            "the content catalog has the counter \(counter), which is lower than the known counter \(known); publish again with a higher counter"
        case .sameCounter(let counter):
            "another content catalog already has the counter \(counter); publish again with a higher counter"
        }
    }
}
