import Foundation
import TenureAppStore
import Testing

@Suite struct TrustAnchorsTests {
    @Test func `the built-in roots have the fingerprints that Apple publishes`() {
        #expect(
            TrustAnchors.apple.summaries.map(\.fingerprint) == [
                "B0B1730ECBC7FF4505142C49F1295E6EDA6BCAED7E2C68C5BE91B5A11001F024",
                "C2B9B042DD57830E7D117DAC55AC8AE19407D38E41D88F3215BC3A890444A050",
                "63343ABFB89A6A03EBB57E9B3F5FA7BE7C4F5C756F3017B3A8C488C3653E9179",
            ])
        #expect(
            TrustAnchors.apple.summaries.map(\.serialNumber)
                == ["2", "1E0E5B58367A3E0", "2DC5FC88D2C54B95"].map {
                    $0.count.isMultiple(of: 2) ? $0 : "0" + $0
                })
    }

    @Test func `trust anchors are read from DER and from PEM with several certificates`() throws {
        let roots = TrustAnchors.apple.certificates.map(\.der)
        let pem = roots.map {
            "# a comment\n-----BEGIN CERTIFICATE-----\r\n\(Data($0).base64EncodedString(options: .lineLength64Characters))\r\n-----END CERTIFICATE-----\n"
        }.joined()
        #expect(try TrustAnchors(Array(pem.utf8)).certificates.map(\.der) == roots)
        #expect(try TrustAnchors(roots[2]).certificates.map(\.der) == [roots[2]])
    }

    @Test func `the union of two sets of trust anchors has each certificate once`() throws {
        let first = try TrustAnchors(der: [TrustAnchors.apple.certificates[0].der])
        #expect(first.union(.apple).certificates.map(\.der) == TrustAnchors.apple.certificates.map(\.der))
    }

    @Test(arguments: [
        "", "hello", "-----BEGIN CERTIFICATE-----\nMIIE", "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----",
    ])
    func `a file of trust anchors without a readable certificate is a configuration error`(text: String) {
        #expect(rejection { try TrustAnchors(Array(text.utf8)) }?.code == .misconfigured)
    }

    @Test func `an empty list of trust anchors is a configuration error`() {
        #expect(rejection { try TrustAnchors(der: []) }?.code == .misconfigured)
        #expect(rejection { try TrustConfiguration(anchors: [:]) }?.code == .misconfigured)
    }
}
