/// Why one of Tenure's content files is rejected: a pack's manifest, the content catalog of an app, or `content.json`
/// in an app's bundle.
package enum ContentError: Error, Sendable, Hashable {
    /// The manifest breaks a rule of `PackManifest`. The text says which, such as `it can't be read`.
    case invalidManifest(String)
    /// The catalog breaks a rule of `ContentCatalog`. The text says which.
    case invalidCatalog(String)
    /// `content.json` breaks a rule of `EmbeddedContent`. The text says which.
    case invalidEmbeddedContent(String)
    /// None of the public keys that the app pins belongs to the key that signed the catalog.
    case wrongSignature
    /// The catalog is for another app. Both values are bundle IDs.
    case wrongApp(found: String, wanted: String)
    /// The catalog's counter is lower than `known`, the counter of a catalog that was accepted before.
    case older(counter: Int64, known: Int64)
    /// A catalog with other contents and the same counter was accepted before.
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
