import TenureAppStore

extension ServiceConfiguration {
    /// Checks what the App Store signs, by the anchors that are accepted here.
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
