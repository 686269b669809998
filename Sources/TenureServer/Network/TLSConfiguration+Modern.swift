import NIOSSL

extension TLSConfiguration {
    /// Allows TLS 1.3, and TLS 1.2 with cipher suites of ECDHE and AEAD only, so that a stolen key can't decrypt
    /// recorded traffic (RFC 9325, section 4.2). RFC 8996 deprecates TLS 1.1 and earlier versions.
    mutating func allowModernTLSOnly() {
        minimumTLSVersion = .tlsv12
        cipherSuiteValues = Self.modernSuites
    }

    /// The allowed cipher suites of TLS 1.2. Those of TLS 1.3 can't be chosen, and all of them have forward secrecy and
    /// AEAD.
    private static let modernSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]
}
