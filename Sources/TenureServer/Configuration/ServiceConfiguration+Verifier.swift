import TenureAppStore

extension ServiceConfiguration {
    /// Returns a verifier of App Store artifacts with the configured trust anchors.
    func verifier() throws(ServiceError) -> AppStoreVerifier {
        let trust: TrustConfiguration
        do {
            trust = try TrustConfiguration(anchors: anchors)
        } catch {
            throw .noEnvironment
        }
        return AppStoreVerifier(app: app, trust: trust)
    }
}
