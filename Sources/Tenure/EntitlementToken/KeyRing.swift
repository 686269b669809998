import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// The keys that this app believes: those it was built with, and those that one of them vouched for.
///
/// A service that gets a new key lets the old one sign it, and shows that beside what the new one signs. So an app with the
/// old key goes on, and a stranger's key is worth nothing, whoever answers at the service's address.
struct KeyRing: Sendable {
    private let pinned: [String: P256.Signing.PublicKey]

    /// The `typ` of a cross-signature, so that nothing else that a key ever signed passes for one.
    static let crossType = "tenure-key+jwt"
    /// More changes of keys than any app lives to see.
    private static let longestChain = 8

    init(_ keys: [Tenure.ServiceKey]) {
        pinned = Dictionary(keys.compactMap { key in key.verifier.map { (key.id, $0) } }) { first, _ in first }
    }

    /// Whether the text has that type and was signed by a key of this ring.
    func holds(_ text: SignedText, type: String) -> Bool {
        for (id, key) in pinned where text.isHeaded(type: type, by: id) { return text.isSigned(by: key) }
        guard let header = text.header, header.typ == type, let id = header.kid else { return false }
        if let key = pinned[id] { return text.isSigned(by: key) }
        guard let crosses = header.keys, crosses.count <= Self.longestChain else { return false }
        var known = pinned
        for cross in crosses {
            guard let cross = SignedText(cross), let header = cross.header, header.typ == Self.crossType,
                let signer = header.kid, let key = known[signer], cross.isSigned(by: key),
                let fields = try? JSONDecoder().decode(JSONWebKey.self, from: Data(cross.payload)),
                let next = try? Tenure.ServiceKey(fields), let verifier = next.verifier
            else { continue }
            known[next.id] = verifier
        }
        return known[id].map { text.isSigned(by: $0) } ?? false
    }
}
