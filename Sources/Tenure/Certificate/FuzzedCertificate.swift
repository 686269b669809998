package import Foundation

/// What an app makes of a text that somebody hands it as a certificate, for the package under `Fuzz/` only.
package enum FuzzedCertificate {
    /// Whether it counts for whoever holds the device.
    package static func counts(_ text: String, keys: [Tenure.ServiceKey], at now: Date) -> Bool {
        let reader = CertificateReader(keys: KeyRing(keys), isRehearsal: true)
        return (try? reader.read(text, for: CertificateReader.Holder(), at: now)) != nil
    }
}
