import TenureJSON

/// The header of a JWS: the algorithm, and the signer's certificates.
struct JWSHeader {
    /// The `alg` of the header; nil if it is missing.
    let algorithm: String?
    /// Whether the header has a `crit` field, which demands extensions (RFC 7515, section 4.1.11).
    let namesCriticalExtensions: Bool
    /// The certificates in standard Base64 of DER, the signer's first; nil if they are missing.
    let x5c: [String]?

    init(_ tape: JSONTape) throws(Rejection) {
        let read = FieldReader(tape: tape, index: tape.root)
        do {
            algorithm = try read("alg")
            x5c = try read("x5c")
        } catch {
            throw error.inside("header")
        }
        namesCriticalExtensions = tape.value(named: "crit", inObjectAt: tape.root) != nil
    }

    /// Throws `unsupportedAlgorithm` if the algorithm isn't `ES256`, which the App Store uses, or if the header demands
    /// extensions.
    func checkAlgorithm() throws(Rejection) {
        guard algorithm == "ES256" else {
            throw Rejection(
                .unsupportedAlgorithm,
                algorithm.map { "the App Store signs with `ES256`, and not with `\($0.prefix(64))`" }
                    ?? "the header has no `alg`, and the App Store signs with `ES256`")
        }
        guard !namesCriticalExtensions else {
            throw Rejection(
                .unsupportedAlgorithm, "the header demands extensions (`crit`) that the App Store never uses")
        }
    }

    /// Verifies the header's certificate chain, and returns it. Xcode sends one certificate; the App Store sends three.
    func chain(in cache: ChainCache) throws(Rejection) -> TrustedChain {
        guard let x5c else { throw Rejection(.untrustedChain, "the header has no certificates (`x5c`)") }
        switch x5c.count {
        case 1: return try cache.localChain(certificate: certificate(x5c[0], at: 0), purpose: .jws)
        case 3:
            let leaf = try certificate(x5c[0], at: 0)
            let intermediate = try certificate(x5c[1], at: 1)
            // The third certificate must be valid Base64, but isn't used: the chain must lead to a configured root.
            _ = try certificate(x5c[2], at: 2)
            return try cache.chain(leaf: leaf, intermediate: intermediate, purpose: .jws)
        default: throw Rejection(.untrustedChain, "the header has \(x5c.count) certificates (`x5c`) instead of 3")
        }
    }

    /// Returns the DER bytes of one entry of `x5c`.
    func certificate(_ entry: String, at index: Int) throws(Rejection) -> [UInt8] {
        guard !entry.isEmpty, let der = Base64.standard.decode(Array(entry.utf8)[...])
        else { throw Rejection(.malformed, "certificate \(index + 1) of the header (`x5c`) isn't canonical Base64") }
        return der
    }
}
